package heaprec.junit;

import heaprec.Probe;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A {@link Probe} as a parameter of a JUnit 5 test: {@code @ExtendWith(Probes.class)}. The probe has not begun: the test
 * calls {@link Probe#start} and {@link Probe#close}.
 */
public final class Probes implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Probe.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Probe probe = Probe.create();
        // The store closes it if the test does not; on the test's thread, as it must be.
        context.getStore(ExtensionContext.Namespace.create(Probes.class, context.getUniqueId()))
                .put(parameter.getIndex(), (ExtensionContext.Store.CloseableResource) probe::close);
        return probe;
    }
}
