package ways;

/** Allocates int arrays: how many, and then how many milliseconds it waits. */
public final class Work {
    static Object sink;

    static void run(int count) {
        for (int i = 0; i < count; ++i) sink = new int[250];
    }

    public static void main(String[] args) throws InterruptedException {
        run(Integer.parseInt(args[0]));
        System.out.println("worked");
        if (args.length > 1) Thread.sleep(Long.parseLong(args[1]));
    }
}
