import java.io.File;
import java.util.Set;
import java.util.TreeSet;
import org.openjdk.jmc.common.IMCFrame;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.IMCType;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.ItemFilters;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.jdk.JdkAttributes;

/**
 * What the parser of JDK Mission Control, which is on the class path, makes of jdk.ObjectAllocationSample in a file: one line of JSON.
 *
 * <p>Arguments: the file.
 */
public final class JmcTotals {
    public static void main(String[] args) throws Exception {
        long events = 0, bytes = 0, unresolved = 0;
        Set<String> classes = new TreeSet<>();
        for (IItemIterable items : JfrLoaderToolkit.loadEvents(new File(args[0])).apply(ItemFilters.type("jdk.ObjectAllocationSample"))) {
            IMemberAccessor<IQuantity, IItem> weight = JdkAttributes.SAMPLE_WEIGHT.getAccessor(items.getType());
            IMemberAccessor<IMCType, IItem> type = JdkAttributes.ALLOCATION_CLASS.getAccessor(items.getType());
            IMemberAccessor<IMCStackTrace, IItem> stack = JfrAttributes.EVENT_STACKTRACE.getAccessor(items.getType());
            for (IItem item : items) {
                ++events;
                bytes += weight.getMember(item).clampedLongValueIn(UnitLookup.BYTE);
                IMCType of = type.getMember(item);
                if (of == null) ++unresolved;
                else classes.add(of.getFullName());
                IMCStackTrace trace = stack.getMember(item);
                if (trace == null) {
                    ++unresolved;
                    continue;
                }
                for (IMCFrame frame : trace.getFrames()) if (frame.getMethod() == null || frame.getMethod().getMethodName() == null) ++unresolved;
            }
        }
        System.out.printf("{\"events\": %d, \"bytes\": %d, \"unresolved\": %d, \"classes\": %d}%n", events, bytes, unresolved, classes.size());
    }
}
