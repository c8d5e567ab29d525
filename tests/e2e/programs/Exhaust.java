package e2e;

import java.util.ArrayList;
import java.util.List;

/** Fills the heap until there is none. */
public final class Exhaust {
    public static void main(String[] args) {
        List<byte[]> held = new ArrayList<>();
        while (true) held.add(new byte[10_000]);
    }
}
