package ways;

import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;

/** Records itself through the MXBean: the argument is the recording. */
public final class Managed {
    static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    static Object invoke(String operation, String signature, Object... arguments) throws Exception {
        String[] types = signature.isEmpty() ? new String[0] : signature.split(",");
        return SERVER.invoke(new ObjectName("heaprec:type=Recorder"), operation, arguments, types);
    }

    static Object status() throws Exception {
        return SERVER.getAttribute(new ObjectName("heaprec:type=Recorder"), "Status");
    }

    public static void main(String[] args) throws Exception {
        heaprec.Heaprec.registerMXBean();
        String string = String.class.getName();
        System.out.println(status());
        invoke("start", string, "file=" + args[0]);
        System.out.println(status());
        Work.run(200_000);
        System.out.println(invoke("dump", string, args[0] + ".copy"));
        CompositeData[] rows = (CompositeData[]) invoke("top", string + ",int", "site", 3);
        System.out.println(rows[0].get("name") + " " + (double) rows[0].get("bytesLow") + " " + (double) rows[0].get("bytesHigh"));
        System.out.println(invoke("stop", ""));
        System.out.println(status());
    }
}
