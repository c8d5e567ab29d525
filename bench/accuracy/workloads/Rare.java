package workloads;

/** Four sites make nearly all bytes; twenty rare ones have shares from 0.1 % to 1 %, and sizes from 24 B to 24 kB. */
final class Rare {
    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        int threads = (int) run.number("threads", 2);
        double speed = run.number("mbps", 400) * Run.MB / threads;
        int rare = 20;
        int[] sites = new int[rare + 4];
        int[] sizes = new int[rare + 4];
        double[] shares = new double[rare + 4];
        double left = 1;
        for (int i = 0; i < rare; i++) {
            sites[i] = i;
            sizes[i] = Sites.size(i, Mix.logUniform(24, 24_000, run.random));
            left -= shares[i] = 0.001 * Math.pow(10, i / (rare - 1.0));
        }
        for (int i = 0; i < 4; i++) {
            sites[rare + i] = 40 + i;
            sizes[rare + i] = Sites.size(40 + i, 64 << 2 * i);
            shares[rare + i] = left / 4;
        }
        Mix mix = new Mix(sites, sizes, shares);
        for (int i = 0; i < threads; i++) {
            run.worker("rare-" + i, (lane, random) -> {
                lane.pace(speed);
                mix.allocateUntil(run.end, lane, random);
            });
        }
        run.finish();
    }
}
