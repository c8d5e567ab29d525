package e2e;

import java.util.ArrayList;
import java.util.List;

/**
 * Leaks objects among garbage: Leak KEPT MEGABYTES PACE [WAIT]. In PACE seconds so many megabytes of garbage come and go, in objects that live for
 * some hundred allocations, and KEPT objects stay, evenly spread. Then collects twice, says what stayed, and waits. With -De2e.progress=true
 * standard error has the times, in milliseconds since 1970, at which each hundredth of KEPT was there: on a busy machine they are not evenly spread.
 * With -De2e.round=N garbage lives for N allocations: long enough to die in the old generation.
 */
public final class Leak {
    private static final int ROUND = Integer.getInteger("e2e.round", 256);

    /** 64 bytes. */
    private static final class Kept {
        long a, b, c, d, e, f;
    }

    private static final class Garbage {
        final byte[] bytes;

        Garbage(int size) {
            bytes = new byte[size];
        }
    }

    private static final List<Kept> kept = new ArrayList<>();

    private static void keep() {
        kept.add(new Kept());
    }

    private static Garbage discard(int i) {
        return new Garbage(16 + (i * 31 & 0xffff) % 2000);
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        long bytes = Long.parseLong(args[1]) << 20;
        Garbage[] young = new Garbage[ROUND];
        double pace = Double.parseDouble(args[2]);
        long done = 0, begin = System.nanoTime();
        int step = Math.max(1, count / 100);
        long[] progress = new long[count / step];
        for (int i = 0; done < bytes; ++i) {
            Garbage garbage = discard(i);
            young[i % ROUND] = garbage;
            done += garbage.bytes.length + 40;
            while (kept.size() < count && kept.size() * (double) bytes < (double) count * done) {
                keep();
                if (kept.size() % step == 0) progress[kept.size() / step - 1] = System.currentTimeMillis();
            }
            while (i % ROUND == 0 && (System.nanoTime() - begin) * 1e-9 * bytes < pace * done) Thread.sleep(1);
        }
        young = null;
        System.gc();
        Thread.sleep(200);
        System.gc();
        // Concurrent collectors clear references a little later, and who looks for that does so some times a second.
        Thread.sleep(2500);
        if (Boolean.getBoolean("e2e.progress")) {
            StringBuilder line = new StringBuilder("progress");
            for (long time : progress) line.append(' ').append(time);
            System.err.println(line);
        }
        System.out.println("kept " + kept.size());
        if (args.length > 3) Thread.sleep(1000 * Long.parseLong(args[3]));
    }
}
