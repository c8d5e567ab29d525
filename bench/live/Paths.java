import java.util.Random;

/** Fills the heap with MIB MiB of records that refer to each other at random, and byte arrays that are held by them; says "ready", allocates until its input ends. */
public final class Paths {
    static final class Record {
        Record a, b, c;
        Object value;
    }

    static Record[][] all;
    static Object sink;
    static final int PART = 1000;

    static Record any(Random random) {
        return all[random.nextInt(all.length)][random.nextInt(PART)];
    }

    public static void main(String[] args) throws Exception {
        int count = (int) (Long.parseLong(args[0]) * (1 << 20) / 81); // an element, a record, a boxed number and a third of an array
        Random random = new Random(1);
        all = new Record[count / PART][PART];
        for (Record[] part : all) {
            for (int i = 0; i < PART; ++i) {
                part[i] = new Record();
                part[i].value = i % 3 == 0 ? new byte[64] : Integer.valueOf(i);
            }
        }
        for (Record[] part : all) {
            for (Record of : part) {
                of.a = any(random);
                of.b = any(random);
                of.c = any(random);
            }
        }
        System.gc();
        System.out.println("ready");
        while (System.in.available() == 0) {
            for (int i = 0; i < 1000; ++i) {
                sink = new byte[100];
            }
            Thread.sleep(1);
        }
    }
}
