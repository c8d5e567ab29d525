package workloads;

/** Three sites whose objects have 32 bytes (3.4 % of all bytes), 1,400 bytes (75.1 %) and 400 kB (21.5 %). */
final class Sizes {
    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        double speed = run.number("mbps", 400) * Run.MB;
        Mix mix = new Mix(new int[] {34, 0, 1}, new int[] {32, 1400, 400_000}, new double[] {0.034, 0.751, 0.215});
        run.worker("sizes", (lane, random) -> {
            lane.pace(speed);
            mix.allocateUntil(run.end, lane, random);
        });
        run.finish();
    }
}
