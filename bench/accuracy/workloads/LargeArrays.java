package workloads;

/** Arrays with Pareto sizes from 16 kB to 8 MB, one tail per site, beside a site of small objects. Mostly outside of TLABs. */
final class LargeArrays {
    private static final double[] TAILS = {0.7, 0.9, 1.1, 1.3, 1.6, 2.0};
    private static final int SMALL = 8;

    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        int threads = (int) run.number("threads", 2);
        double speed = run.number("mbps", 800) * Run.MB / threads;
        double least = run.number("least", 16_384);
        double most = run.number("most", 8 << 20);
        for (int i = 0; i < threads; i++) {
            run.worker("large-" + i, (lane, random) -> {
                lane.pace(speed);
                while (lane.before(run.end)) {
                    int site = random.nextInt(TAILS.length);
                    double size = least * Math.pow(1 - random.nextDouble(), -1 / TAILS[site]);
                    if (size <= most) lane.allocate(site, Sites.size(site, size));
                    for (int k = 0; k < 40; k++) lane.allocate(SMALL, 64 + 16 * (k & 7));
                }
            });
        }
        run.finish();
    }
}
