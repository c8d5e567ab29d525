package e2e;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntConsumer;
import java.util.spi.ToolProvider;

/**
 * VERSIONS versions of one class, each of which allocates OBJECTS arrays of 1,000 bytes on a line of its own: 1,000
 * times its number, plus 1. Every second one has other bytecodes, too. Wants -javaagent with this program's jar.
 */
public final class Redefined {
    private static final int MARK = 0x7a69; // in no other place of the class file
    private static Instrumentation instrumentation;

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }

    // The class file with or without other bytecodes; the allocation is on line MARK.
    private static byte[] compiled(Path folder, boolean other) throws Exception {
        String text = "\n".repeat(MARK - 1) + "public class Work implements java.util.function.IntConsumer { static Object sink;"
                + " static void hot(int n) {" + (other ? " n = n * 31 + 7;" : "") + " sink = new byte[984]; }"
                + " public void accept(int n) { for (int i = 0; i < n; i++) hot(i); } }";
        Path source = Files.write(folder.resolve("Work.java"), text.getBytes(StandardCharsets.UTF_8));
        int code = ToolProvider.findFirst("javac").get().run(System.err, System.err, "-d", folder.toString(), source.toString());
        if (code != 0) throw new IllegalStateException("javac");
        return Files.readAllBytes(folder.resolve("Work.class"));
    }

    private static byte[] onLine(int line, byte[] file) {
        byte[] moved = file.clone();
        for (int i = 0; i + 1 < file.length; ++i) {
            if (file[i] != (byte) (MARK >> 8) || file[i + 1] != (byte) MARK) continue;
            moved[i] = (byte) (line >> 8);
            moved[i + 1] = (byte) line;
        }
        return moved;
    }

    public static void main(String[] args) throws Exception {
        int versions = Integer.parseInt(args[0]), objects = Integer.parseInt(args[1]);
        Path folder = Files.createTempDirectory(Path.of(args[2]), "versions");
        byte[] odd = compiled(folder, true), even = compiled(folder, false);
        Files.write(folder.resolve("Work.class"), onLine(1, even));
        Class<?> type = new URLClassLoader(new URL[] {folder.toUri().toURL()}).loadClass("Work");
        IntConsumer work = (IntConsumer) type.getConstructor().newInstance();
        for (int v = 0; v < versions; ++v) {
            byte[] file = onLine(1000 * v + 1, v % 2 == 0 ? even : odd);
            instrumentation.redefineClasses(new ClassDefinition(type, file));
            work.accept(objects);
        }
        System.out.println("done");
    }
}
