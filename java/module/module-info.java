/** Records what allocates in this JVM; tests and benchmarks with allocation limits. */
module heaprec {
    requires static java.instrument;
    requires static java.management;
    requires static jdk.management;
    requires static jdk.unsupported;
    requires static org.junit.jupiter.api;
    requires static org.junit.platform.commons;

    exports heaprec;
    exports heaprec.jmh;
    exports heaprec.junit;
    opens heaprec.junit to org.junit.platform.commons;
}
