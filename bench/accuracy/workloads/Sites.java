package workloads;

/**
 * The 48 places that allocate, each a method of its own. A size is in bytes, as the heap knows it: a multiple of 8, 16 at least; headers
 * are 12 bytes, those of arrays 16 (compressed class pointers; the check against the JVM's own counters would find another layout).
 *
 * <p>Sites 0 to 31 make arrays of eight types, 32 to 39 objects of one size each, 40 to 47 a byte[] or an int[], by size. Those of a long
 * tail follow, each makes a byte[] (SitesTail, which run.py writes).
 */
final class Sites {
    static final int COUNT = 48;
    /** Each site has two rows of counters: the second is for the second class of sites 40 to 47. */
    static int rows = 2 * COUNT;

    private static final int[] FIXED = {16, 24, 32, 48, 64, 96, 128, 256};
    private static final String[] ARRAYS = {"byte[]", "int[]", "long[]", "char[]", "double[]", "short[]", "float[]", "boolean[]"};

    private Sites() {}

    /** The size nearest to a wish that the site can allocate. */
    static int size(int site, double wish) {
        if (site >= 32 && site < 40) return FIXED[site - 32];
        return Math.max(16, (int) Math.min(wish, 1 << 30) + 7 & ~7);
    }

    static int row(int site, int size) {
        return 2 * site + (site >= 40 && site < COUNT ? size >> 3 & 1 : 0);
    }

    static String method(int row) {
        if (row >= 2 * COUNT) return SitesTail.method(row / 2 - COUNT);
        return String.format("workloads.Sites.s%02d", row / 2);
    }

    /** As Java spells it. */
    static String className(int row) {
        int site = row / 2;
        if (site >= COUNT) return "byte[]";
        if (site < 32) return ARRAYS[site % 8];
        return site < 40 ? "workloads.Sites$Of" + FIXED[site - 32] : ARRAYS[row % 2];
    }

    static Object make(int site, int size) {
        switch (site) {
            case 0: return s00(size);
            case 1: return s01(size);
            case 2: return s02(size);
            case 3: return s03(size);
            case 4: return s04(size);
            case 5: return s05(size);
            case 6: return s06(size);
            case 7: return s07(size);
            case 8: return s08(size);
            case 9: return s09(size);
            case 10: return s10(size);
            case 11: return s11(size);
            case 12: return s12(size);
            case 13: return s13(size);
            case 14: return s14(size);
            case 15: return s15(size);
            case 16: return s16(size);
            case 17: return s17(size);
            case 18: return s18(size);
            case 19: return s19(size);
            case 20: return s20(size);
            case 21: return s21(size);
            case 22: return s22(size);
            case 23: return s23(size);
            case 24: return s24(size);
            case 25: return s25(size);
            case 26: return s26(size);
            case 27: return s27(size);
            case 28: return s28(size);
            case 29: return s29(size);
            case 30: return s30(size);
            case 31: return s31(size);
            case 32: return s32();
            case 33: return s33();
            case 34: return s34();
            case 35: return s35();
            case 36: return s36();
            case 37: return s37();
            case 38: return s38();
            case 39: return s39();
            case 40: return s40(size);
            case 41: return s41(size);
            case 42: return s42(size);
            case 43: return s43(size);
            case 44: return s44(size);
            case 45: return s45(size);
            case 46: return s46(size);
            case 47: return s47(size);
            default: return SitesTail.make(site - COUNT, size);
        }
    }

    private static Object s00(int size) { return new byte[size - 16]; }
    private static Object s01(int size) { return new int[(size - 16) / 4]; }
    private static Object s02(int size) { return new long[(size - 16) / 8]; }
    private static Object s03(int size) { return new char[(size - 16) / 2]; }
    private static Object s04(int size) { return new double[(size - 16) / 8]; }
    private static Object s05(int size) { return new short[(size - 16) / 2]; }
    private static Object s06(int size) { return new float[(size - 16) / 4]; }
    private static Object s07(int size) { return new boolean[size - 16]; }
    private static Object s08(int size) { return new byte[size - 16]; }
    private static Object s09(int size) { return new int[(size - 16) / 4]; }
    private static Object s10(int size) { return new long[(size - 16) / 8]; }
    private static Object s11(int size) { return new char[(size - 16) / 2]; }
    private static Object s12(int size) { return new double[(size - 16) / 8]; }
    private static Object s13(int size) { return new short[(size - 16) / 2]; }
    private static Object s14(int size) { return new float[(size - 16) / 4]; }
    private static Object s15(int size) { return new boolean[size - 16]; }
    private static Object s16(int size) { return new byte[size - 16]; }
    private static Object s17(int size) { return new int[(size - 16) / 4]; }
    private static Object s18(int size) { return new long[(size - 16) / 8]; }
    private static Object s19(int size) { return new char[(size - 16) / 2]; }
    private static Object s20(int size) { return new double[(size - 16) / 8]; }
    private static Object s21(int size) { return new short[(size - 16) / 2]; }
    private static Object s22(int size) { return new float[(size - 16) / 4]; }
    private static Object s23(int size) { return new boolean[size - 16]; }
    private static Object s24(int size) { return new byte[size - 16]; }
    private static Object s25(int size) { return new int[(size - 16) / 4]; }
    private static Object s26(int size) { return new long[(size - 16) / 8]; }
    private static Object s27(int size) { return new char[(size - 16) / 2]; }
    private static Object s28(int size) { return new double[(size - 16) / 8]; }
    private static Object s29(int size) { return new short[(size - 16) / 2]; }
    private static Object s30(int size) { return new float[(size - 16) / 4]; }
    private static Object s31(int size) { return new boolean[size - 16]; }
    private static Object s32() { return new Of16(); }
    private static Object s33() { return new Of24(); }
    private static Object s34() { return new Of32(); }
    private static Object s35() { return new Of48(); }
    private static Object s36() { return new Of64(); }
    private static Object s37() { return new Of96(); }
    private static Object s38() { return new Of128(); }
    private static Object s39() { return new Of256(); }
    private static Object s40(int size) { return (size & 8) == 0 ? new byte[size - 16] : new int[(size - 16) / 4]; }
    private static Object s41(int size) { return (size & 8) == 0 ? new byte[size - 16] : new int[(size - 16) / 4]; }
    private static Object s42(int size) { return (size & 8) == 0 ? new byte[size - 16] : new int[(size - 16) / 4]; }
    private static Object s43(int size) { return (size & 8) == 0 ? new byte[size - 16] : new int[(size - 16) / 4]; }
    private static Object s44(int size) { return (size & 8) == 0 ? new byte[size - 16] : new int[(size - 16) / 4]; }
    private static Object s45(int size) { return (size & 8) == 0 ? new byte[size - 16] : new int[(size - 16) / 4]; }
    private static Object s46(int size) { return (size & 8) == 0 ? new byte[size - 16] : new int[(size - 16) / 4]; }
    private static Object s47(int size) { return (size & 8) == 0 ? new byte[size - 16] : new int[(size - 16) / 4]; }

    static final class Of16 { int head; }
    static final class Of24 { int head; long a; }
    static final class Of32 { int head; long a, b; }
    static final class Of48 { int head; long a, b, c, d; }
    static final class Of64 { int head; long a, b, c, d, e, f; }
    static final class Of96 { int head; long a, b, c, d, e, f, g, h, i, j; }
    static final class Of128 { int head; long a, b, c, d, e, f, g, h, i, j, k, l, m, n; }
    static final class Of256 {
        int head;
        long a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, ab, ac, ad;
    }
}
