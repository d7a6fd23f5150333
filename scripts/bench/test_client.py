"""Tests of client.py. Run by crates/cli/tests/it/benchmarks.rs, or: python3 -m unittest discover scripts/bench"""

import os
import tempfile
import unittest
from pathlib import Path

from client import command_lines, order, rows
from load_generators import FILES, ROWS, TEXT, Counts, counts
from processes import cpus, run, server
from samples import Sample, lines, render, thousands

HERE = Path(__file__).parent
BY_NAME = {row.name: row for row in ROWS}


def captured(name: str) -> str:
    return (HERE / "captured" / name).read_text()


class CommandLines(unittest.TestCase):
    def test_documentation_shows_command_lines(self):
        page = (HERE.parents[1] / "docs/performance.md").read_text().replace(" \\\n    ", " ").splitlines()
        shown = [BY_NAME["null-50x20"], BY_NAME["tonic-50x20"], BY_NAME["json-50x1"]]
        for line in command_lines(shown, 2):
            self.assertIn(line.replace(TEXT, "aaa..."), page)

    def test_each_client_of_a_row_has_a_command_line(self):
        self.assertEqual([line.replace(TEXT, "aaa...") for line in command_lines(ROWS, 2)], captured("commands.txt").splitlines())
        printed = command_lines([BY_NAME["json-tls-20x1-short-full"]], 3)
        self.assertEqual([line.split()[0] for line in printed], ["rpcbench-bench", "rpcbench"])
        self.assertIn(" --cacert FOLDER/cert.pem --short --no-resumption -z 3", printed[0])
        self.assertIn(" --tls-resume off -z 3s ", printed[1])

    def test_message_is_as_long_as_its_prefix_says(self):
        self.assertEqual(len(FILES["request"]), 5 + 102)
        self.assertEqual(FILES["request"][:6], bytes([0, 0, 0, 0, 102, 0x0A]))
        self.assertEqual(FILES["empty-request"], bytes(5))


class Output(unittest.TestCase):
    def test_counts_of_captured_outputs(self):
        expected = {
            ("h2load", "h2load.txt"): Counts(291_720, 0),
            ("h2load", "h2load-refused.txt"): Counts(0, 0),
            ("ghz", "ghz.txt"): Counts(24_933, 0),
            ("ghz", "ghz-errors.txt"): Counts(11_386, 1_917),
            ("wrk", "wrk.txt"): Counts(110_862, 0),
            ("wrk", "wrk-errors.txt"): Counts(79_031 - 790, 790),
            ("wrk", "wrk-reset.txt"): Counts(1_000, 14_521 + 11_866),
            ("rpcbench", "rpcbench.json"): Counts(318_140, 0),
        }
        for (client, name), found in expected.items():
            self.assertEqual(counts(client, captured(name)), found, name)

    def test_failed_calls_are_counted(self):
        output = captured("h2load.txt").replace("291720 succeeded, 0 failed", "291700 succeeded, 20 failed")
        self.assertEqual(counts("h2load", output), Counts(291_700, 20))
        self.assertEqual(counts("floor", '{"calls":7,"ok":5}'), Counts(5, 2))

    def test_output_without_calls_is_quoted(self):
        with self.assertRaisesRegex(ValueError, "^ghz printed no status code distribution: no such method$"):
            counts("ghz", "no such method\n")
        for client, output in [("h2load", ""), ("wrk", ""), ("rpcbench", '{"calls":7}'), ("floor", "[]")]:
            with self.assertRaisesRegex(ValueError, f"^{client} printed no "):
                counts(client, output)


class Order(unittest.TestCase):
    steps = [(row, list(row.bars)) for row in ROWS]

    def test_every_round_has_every_client_of_every_row_once(self):
        steps = list(order(self.steps, 5, 1))
        expected = [(number, row, sorted(clients)) for number in range(1, 6) for row, clients in self.steps]
        found = []
        for number, row, clients in expected:
            ran, steps = steps[: len(clients)], steps[len(clients) :]
            self.assertEqual({(number, row)}, {step[:2] for step in ran})
            found.append((number, row, sorted(step[2] for step in ran)))
        self.assertEqual((found, steps), (expected, []))

    def test_order_changes_with_round_and_seed_only(self):
        def firsts(seed: int) -> list[str]:
            return [client for _, _, client in order(self.steps[:1], 12, seed)][::3]

        self.assertEqual(firsts(1), firsts(1))
        self.assertNotEqual(firsts(1), firsts(2))
        self.assertEqual(set(firsts(1)), set(ROWS[0].bars))

    def test_rows_are_chosen_by_unique_names(self):
        self.assertEqual(len(BY_NAME), len(ROWS))
        self.assertEqual(rows("tonic-50x20,json-50x1"), [ROWS[0], ROWS[6]])


