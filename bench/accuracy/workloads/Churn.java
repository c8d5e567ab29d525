package workloads;

import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Short threads, one after the other on each of three lanes: one object of a first site, a mix, one object of a last site. Their total is
 * between `least` and `most` bytes, mostly less than a TLAB. One thread with sites of its own lives all the time.
 */
final class Churn {
    private static final int FIRST = 0;
    private static final int LAST = 1;

    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        double least = run.number("least", 4096);
        double most = run.number("most", 1 << 20);
        int lanes = 3;
        long interval = (long) (1e9 * lanes / run.number("threads", 600));
        Mix mix = Mix.harmonic(2, 10, 24, 2048, run.random);
        for (int i = 0; i < lanes; i++) {
            Lane lane = run.lane();
            SplittableRandom random = run.random.split();
            run.thread("starter-" + i, () -> {
                long due = System.nanoTime();
                while (System.nanoTime() < run.end) {
                    live(lane, random.split(), Mix.logUniform(least, most, random), mix);
                    due = Math.max(due + interval, System.nanoTime() - 20_000_000);
                    LockSupport.parkNanos(due - System.nanoTime());
                }
            });
        }
        Mix longMix = Mix.harmonic(20, 6, 24, 4096, run.random);
        double speed = run.number("mbps", 50) * Run.MB;
        run.worker("long", (lane, random) -> {
            lane.pace(speed);
            longMix.allocateUntil(run.end, lane, random);
        });
        run.finish();
    }

    private static void live(Lane lane, SplittableRandom random, double bytes, Mix mix) {
        Thread thread = new Thread(Run.counted(lane, random, (l, r) -> {
            double end = l.total() + bytes - 2048;
            l.allocate(FIRST, 1024);
            while (l.total() < end) mix.allocate(l, r);
            l.allocate(LAST, 1024);
        }), "short");
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
