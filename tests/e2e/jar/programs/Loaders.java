package ways;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Two class loaders have heaprec.jar each: args are the jar and the recording. */
public final class Loaders {
    static Object call(ClassLoader loader, String method, Object... arguments) throws Exception {
        Class<?>[] types = new Class<?>[arguments.length];
        java.util.Arrays.fill(types, String.class);
        return loader.loadClass("heaprec.Heaprec").getMethod(method, types).invoke(null, arguments);
    }

    public static void main(String[] args) throws Exception {
        URL[] jar = {Paths.get(args[0]).toUri().toURL()};
        ClassLoader first = new URLClassLoader(jar, null), second = new URLClassLoader(jar, null);
        call(first, "start", "file=" + args[1]);
        Work.run(20_000);
        call(second, "load");
        call(second, "registerMXBean");
        call(first, "registerMXBean");
        System.out.println(call(second, "status"));
        System.out.println(call(second, "stop"));
        System.out.println(call(first, "status"));
        System.out.println(Files.readAllLines(Paths.get("/proc/self/maps")).stream()
                .filter(line -> line.contains("libheaprec.so") && line.contains("r-xp")).count());
    }
}
