package workloads;

/** A long tail: sites whose shares fall as 1 / rank, of small objects of one size each, in no order of the shares. */
final class Tail {
    public static void main(String[] args) throws Exception {
        int sites = 0;
        for (String arg : args) if (arg.startsWith("sites=")) sites = Integer.parseInt(arg.substring(6));
        Sites.rows = 2 * (Sites.COUNT + sites);
        // Loads the sites' classes: that allocates, and a thread's count must not contain it.
        for (int i = 0; i < sites; i++) Sites.make(Sites.COUNT + i, 16);
        Run run = new Run(args);
        int threads = (int) run.number("threads", 3);
        double speed = run.number("mbps", 200) * Run.MB / threads;
        Mix mix = Mix.harmonic(Sites.COUNT, sites, 16, 400, run.random);
        for (int i = 0; i < threads; i++) {
            run.worker("tail-" + i, (lane, random) -> {
                lane.pace(speed);
                mix.allocateUntil(run.end, lane, random);
            });
        }
        run.finish();
    }
}