class Figures(unittest.TestCase):
    def lines(self, row: int, **samples: list[Sample]) -> dict:
        return {line.client: line for line in lines({(ROWS[row], client): own for client, own in samples.items()}, 2)}

    def test_ratios_are_of_the_same_round(self):
        found = self.lines(
            0,
            h2load=[Sample(200, 1), Sample(100, 2), Sample(100, 1)],
            rpcbench=[Sample(800, 1), Sample(300, 2), Sample(500, 0.5)],
        )
        self.assertEqual(found["h2load"].ratio.median, 4)
        self.assertEqual(found["h2load"].calls_per_s.median, 50)
        self.assertEqual(found["h2load"].cells()[4:8], ["0k (0k to 0k)", "0k", "50 %", "4.0x (3.5x to 7.0x)"])
        self.assertTrue(found["h2load"].is_met)
        self.assertIsNone(found["rpcbench"].ratio)

    def test_other_build_may_be_one_percent_better(self):
        def baseline(calls: list[int]):
            own = [Sample(number, 1) for number in calls]
            return self.lines(0, baseline=[Sample(1000, 1)] * 5, rpcbench=own)["baseline"]

        self.assertEqual(baseline([990, 980, 1100, 995, 900]).ratio.median, 0.99)
        self.assertTrue(baseline([990, 980, 1100, 995, 900]).is_met)
        self.assertFalse(baseline([989] * 5).is_met)

    def test_failed_call_voids_the_line(self):
        own = [Sample(800, 1)] * 2
        found = self.lines(0, ghz=[Sample(10, 1), Sample.of(Counts(7, 3), 1)], rpcbench=own)
        self.assertEqual(found["ghz"].problem, "round 2: 3 of 10 calls failed")
        self.assertFalse(found["ghz"].is_met or found["rpcbench"].problem)

    def test_without_rpcbench_no_bar_is_met(self):
        h2load = self.lines(0, rpcbench=[Sample.of(Counts(0, 0), 1)], h2load=[Sample(200, 1)])["h2load"]
        self.assertIsNone(h2load.ratio)
        self.assertFalse(h2load.is_met or h2load.problem)

    def test_rpcbench_has_a_bar_for_its_rate(self):
        for calls, is_met in [(4_000_000, True), (3_999_998, False)]:
            self.assertEqual(self.lines(1, rpcbench=[Sample(calls, 1)])["rpcbench"].is_met, is_met)

    def test_thousands_have_a_comma_from_a_million_on(self):
        figures = [999, 12_400, 999_499, 1_000_000, 12_345_678]
        self.assertEqual([thousands(figure) for figure in figures], ["1k", "12k", "999k", "1,000k", "12,346k"])

    def test_table_and_verdict(self):
        def sample(calls_per_cpu_s: float) -> list[Sample]:
            return [Sample(calls_per_cpu_s * 1.8 * factor, 1.8) for factor in (0.9, 1, 1.2)]

        samples = {
            (ROWS[1], "h2load"): [Sample(problem="3 of 10 calls failed")],
            (ROWS[1], "floor"): sample(3.5e6),
            (ROWS[1], "rpcbench"): sample(2_449_900.0),
            (ROWS[6], "wrk"): sample(120_000.0),
        }
        found = lines(samples, 2)
        self.assertEqual(render(["rpcbench 0.1.0"], found, True), """\
- rpcbench 0.1.0

| server      | protocol | load  | client   |    calls per client CPU-s | calls/s | CPU used |   rpcbench / client |      bar | met |
|-------------|----------|-------|----------|--------------------------:|--------:|---------:|--------------------:|---------:|-----|
| null server | grpc     | 50x20 | h2load   |                      void |         |          |                     |     5.0x | no  |
| null server | grpc     | 50x20 | floor    | 3,500k (3,325k to 3,850k) |  3,150k |     90 % | 70 % (70 % to 70 %) |     70 % | no  |
| null server | grpc     | 50x20 | rpcbench | 2,450k (2,327k to 2,695k) |  2,205k |     90 % |                     | 2,000k/s | yes |
| null server | json     | 50x1  | wrk      |       120k (114k to 132k) |    108k |     90 % |                     |     1.4x | no  |

1 of 4 bars met
- void: null-50x20 h2load: round 1: 3 of 10 calls failed
""")
        text = render(["rpcbench 0.1.0"], found, False).splitlines()
        self.assertEqual(text[3], "null server  grpc      50x20  h2load                         void" + " " * 46 + "5.0x  no")


class Processes(unittest.TestCase):
    def test_client_is_charged_for_its_own_work(self):
        output, idle = run(["sh", "-c", "echo out; echo err >&2"])
        self.assertEqual(output, "out\n")
        _, busy = run(["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
        self.assertGreater(busy, 5 * idle)

    def test_failed_client_is_quoted(self):
        with self.assertRaisesRegex(RuntimeError, "^sh ended with exit code 3: two$"):
            run(["sh", "-c", "echo one >&2; echo two >&2; exit 3"])
        with self.assertRaisesRegex(RuntimeError, "^sh ended with SIGKILL: no output$"):
            run(["sh", "-c", "kill -9 $$"])
        with self.assertRaisesRegex(OSError, "/nowhere"):
            run(["/nowhere"])

    def test_ended_server_is_reported_and_had_its_cpu(self):
        cpu = cpus()[1]
        script = "grep Cpus_allowed_list /proc/self/status"
        with tempfile.TemporaryDirectory() as logs:
            with self.assertRaisesRegex(RuntimeError, rf"^sh ended with exit code 0: Cpus_allowed_list:\s{cpu}$"):
                with server(["sh", "-c", script], cpu, Path(logs), {}):
                    pass

    def test_servers_have_another_cpu_than_clients(self):
        client, for_servers = cpus()
        allowed = os.sched_getaffinity(0)
        self.assertTrue({client, for_servers} <= allowed)
        self.assertEqual(client != for_servers, len(allowed) > 1)


if __name__ == "__main__":
    unittest.main()
