package heaprec;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.List;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.ObjectName;

/** {@link HeaprecMXBean} by {@link Heaprec}. */
final class RecorderBean implements HeaprecMXBean {
    private static final String RECORDING = "recording ";

    private RecorderBean() {}

    static void register() {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(new RecorderBean(), new ObjectName(NAME));
        } catch (InstanceAlreadyExistsException e) {
            // another class loader's: it has the same agent
        } catch (JMException e) {
            throw new IllegalStateException("heaprec: cannot register the MXBean: " + e.getMessage(), e);
        }
    }

    @Override
    public String getStatus() {
        if (Agent.isAbsent()) return null;
        return Heaprec.isLinked() ? Heaprec.status() : "not loaded";
    }

    @Override
    public String start(String options) {
        return Heaprec.start(options != null ? options : "");
    }

    @Override
    public String stop() {
        return Heaprec.stop();
    }

    @Override
    public String dump(String path) {
        return Heaprec.dump(path);
    }

    @Override
    public List<TopRow> top(String by, int limit) throws IOException {
        String status = getStatus();
        if (status == null) return Collections.emptyList();
        if (!status.startsWith(RECORDING)) throw new IllegalStateException("heaprec: no recording is running");
        return Heaprec.top(status.substring(RECORDING.length()), by, limit);
    }
}
