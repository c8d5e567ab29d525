"""The figures, against cases small enough to work out by hand and against seeded simulations."""

import itertools
import math
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import metrics

SECOND = 10**9


def truth_of(sites, bins, seconds):
    return {
        "start_ns": 0,
        "seconds": seconds,
        "jvm_bytes": sum(b for _, b, _ in sites),
        "sites": [{"site": s, "class": "C", "bytes": b, "objects": n} for s, b, n in sites],
        "bin_ns": SECOND // 10,
        "bins": bins,
    }


def sample(site, weight, time_ns=0, size=None):
    return metrics.Sample(time_ns, site, "C", weight, size)


class MeanDeviation(unittest.TestCase):
    def test_equals_the_sum_over_the_binomial_distribution(self):
        for n, p in itertools.product((1, 2, 7, 40), (0.01, 0.25, 0.5, 0.9)):
            direct = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) * abs(k / n - p) for k in range(n + 1))
            self.assertAlmostEqual(metrics.mean_deviation(n, p), direct, places=12)

    def test_is_zero_where_nothing_is_left_to_chance_and_the_share_without_samples(self):
        self.assertEqual(metrics.mean_deviation(10, 1.0), 0)
        self.assertEqual(metrics.mean_deviation(10, 0.0), 0)
        self.assertEqual(metrics.mean_deviation(0, 0.3), 0.3)

    def test_stands_a_million_samples(self):
        # Normal limit: sqrt(2 p q / (pi n)).
        self.assertAlmostEqual(metrics.mean_deviation(10**6, 0.2) / math.sqrt(2 * 0.16 / math.pi / 1e6), 1, places=4)


class PoissonEnds(unittest.TestCase):
    def test_are_those_of_the_printed_tables(self):
        for count, low, high in ((0, 0, 3.68888), (1, 0.02532, 5.57164), (9, 4.11537, 17.08480)):
            ends = metrics.poisson_ends(count)
            self.assertAlmostEqual(ends[0], low, places=4)
            self.assertAlmostEqual(ends[1], high, places=4)


class Counts(unittest.TestCase):
    def test_even_seconds_are_worth_the_full_rate(self):
        self.assertEqual(metrics.capped_count([5, 5, 5, 5], 150), 600)

    def test_a_second_with_all_bytes_is_worth_one_second(self):
        self.assertEqual(metrics.capped_count([0, 7, 0, 0], 150), 150)

    def test_equal_weights_count_in_full_and_a_dominating_one_counts_alone(self):
        self.assertAlmostEqual(metrics.effective_count([3.0] * 8), 8)
        self.assertAlmostEqual(metrics.effective_count([1e9] + [1.0] * 8), 1, places=6)
        self.assertEqual(metrics.effective_count([]), 0)

    def test_intervals_are_counted_from_the_start_given(self):
        times = [0, 4, 5, 6, 9, 10]
        self.assertEqual(metrics.most_in_interval(times, 0, 5), 3)  # 5 6 9
        self.assertEqual(metrics.most_in_interval(times, -1, 5), 3)  # 4 5 6
        self.assertEqual(metrics.most_in_interval(times, 1, 5), 3)  # 6 9 10
        self.assertEqual(metrics.most_in_interval([], 0, 5), 0)

    def test_a_sliding_stretch_does_not_hold_both_its_ends(self):
        self.assertEqual(metrics.most_in_sliding([0, 10], 10), 1)
        self.assertEqual(metrics.most_in_sliding([9, 0, 3, 11, 12], 10), 4)  # 3 9 11 12

    def test_bins_add_up_to_seconds_and_the_rest_is_one_more(self):
        self.assertEqual(metrics.per_second([1] * 25, 10), [10, 10, 5])


