package heaprec.junit;

import heaprec.Heaprec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Records tests with {@link Recorded}. */
final class TestRecorder implements BeforeTestExecutionCallback, AfterTestExecutionCallback {
    private static final String ENTRY = "heaprec", STARTED = "started";

    @Override
    public void beforeTestExecution(ExtensionContext context) throws IOException {
        Recorded how = annotationOf(context);
        Path folder = Files.createDirectories(Paths.get(how.folder())).toAbsolutePath();
        String name = context.getRequiredTestClass().getSimpleName() + "." + context.getRequiredTestMethod().getName();
        try {
            String options = how.options().isEmpty() ? "" : "," + how.options();
            String file = Heaprec.start("file=" + folder.resolve(name + ".hrec") + options);
            if (file != null) store(context).put(STARTED, file);
        } catch (IllegalStateException e) {
            context.publishReportEntry(ENTRY, "not recorded: " + e.getMessage());
        }
    }

    @Override
    public void afterTestExecution(ExtensionContext context) throws IOException {
        if (store(context).remove(STARTED) == null) return;
        Recorded how = annotationOf(context);
        try {
            Path recording = Paths.get(Heaprec.stop());
            if (context.getExecutionException().isPresent()) {
                context.publishReportEntry(ENTRY, recording + pageOf(recording));
            } else if (how.keep()) {
                context.publishReportEntry(ENTRY, recording.toString());
            } else {
                Files.delete(recording);
            }
        } catch (IllegalStateException e) {
            context.publishReportEntry(ENTRY, "not recorded: " + e.getMessage());
        }
    }

    /** Returns ", PAGE", or why there is none. */
    private static String pageOf(Path recording) {
        String page = recording.toString().replaceFirst("\\.hrec$", "") + ".html";
        try {
            Heaprec.runCommand("report", "-q", "-f", "-o", page, recording.toString());
            return ", " + page;
        } catch (IOException e) {
            return "; no page: " + e.getMessage();
        }
    }

    private static Recorded annotationOf(ExtensionContext context) {
        Optional<Recorded> method = AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), Recorded.class);
        for (Class<?> type = context.getRequiredTestClass(); !method.isPresent() && type != null; type = type.getEnclosingClass()) {
            method = AnnotationSupport.findAnnotation(type, Recorded.class);
        }
        return method.orElseThrow(() -> new IllegalStateException("no @Recorded on " + context.getDisplayName()));
    }

    private static ExtensionContext.Store store(ExtensionContext context) {
        return context.getStore(ExtensionContext.Namespace.create(TestRecorder.class, context.getUniqueId()));
    }
}
