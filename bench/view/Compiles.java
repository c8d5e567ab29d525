import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles its own source, again and again: a program that allocates at many sites. */
public final class Compiles {
    public static void main(String[] args) throws Exception {
        String text = Files.readString(Path.of(args[0]));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavaFileObject source = new SimpleJavaFileObject(URI.create("string:///Compiles.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
        for (;;) {
            compiler.getTask(new StringWriter(), null, null, List.of("-proc:none", "-d", args[1]), null, List.of(source)).call();
            Thread.sleep(20);
        }
    }
}
