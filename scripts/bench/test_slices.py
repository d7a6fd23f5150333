"""Tests of slices.py. Run by crates/cli/tests/it/benchmarks.rs, or: python3 -m unittest discover scripts/bench"""

import math
import unittest

from slices import FIGURES, Window, bias, deviation_in_rounds, noise, start, steps


def windows(kinds: list[tuple[int, int]], logarithms: list[float]) -> list[Window]:
    numbered = enumerate(zip(kinds, logarithms))
    return [Window(at, kind, sum(kind) / 1e3, [value] * len(FIGURES), []) for at, (kind, value) in numbered]


class Tables(unittest.TestCase):
    def test_what_processes_share_in_a_round_is_no_noise(self):
        shared = [0.0, 0.5, -0.25]
        self.assertEqual(deviation_in_rounds([shared, [1 + value for value in shared]]), 0.0)
        rests = [[0.01, 0.0, -0.01], [-0.01, 0.0, 0.01]]
        self.assertAlmostEqual(deviation_in_rounds(rests), math.sqrt(4e-4 / 2))

    def test_short_windows_are_compared_with_the_long_ones_around_them(self):
        kinds = [(100, 400), (10, 40)] * 4
        # Short windows are 3 % faster, for one process 5 %; the machine drifts.
        values = [0.1 * at for at in range(8)]
        one = [value + (0.05 if at % 2 else 0) for at, value in enumerate(values)]
        other = [value + (0.01 if at % 2 else 0) for at, value in enumerate(values)]
        measured = {("a", 1): windows(kinds, one), ("b", 1): windows(kinds, other)}
        cells = [row[:3] for row in bias(measured)]
        self.assertEqual(
            cells, [["all servers", "3", "+3.0 ± 0.0"], ["a", "3", "+2.0 ± 0.0"], ["b", "3", "-2.0 ± 0.0"]]
        )

    def test_noise_is_that_of_each_length(self):
        kinds = [(100, 400), (10, 40)] * 3
        one = [0.0, 0.01, 0.0, 0.0, 0.0, -0.01]
        measured = {("a", 1): windows(kinds, one), ("a", 2): windows(kinds, [-value for value in one])}
        self.assertEqual(
            noise(measured),
            [["10 + 40 ms", "3", "0.05 s", "1.4 %", "0.04 %"], ["100 + 400 ms", "3", "0.50 s", "0.0 %", "0.00 %"]],
        )

    def test_start_is_relative_to_the_rest_of_the_slice(self):
        # Two slices of 10 + 790 ms: the eighth step crosses from one to the other.
        series = [{"ok": calls - 7, "carried_in": 7} for calls in [80, 90, 100, *[100] * 4, 7, 120, 90, 100, *[100] * 4]]
        found = steps(series, 10, 790)
        self.assertEqual(found[:2] + found[7:9], [(60, 80), (160, 90), (70, 120), (170, 90)])
        self.assertEqual(len(found), 14)
        cells = [start(first, [found] * 3) for first in (0, 100, 200)]
        self.assertEqual(cells, ["+0.0 ± 0.0", "-10.0 ± 0.0", "+0.0 ± 0.0"])
        self.assertEqual(start(0, [found] * 2), "-")


if __name__ == "__main__":
    unittest.main()
