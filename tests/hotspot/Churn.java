import java.nio.file.Files;
import java.nio.file.Path;

// Two threads that allocate, on refills and outside TLABs, until the agent has written its verdict on live patching.
public class Churn {
  static volatile Object sink;
  static volatile boolean done;

  public static void main(String[] arguments) throws Exception {
    Path verdict = Path.of(arguments[0]);
    Runnable churn = () -> {
      for (int i = 0; !done; i++) sink = new byte[i % 1000 == 999 ? 3_000_000 : i % 5000];
    };
    Thread[] threads = {new Thread(churn), new Thread(churn)};
    for (Thread thread : threads) thread.start();
    while (!Files.readString(verdict).contains("cycles")) Thread.sleep(20);
    done = true;
    for (Thread thread : threads) thread.join();
  }
}
