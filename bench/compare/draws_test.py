"""Tests of draws.py: seeded, so that each outcome is certain."""
import random
import unittest

from draws import draw, interval, wilson


class DrawsTest(unittest.TestCase):
    def test_sides_are_disjoint_and_repeat_by_seed(self):
        runs = [f"run-{i}" for i in range(12)]
        pairs = draw(runs, 3, 40, seed=7)
        self.assertEqual(len(pairs), 40)
        self.assertEqual(pairs, draw(runs, 3, 40, seed=7))
        self.assertNotEqual(pairs, draw(runs, 3, 40, seed=8))
        for before, after in pairs:
            self.assertEqual(len(set(before) | set(after)), 6)

    def test_no_comparison_is_drawn_twice(self):
        pairs = draw(["a", "b", "c"], 1, 10, seed=1)
        self.assertEqual(len(pairs), 3)
        self.assertEqual(draw(["a"], 1, 10, seed=1), [])

    def test_reuse_widens_the_interval(self):
        # One of ten runs is odd: each comparison with it names something. 200 comparisons are not 200 trials.
        runs = list(range(10))
        generator = random.Random(3)
        outcomes = []
        for _ in range(200):
            members = tuple(generator.sample(runs, 2))
            outcomes.append((members, 0 in members))
        rate, low, high = interval(outcomes)
        self.assertAlmostEqual(rate, 0.2, delta=0.06)
        binomial = wilson(rate, 200)
        self.assertGreater(high - low, 2 * (binomial[1] - binomial[0]))

    def test_none_named_is_still_uncertain(self):
        rate, low, high = interval([((i, i + 1), False) for i in range(0, 20, 2)])
        self.assertEqual((rate, low), (0, 0))
        self.assertGreater(high, 0.2)


if __name__ == "__main__":
    unittest.main()
