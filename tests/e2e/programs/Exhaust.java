package e2e;

import java.util.ArrayList;
import java.util.List;

/**
 * Fills the heap until there is none. With an argument it does so in seconds, prints how many bytes of sessions it
 * holds, and makes garbage meanwhile.
 */
public final class Exhaust {
    static final List<Object> held = new ArrayList<>();
    static Object sink;

    static final class Session {
        final long[] data = new long[500];
    }

    static void remember() {
        held.add(new Session());
    }

    static void other() {
        held.add(new int[300]);
    }

    static void slowly() throws InterruptedException {
        for (long sessions = 0;; ) {
            for (int i = 0; i < 3; ++i) {
                remember();
                ++sessions;
                other();
                for (int j = 0; j < 10; ++j) sink = new byte[2000];
            }
            if (sessions % 30 == 0) System.out.println(sessions * (500 * 8 + 16));
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        if (args.length > 0) slowly();
        while (true) held.add(new byte[10_000]);
    }
}
