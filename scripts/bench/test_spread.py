"""Tests of spread.py. Run by crates/cli/tests/it/benchmarks.rs, or: python3 -m unittest discover scripts/bench"""

import random
import unittest

from spread import Pair, cells, posterior


def simulated(processes: float, windows: float, seed: int) -> list[list[Pair]]:
    """Five runs of eight pairs with ten windows each, whose mean difference is 3 %."""
    draw = random.Random(seed).gauss

    def pair() -> Pair:
        apart = draw(0.03, 2**0.5 * processes)
        return Pair([draw(apart, windows) for _ in range(10)])

    return [[pair() for _ in range(8)] for _ in range(5)]


class Spread(unittest.TestCase):
    def test_noise_of_windows_is_no_difference_of_processes(self):
        for seed in range(5):
            mean, below = posterior(simulated(0.0, 0.04, seed))
            self.assertLess(mean, 0.007)
            self.assertLess(below, 0.011)

    def test_processes_that_differ_are_found(self):
        for seed in range(5):
            mean, below = posterior(simulated(0.02, 0.04, seed))
            self.assertTrue(0.014 < mean < 0.03, mean)
            self.assertGreater(below, mean)

    def test_row_has_counts_and_shares(self):
        # Means of 1 and 3 %, windows 1 % around them.
        own = [Pair([0.0, 0.01, 0.02]), Pair([0.02, 0.03, 0.04])]
        self.assertEqual(cells("go-grpc", [own])[:5], ["go-grpc", "2", "3", "1.41 %", "6.00"])


if __name__ == "__main__":
    unittest.main()
