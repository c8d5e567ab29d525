package e2e;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Keeps so many direct buffers of a megabyte. */
public final class Direct {
    public static void main(String[] args) {
        List<ByteBuffer> kept = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); ++i) kept.add(ByteBuffer.allocateDirect(1 << 20));
        System.out.println("kept " + kept.size());
    }
}
