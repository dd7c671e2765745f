package dev.pgnear.cli;

import java.util.concurrent.CountDownLatch;

/**
 * Orderly stop at SIGTERM or SIGINT: what was started is closed, and the process ends with 0 instead of the JVM's 128 + signal. If the process
 * ends because a verb failed, its exit code stands.
 */
final class StopHook {
    private static final CountDownLatch NEVER = new CountDownLatch(1);
    private static volatile boolean serving;

    private StopHook() {}

    /** Closes this when the process is told to end. */
    static void onStop(Runnable close) {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            close.run();
                            if (serving) {
                                Runtime.getRuntime().halt(0);
                            }
                        },
                        "stop"));
    }

    /** Serves until the process is told to end. */
    static void await() throws InterruptedException {
        serving = true;
        NEVER.await();
    }
}
