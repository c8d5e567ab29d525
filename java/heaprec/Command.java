package heaprec;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** The heaprec command as a child process. */
final class Command {
    private Command() {}

    /**
     * Starts it.
     *
     * @param setUp is given the process before its start, for redirections
     * @throws IOException if this platform has no command, or it cannot be started
     */
    static Process start(List<String> arguments, Consumer<ProcessBuilder> setUp) throws IOException {
        if (Platform.name() == null) throw new IOException(Platform.objection());
        Process[] started = new Process[1];
        NativeFiles.find(NativeFiles.COMMAND, file -> {
            List<String> line = new ArrayList<>();
            line.add(file.toString());
            line.addAll(arguments);
            ProcessBuilder builder = new ProcessBuilder(line);
            Path jar = NativeFiles.jar();
            if (jar != null) builder.environment().putIfAbsent("HEAPREC_JAR", jar.toString());
            String ready = System.getProperty(NativeFiles.READY_PROPERTY);
            if (ready != null && ready.endsWith(".so")) builder.environment().putIfAbsent("HEAPREC_LIB", ready);
            setUp.accept(builder);
            started[0] = builder.start();
        });
        return started[0];
    }

    /**
     * Runs it and returns the lines that it prints.
     *
     * @throws IOException also if it fails, with what it says
     */
    static List<String> run(String... arguments) throws IOException {
        Process process = start(Arrays.asList(arguments), builder -> {});
        process.getOutputStream().close();
        try {
            List<String> lines = linesOf(process.getInputStream());
            List<String> errors = linesOf(process.getErrorStream()); // a few lines: they fit into the pipe
            int code = process.waitFor();
            if (code != 0) throw new IOException("heaprec " + arguments[0] + ": exit code " + code + ": " + String.join(" ", errors));
            return lines;
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("heaprec " + arguments[0] + ": interrupted", e);
        }
    }

    private static List<String> linesOf(InputStream from) throws IOException {
        List<String> lines = new ArrayList<>();
        try (BufferedReader in = new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) lines.add(line);
        }
        return lines;
    }
}
