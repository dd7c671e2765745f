package dev.pgnear.resp;

import dev.pgnear.base.Limits;

/** Whether one connection has shown a password. Only the user {@code default} exists. */
public final class Login {
    private final AccessTokens tokens;
    private boolean passed;
    private int failures;

    Login(AccessTokens tokens) {
        this.tokens = tokens;
        this.passed = !tokens.required();
    }

    /** Whether commands may run. */
    public boolean passed() {
        return passed;
    }

    /** Whether a password exists at all. */
    public boolean required() {
        return tokens.required();
    }

    /** Whether the password is right; without any password configured every one is, as for Redis's user without one. */
    public boolean attempt(String user, byte[] password) {
        boolean right = user.equals("default") && (!tokens.required() || tokens.accepts(password));
        if (right) {
            passed = true;
        } else {
            failures++;
        }
        return right;
    }

    /** Whether it has failed so often that the connection ends. */
    public boolean exhausted() {
        return failures >= Limits.AUTH_FAILURES;
    }

    void reset() {
        passed = !tokens.required();
    }
}
