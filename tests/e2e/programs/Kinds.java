package e2e;

import java.util.function.IntSupplier;

/** Allocates instances of classes of all kinds and says what Java calls them. */
public final class Kinds {
    static volatile Object sink;

    static class Nested {
        long a, b, c;
    }

    static final class Größe {
        long a, b, c;
    }

    interface Maker {
        Object make(int i);
    }

    static final Maker[] MAKERS = {
        i -> new byte[4000],
        i -> new int[1000][],
        i -> new String[1000],
        i -> new long[500],
        i -> new Nested[1000],
        i -> new Nested[1000][],
        i -> new Größe[1000],
        Kinds::nested,
        Kinds::anonymous,
        Kinds::lambda,
        Kinds::lambdas,
        Kinds::unicode,
    };

    static Object nested(int i) {
        Object last = null;
        for (int k = 0; k < 100; ++k) sink = last = new Nested();
        return last;
    }

    static Object unicode(int i) {
        Object last = null;
        for (int k = 0; k < 100; ++k) sink = last = new Größe();
        return last;
    }

    static Object anonymous(int i) {
        Object last = null;
        for (int k = 0; k < 100; ++k) {
            sink = last = new Object() {
                final int held = i;
            };
        }
        return last;
    }

    static IntSupplier newLambda(int i) {
        return () -> i;
    }

    static Object lambda(int i) {
        Object last = null;
        for (int k = 0; k < 200; ++k) sink = last = newLambda(k);
        return last;
    }

    static Object lambdas(int i) {
        return java.lang.reflect.Array.newInstance(newLambda(i).getClass(), 1000);
    }

    public static void main(String[] args) {
        for (Maker maker : MAKERS) System.out.println(maker.make(1).getClass().getTypeName());
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        for (int i = 0; System.nanoTime() < end; ++i) {
            for (Maker maker : MAKERS) sink = maker.make(i);
        }
    }
}
