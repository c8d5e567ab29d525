package ways;

import heaprec.Heaprec;

/** Starts a recording with the options that are its argument, and prints the file or the reason. */
public final class Started {
    public static void main(String[] args) {
        try {
            System.out.println(Heaprec.start(args[0]));
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage());
        }
    }
}
