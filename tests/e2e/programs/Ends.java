package e2e;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Allocates some large arrays, then one of 4 MiB with its header, and ends at once in the way that is asked for.
 *
 * <p>Arguments: exit, halt, daemon, throw, exhaust, wait, or child and a command to run before the end.
 */
public final class Ends {
    static Object sink;

    static void first() {
        for (int i = 0; i < 20; ++i) {
            sink = new byte[(2 << 20) + 8 * i];
            LockSupport.parkNanos(5_000_000);
        }
    }

    static void last() {
        sink = new byte[(4 << 20) - 16];
    }

    static void exhaust() {
        List<byte[]> held = new ArrayList<>();
        while (true) held.add(new byte[300_000]);
    }

    static void daemon() {
        Thread thread = new Thread(() -> {
            while (true) {
                sink = new byte[100_000];
                LockSupport.parkNanos(1_000_000);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    static void child(String[] args) throws Exception {
        List<String> command = new ArrayList<>(List.of(args));
        command.remove(0);
        System.out.println("child " + new ProcessBuilder(command).inheritIO().start().waitFor());
    }

    public static void main(String[] args) throws Exception {
        first();
        if (args[0].equals("child")) child(args);
        if (args[0].equals("daemon")) daemon();
        last();
        if (args[0].equals("exit")) System.exit(7);
        if (args[0].equals("halt")) Runtime.getRuntime().halt(8);
        if (args[0].equals("throw")) throw new OutOfMemoryError("the program's own");
        if (args[0].equals("exhaust")) exhaust();
        if (args[0].equals("wait")) {
            System.out.println("running");
            LockSupport.park();
        }
    }
}
