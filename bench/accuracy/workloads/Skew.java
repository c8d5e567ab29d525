package workloads;

/** Ten threads with three sites each: the first makes 95 % of all bytes. */
final class Skew {
    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        int threads = 10;
        double share = run.number("share", 0.95);
        double speed = run.number("mbps", 400) * Run.MB;
        for (int i = 0; i < threads; i++) {
            Mix mix = Mix.harmonic(3 * i, 3, 32, 4096, run.random);
            double pace = speed * (i == 0 ? share : (1 - share) / (threads - 1));
            run.worker("skew-" + i, (lane, random) -> {
                lane.pace(pace);
                mix.allocateUntil(run.end, lane, random);
            });
        }
        run.finish();
    }
}
