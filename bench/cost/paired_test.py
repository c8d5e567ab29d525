"""Tests of paired.py; python3 paired_test.py."""
import math
import random
import unittest

import paired


class Paired(unittest.TestCase):
    def test_every_arm_runs_once_a_round_and_each_begins_in_turn(self):
        order = []
        found = paired.interleaved(["a", "b", "c"], 3, lambda arm: order.append(arm) or len(order))
        self.assertEqual("abcbcacab", "".join(order))
        self.assertEqual({"a": [1, 6, 8], "b": [2, 4, 9], "c": [3, 5, 7]}, found)

    def test_tails_of_the_signed_ranks_are_those_of_the_tables(self):
        # Wilcoxon's critical values for 2.5 % on one side; k is one more.
        for count, critical in {6: 0, 7: 2, 8: 3, 10: 8, 15: 25, 20: 52}.items():
            self.assertEqual(critical + 1, paired.signed_rank_tail(count, 0.025))

    def test_too_few_rounds_give_no_interval(self):
        self.assertEqual((-math.inf, 3, math.inf), paired.estimate([1, 3, 5]))

    def test_six_values_give_their_range_and_the_median_of_pairwise_means(self):
        self.assertEqual((1, 3.5, 6), paired.estimate([1, 2, 3, 4, 5, 6]))

    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        # 10 values: 95.1 % exactly. 4,000 series: sigma 0.34 %; 1.7 % is 5 sigma, a false alarm in 2 million.
        generator, held = random.Random(1), 0
        for _ in range(4000):
            low, _, high = paired.estimate([generator.gauss(3, 1) for _ in range(10)])
            held += low <= 3 <= high
        self.assertAlmostEqual(0.951, held / 4000, delta=0.017)


if __name__ == "__main__":
    unittest.main()
