package ways;

/** A method for heaprec escape. */
public final class Escaped {
    public static void none() {}
}