class Evaluate(unittest.TestCase):
    def test_a_small_run_worked_out_by_hand(self):
        truth = truth_of([("a", 300, 30), ("b", 100, 1)], [[40, 3]] * 10, 1.0)
        samples = [
            sample("a", 100, 0, 10),
            sample("a", 100, SECOND // 2, 10),
            sample("b", 200, SECOND - 1, 100),
            sample(None, 999, 2 * SECOND, 10),
        ]
        result = metrics.evaluate(truth, samples, -SECOND // 4, 4)
        self.assertEqual(result["n"], 3)
        self.assertEqual(result["n_cap"], 4)
        self.assertAlmostEqual(result["tv"], 0.25)  # 3/4, 1/4 against 1/2, 1/2
        self.assertAlmostEqual(result["tv_ideal"], 0.25 / metrics.mean_deviation(3, 0.25))
        self.assertAlmostEqual(result["xcap"], 0.25 / metrics.mean_deviation(4, 0.25))
        self.assertAlmostEqual(result["total"], 1)
        self.assertAlmostEqual(result["n_eff"], 400**2 / 60000)
        self.assertAlmostEqual(result["fill"], 3 / 4)
        self.assertEqual(result["most_in_interval"], 2)
        self.assertEqual(result["most_in_sliding"], 3)
        self.assertAlmostEqual(result["objects"], 22 / 31)
        self.assertNotIn("covered", result)

    def test_intervals_are_judged_by_method_where_it_made_enough(self):
        truth = truth_of([("a", 3000, 30), ("a", 1000, 10), ("b", 6000, 60), ("c", 30, 3), ("d", 10, 1)], [[10040, 104]], 0.1)
        truth["sites"][1]["class"] = "D"
        held = metrics.Row(9, 4000, {"bytes": (4000, 4000), "share": (0.3, 0.5), "objects": (39, 41), "mean_size": (99.9, 100.1)})
        missed = metrics.Row(10, 6020, {"bytes": (6001, 7000), "share": (0.5, 0.59), "objects": (0, 59), "mean_size": (101, 200)})
        unseen = {"bytes": (0, 30), "share": (0, 0.001), "objects": (0, 3), "mean_size": (0, None)}
        told = metrics.Told({"a": held, "b": missed, "x": missed}, {}, unseen, (10000, 10100), 10101)
        result = metrics.evaluate(truth, [sample("a", 1.0, 0, 1)], 0, 150, told)
        self.assertEqual(result["covered"], {"bytes": [2, 3], "share": [1, 3], "objects": [2, 3], "mean_size": [1, 2], "few": [1, 1], "more": [0, 1],
                                             "all": [3, 4], "total": [0, 1]})

    def test_a_tools_rows_are_judged_by_site_and_by_class(self):
        truth = truth_of([("a", 300, 30), ("b", 100, 1)], [[40, 3]] * 10, 1.0)
        truth["sites"][1]["class"] = "D"
        ends = {"bytes": (0, 160)}
        told = metrics.Told({"a": metrics.Row(8, 160, ends), "b": metrics.Row(12, 160, ends), "jvm": metrics.Row(1, 999, ends)},
                            {"C": metrics.Row(3, 60, ends), "D": metrics.Row(1, 20, ends)}, ends, (0, 1), 1)
        result = metrics.evaluate(truth, [sample("a", 320)], 0, 4, told)
        self.assertAlmostEqual(result["xcap"], 0.25 / metrics.mean_deviation(4, 0.25))  # 3/4, 1/4 against 1/2, 1/2
        self.assertAlmostEqual(result["xcap_class"], 0)
        self.assertAlmostEqual(result["total"], 0.8)
        self.assertEqual(result["points"], 20)
        low, high = metrics.poisson_ends(8)
        self.assertAlmostEqual(result["widths"][0], 160 / ((high - low) * 20))
        self.assertEqual(result["widths"][1], 1)

    def test_where_all_is_of_one_class_there_is_no_error_to_speak_of(self):
        self.assertIsNone(metrics.error_over_ideal({"C": 10}, {"C": 9.0}, 150))

    def test_no_sample_at_all_is_as_far_off_as_it_can_be_told(self):
        result = metrics.evaluate(truth_of([("a", 3, 1), ("b", 1, 1)], [[4, 2]], 0.1), [], 0, 150)
        self.assertEqual((result["n"], result["total"], result["n_eff"]), (0, 0, 0))
        self.assertAlmostEqual(result["tv_ideal"], 1)

    def test_ideal_samples_have_a_ratio_of_one(self):
        # 400 runs of 150 samples. A ratio has a standard deviation below 0.5, so the mean one below 0.025: 0.15 is 6 of them, a false
        # alarm below 1e-8 (and the seed is fixed).
        generator = random.Random(20240229)
        truth = truth_of([(str(i), 1000 // (i + 1), 10) for i in range(8)], [[1, 1]] * 10, 1.0)
        names = [s["site"] for s in truth["sites"]]
        sizes = [s["bytes"] for s in truth["sites"]]
        ratios = []
        for _ in range(400):
            result = metrics.evaluate(truth, [sample(s, 1.0) for s in generator.choices(names, sizes, k=150)], 0, 150)
            self.assertAlmostEqual(result["xcap"], result["tv_ideal"])
            ratios.append(result["xcap"])
        self.assertLess(abs(sum(ratios) / len(ratios) - 1), 0.15)


class Summaries(unittest.TestCase):
    def test_quantiles_are_those_of_the_printed_tables(self):
        for degrees, p, expected in ((1, 0.95, 6.3138), (4, 0.95, 2.1318), (7, 0.95, 1.8946), (4, 0.975, 2.7764), (30, 0.975, 2.0423)):
            self.assertAlmostEqual(metrics.student_quantile(p, degrees), expected, places=3)

    def test_mean_error_and_bound(self):
        mean, error, bound = metrics.summarise([1.0, 2.0, 3.0])
        self.assertAlmostEqual(mean, 2)
        self.assertAlmostEqual(error, 1 / math.sqrt(3))
        self.assertAlmostEqual(bound, 2 + 2.91999 / math.sqrt(3), places=3)
        self.assertEqual(metrics.summarise([4.0]), (4.0, None, None))


if __name__ == "__main__":
    unittest.main()
