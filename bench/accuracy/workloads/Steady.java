package workloads;

/** Twelve sites at a steady pace, sizes from 24 B to 16 kB. */
final class Steady {
    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        int threads = (int) run.number("threads", 2);
        double speed = run.number("mbps", 300) * Run.MB / threads;
        Mix mix = Mix.harmonic(0, 12, 24, 16384, run.random);
        for (int i = 0; i < threads; i++) {
            run.worker("steady-" + i, (lane, random) -> {
                lane.pace(speed);
                mix.allocateUntil(run.end, lane, random);
            });
        }
        run.finish();
    }
}
