package workloads;

import java.util.SplittableRandom;

/**
 * Quiet sites all the time, bursts of others at the end of each period. Lengths in ms; with irregular=1 the time between bursts is
 * exponential, the same in all threads.
 */
final class Bursts {
    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        int threads = (int) run.number("threads", 2);
        double period = run.number("period", 1000) * 1e6;
        double burst = run.number("burst", 100) * 1e6;
        double quietSpeed = run.number("quiet", 50) * Run.MB / threads;
        double burstSpeed = run.number("mbps", 1500) * Run.MB / threads;
        boolean irregular = run.number("irregular", 0) != 0;
        Mix quietMix = Mix.harmonic(0, 8, 24, 8192, run.random);
        Mix burstMix = Mix.harmonic(12, 8, 24, 8192, run.random);
        long shape = run.random.nextLong();
        for (int i = 0; i < threads; i++) {
            run.worker("bursts-" + i, (lane, random) -> {
                SplittableRandom periods = new SplittableRandom(shape);
                for (double at = run.start; at < run.end; ) {
                    at += irregular ? burst - period * Math.log(1 - periods.nextDouble()) : period;
                    lane.pace(quietSpeed);
                    quietMix.allocateUntil(Math.min(run.end, (long) (at - burst)), lane, random);
                    lane.pace(burstSpeed);
                    burstMix.allocateUntil(Math.min(run.end, (long) at), lane, random);
                }
            });
        }
        run.finish();
    }
}
