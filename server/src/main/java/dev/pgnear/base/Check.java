package dev.pgnear.base;

/** Assertions that stay on in production: a failure is a programmer's error, never a user's. */
public final class Check {
    private Check() {}

    /**
     * @throws IllegalStateException with {@code message} if the condition does not hold
     */
    public static void that(boolean condition, String message) {
        if (!condition) {
            throw new IllegalStateException(message);
        }
    }
}
