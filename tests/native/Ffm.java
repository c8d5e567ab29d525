import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Allocates 30,000 blocks of 1,000 bytes with malloc, which the linker's default lookup finds. */
public class Ffm {
  static MemorySegment kept;

  static void viaFfm(MethodHandle malloc) throws Throwable {
    for (int i = 0; i < 30_000; i++) kept = (MemorySegment) malloc.invokeExact(1000L);
  }

  public static void main(String[] args) throws Throwable {
    Linker linker = Linker.nativeLinker();
    viaFfm(linker.downcallHandle(linker.defaultLookup().find("malloc").get(),
        FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG)));
    System.out.println("done");
  }
}
