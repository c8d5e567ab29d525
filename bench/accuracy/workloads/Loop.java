package workloads;

/** One object of 32, one of 64, one of 128 bytes, over and over: 1/7, 2/7 and 4/7 of the bytes, in step with whatever counts objects. */
final class Loop {
    public static void main(String[] args) throws Exception {
        Run run = new Run(args);
        double speed = run.number("mbps", 400) * Run.MB;
        run.worker("loop", (lane, random) -> {
            lane.pace(speed);
            while (lane.before(run.end)) {
                lane.allocate(0, 32);
                lane.allocate(1, 64);
                lane.allocate(2, 128);
            }
        });
        run.finish();
    }
}
