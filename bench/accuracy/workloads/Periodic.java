package workloads;

/**
 * One thread goes round k sites, k = 2, 3, 5, 8, 16 in turn, each with sites of its own and a fifth of the time. Objects have `size` bytes,
 * or, with `tlab`, a round of them is a quarter of that TLAB (to be fixed by the JVM's options): a refill meets the same site for ever.
 */
final class Periodic {
    private static final int[] PERIODS = {2, 3, 5, 8, 16};

    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        double speed = run.number("mbps", 300) * Run.MB;
        double tlab = run.number("tlab", 0);
        double size = run.number("size", 262_160);
        run.worker("periodic", (lane, random) -> {
            lane.pace(speed);
            int first = 0;
            for (int i = 0; i < PERIODS.length; i++) {
                int period = PERIODS[i];
                int bytes = Sites.size(0, tlab > 0 ? tlab / 4 / period : size);
                long end = run.start + (run.end - run.start) / PERIODS.length * (i + 1);
                while (lane.before(end)) {
                    // Not sites 32 to 39, whose size is fixed.
                    for (int k = first; k < first + period; k++) lane.allocate(k < 32 ? k : k + 8, bytes);
                }
                first += period;
            }
        });
        run.finish();
    }
}
