package workloads;

/** The pace changes by a factor of 100, up and down, every `phase` seconds; some sites belong to either phase, some to both. */
final class Steps {
    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        int threads = (int) run.number("threads", 2);
        double[] speeds = {run.number("low", 10) * Run.MB / threads, run.number("high", 1000) * Run.MB / threads};
        long phase = (long) (run.number("phase", 2) * 1e9);
        Mix[] mixes = {Mix.harmonic(0, 12, 24, 8192, run.random), Mix.harmonic(8, 12, 24, 8192, run.random)};
        for (int i = 0; i < threads; i++) {
            run.worker("steps-" + i, (lane, random) -> {
                int k = 0;
                for (long at = run.start + phase; at < run.end + phase; at += phase) {
                    lane.pace(speeds[k & 1]);
                    mixes[k & 1].allocateUntil(Math.min(at, run.end), lane, random);
                    k++;
                }
            });
        }
        run.finish();
    }
}
