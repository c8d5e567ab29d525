package heaprec.jmh;

import heaprec.Heaprec;
import heaprec.TopRow;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.results.TextResult;
import org.openjdk.jmh.runner.IterationType;

/**
 * JMH's {@code -prof heaprec.jmh.HeaprecProfiler:dir=DIR;sites=10;options=points=max}: what an operation allocates, and
 * where.
 *
 * <p>Secondary results: {@code heaprec.alloc.rate.norm} (B/op), from the JVM's counters as JMH's own gc.alloc.rate.norm;
 * {@code heaprec.objects.norm} (objects/op); and a table of sites with 95 % intervals. Each fork makes a recording of
 * its measurement iterations, from the first to the last, and a flame graph.
 */
public final class HeaprecProfiler implements InternalProfiler {
    private static final String HELP = "options, separated by ';':\n"
            + "  dir=DIR          folder for recordings and flame graphs (default: heaprec)\n"
            + "  sites=N          rows of the table (default: 10)\n"
            + "  exact=true       count every object: heaprec.objects.norm is exact, the benchmark is slower\n"
            + "  options=OPTIONS  options of the agent (default: points=max)";

    private final Map<String, String> options = new LinkedHashMap<>();
    private final int sites;
    private final AllocationCounter counter = new AllocationCounter();
    private String recording;
    private long operations;
    private int measured;

    /** For JMH's list of profilers. */
    public HeaprecProfiler() throws ProfilerException {
        this("");
    }

    /**
     * @param text options
     * @throws ProfilerException if one is unknown, or with the help if it is "help"
     */
    public HeaprecProfiler(String text) throws ProfilerException {
        options.put("dir", "heaprec");
        options.put("sites", "10");
        options.put("exact", "false");
        options.put("options", "points=max");
        for (String option : text.split(";")) {
            if (option.isEmpty()) continue;
            int end = option.indexOf('=');
            String key = end < 0 ? option : option.substring(0, end);
            if (key.equals("help")) throw new ProfilerException(HELP);
            if (end < 0 || !options.containsKey(key)) throw new ProfilerException("heaprec: unknown option `" + option + "`; " + HELP);
            options.put(key, option.substring(end + 1));
        }
        try {
            sites = Integer.parseInt(options.get("sites"));
        } catch (NumberFormatException e) {
            throw new ProfilerException("heaprec: sites=" + options.get("sites") + " is not a number");
        }
        if (sites < 1) throw new ProfilerException("heaprec: sites=" + sites + " must be 1 or more");
    }

    @Override
    public String getDescription() {
        return "Allocations per operation, by site, with 95 % intervals (heaprec)";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (iteration.getType() != IterationType.MEASUREMENT) return;
        if (measured == 0) start(benchmark);
        counter.begin();
    }

    private void start(BenchmarkParams benchmark) {
        String folder = new File(options.get("dir")).getAbsolutePath();
        if (!new File(folder).isDirectory() && !new File(folder).mkdirs()) {
            throw new IllegalStateException("heaprec: cannot create the folder " + folder);
        }
        String file = folder + File.separator + benchmark.getBenchmark().replaceAll("[^\\w.-]", "_") + "-%p.hrec";
        String more = options.get("options") + (isExact() ? ",census=all" : "");
        recording = Heaprec.start("file=" + file + (more.isEmpty() ? "" : "," + more));
    }

    private boolean isExact() {
        return Boolean.parseBoolean(options.get("exact"));
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        if (iteration.getType() != IterationType.MEASUREMENT) return Collections.emptyList();
        long bytes = counter.end(), count = result.getMetadata().getAllOps();
        operations += count;
        List<Result> results = new ArrayList<>();
        if (count > 0) results.add(scalar("heaprec.alloc.rate.norm", (double) bytes / count, "B/op"));
        if (++measured == iteration.getCount() && recording != null) addRecorded(results);
        return results;
    }

    private static ScalarResult scalar(String label, double value, String unit) {
        return new ScalarResult(label, value, unit, AggregationPolicy.AVG);
    }

    @SuppressWarnings("rawtypes")
    private void addRecorded(List<Result> results) {
        try {
            String file = Heaprec.stop();
            if (operations == 0) return;
            double objects = Heaprec.top(file, "class", 0).stream().mapToDouble(TopRow::getObjects).sum();
            results.add(scalar("heaprec.objects.norm", objects / operations, "objects/op"));
            results.add(new TextResult(table(file), "heaprec.sites"));
            Heaprec.runCommand("flame", "-q", "-f", "-o", file.replaceFirst("\\.hrec$", "") + ".html", file);
        } catch (IOException | IllegalStateException e) {
            results.add(new TextResult("not available: " + e.getMessage(), "heaprec.sites"));
        }
    }

    private String table(String file) throws IOException {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%10s %-17s %6s %10s  site%n", "B/op", "95 %", "share", "objects/op"));
        for (TopRow row : Heaprec.top(file, "site", sites)) {
            String interval = String.format(Locale.ROOT, "%.1f-%.1f", row.getBytesLow() / operations, row.getBytesHigh() / operations);
            text.append(String.format(Locale.ROOT, "%10.1f %-17s %4.1f %% %10.2f  %s%n", row.getBytes() / operations, interval,
                    100 * row.getShare(), row.getObjects() / operations, row.getName()));
        }
        return text.append(file).append(System.lineSeparator()).toString();
    }
}
