/** Starts threads at once, each of which allocates objects and direct memory a few times, and prints "done". */
public class Many {
  static volatile Object sink;

  public static void main(String[] args) throws Exception {
    Thread[] threads = new Thread[Integer.parseInt(args[0])];
    int times = args.length > 1 ? Integer.parseInt(args[1]) : 20;
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(() -> {
        for (int k = 0; k < times; k++) {
          for (int j = 0; j < 20; j++) sink = new byte[1000];
          sink = java.nio.ByteBuffer.allocateDirect(10_000);
          try {
            Thread.sleep(100);
          } catch (InterruptedException e) {
            return;
          }
        }
      });
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
    System.out.println("done");
  }
}
