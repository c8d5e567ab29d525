package workloads;

import java.util.SplittableRandom;

/** Chooses sites at random, so that each has its share of the bytes. */
final class Mix {
    private final int[] sites;
    private final int[] sizes;
    /** Sum of the chances of a site and those before it. */
    private final double[] upTo;

    Mix(int[] sites, int[] sizes, double[] shares) {
        this.sites = sites;
        this.sizes = sizes;
        upTo = new double[sites.length];
        double sum = 0;
        for (int i = 0; i < sites.length; i++) upTo[i] = sum += shares[i] / sizes[i];
        for (int i = 0; i < sites.length; i++) upTo[i] /= sum;
    }

    /** `count` sites from `first` on, of sizes between two bounds (uniform in the logarithm), the i-th with a share of 1 / (i + 1). */
    static Mix harmonic(int first, int count, double least, double most, SplittableRandom random) {
        int[] sites = new int[count];
        int[] sizes = new int[count];
        double[] shares = new double[count];
        for (int i = 0; i < count; i++) {
            sites[i] = first + i;
            sizes[i] = Sites.size(sites[i], logUniform(least, most, random));
            shares[i] = 1.0 / (i + 1);
        }
        return new Mix(sites, sizes, shares);
    }

    static double logUniform(double least, double most, SplittableRandom random) {
        return least * Math.pow(most / least, random.nextDouble());
    }

    void allocate(Lane lane, SplittableRandom random) {
        double at = random.nextDouble();
        int low = 0;
        int high = upTo.length - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (at < upTo[middle]) high = middle;
            else low = middle + 1;
        }
        lane.allocate(sites[low], sizes[low]);
    }

    /** Until `end`, at the lane's pace. */
    void allocateUntil(long end, Lane lane, SplittableRandom random) {
        while (lane.before(end)) {
            for (int i = 0; i < 8; i++) allocate(lane, random);
        }
    }
}
