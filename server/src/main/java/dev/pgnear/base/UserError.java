package dev.pgnear.base;

import org.jspecify.annotations.Nullable;

/** An error that the user can mend: its message is one sentence that says what, why and what to do. Shown without a stack trace. */
public final class UserError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean usage;

    /** The command failed: exit code 1. */
    public UserError(String sentence) {
        this(sentence, null, false);
    }

    /** The command failed: exit code 1. */
    public UserError(String sentence, @Nullable Throwable cause) {
        this(sentence, cause, false);
    }

    private UserError(String sentence, @Nullable Throwable cause, boolean usage) {
        super(sentence, cause);
        this.usage = usage;
    }

    /** The command was called wrongly: exit code 2. */
    public static UserError usage(String sentence) {
        return new UserError(sentence, null, true);
    }

    /** 1 for a failure, 2 for wrong usage. */
    public int exitCode() {
        return usage ? 2 : 1;
    }
}
