#!/usr/bin/env python3
"""Runs the tool on example/, a small tree of ours in the shape of Halide's, and compares what it
says of each program."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import unittest

import times

HERE = pathlib.Path(__file__).resolve().parent
ARGUMENTS = argparse.Namespace()


def tool(*words):
    return subprocess.run([sys.executable, "-B", HERE / "compatibility.py", *map(str, words)],
                          capture_output=True, text=True)


def on_example(*words):
    return tool(HERE / "example", *words, "--polyhalite", ARGUMENTS.build, "--work", ARGUMENTS.work,
                "--cmake", ARGUMENTS.cmake, "--jobs", 2)


class OnTheExample(unittest.TestCase):
    def assert_rows(self, done, rows):
        """The rows of the table before the report of what is not well, times left out."""
        table = done.stdout.split("\nnot as Halide wants them:")[0]
        found = [re.sub(r" {2,}", "  ", re.sub(r" +[0-9.]+ s(  |$)", r"\1", line)).rstrip()
                 for line in table.splitlines() if line.strip() and "==>" not in line]
        if "\nnot as Halide wants them:" not in done.stdout:
            found = [line for line in found if not re.match(r"\S+: \d+ of", line)]
        self.assertEqual(sorted(found), sorted(rows), done.stderr)

    def test_correctness_programs_of_every_ending(self):
        done = on_example("correctness", "--timeout", 20)
        log = ARGUMENTS.work / "logs/correctness/correctness_refused_by_the_compiler.build.log"
        refused = str(HERE / "example/test/correctness/refused_by_the_compiler.cpp")
        # A row has room for the beginning of what the compiler says, wherever the sources lie.
        said = next(line for line in log.read_text().splitlines() if "error:" in line)
        self.assertTrue(said.startswith(refused + ":"), said)
        self.assert_rows(done, [
            "crashed  correctness/crashes  SIGABRT: no output",
            "ok  correctness/doubles",
            "timed out  correctness/hangs  no output",
            "left out  correctness/inner_parts",
            "not built  correctness/refused_by_the_compiler  " + said.strip()[:80].rstrip(),
            "wrong  correctness/silent  no output",
            "skipped  correctness/skips_itself  [SKIP] there is no such device.",
        ])
        self.assertIn("correctness: 2 of 6 well (1 ok, 1 skipped, 1 left out, 1 not built, 1 wrong, "
                      "1 crashed, 1 timed out)", done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(log), done.stdout)
        self.assertIn("a_name_that_nobody_declares", log.read_text())

    def test_errors_and_warnings(self):
        done = on_example("error", "warning", "--quiet")
        self.assertIn("no error        error/no_mistake", done.stdout)
        self.assertIn("error: 1 of 2 well (1 ok, 1 no error)", done.stdout)
        self.assertIn("warning: 1 of 1 well (1 ok)", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_applications(self):
        done = on_example("apps")
        self.assert_rows(done, [
            "ok  apps/half/half_process",
            "not configured  apps/refused/CMakeLists.txt  "
            "this application wants a library that nobody has",
        ])
        self.assertEqual(done.returncode, 1)

    def test_all_is_well(self):
        done = on_example("apps/half", "correctness", "--filter", "half|doubles")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


class Times(unittest.TestCase):
    def test_both_libraries_run_in_turn(self):
        rows = ARGUMENTS.work / "times.json"
        done = subprocess.run(
            [sys.executable, "-B", HERE / "times.py", HERE / "example", "apps", "--polyhalite",
             ARGUMENTS.build, "--halide", ARGUMENTS.build, "--work", ARGUMENTS.work / "times",
             "--cmake", ARGUMENTS.cmake, "--rounds", "2", "--json", rows],
            capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(json.loads(rows.read_text()), [
            {"program": "apps/half/half_process", "what": "Manually-tuned time", "ours_ms": 0.5,
             "halide_ms": 0.5, "ratio": 1.0}])
        self.assertIn("apps/refused is left out: it cannot be configured", done.stdout)

    def test_what_programs_print(self):
        self.assertEqual(times.figures(
            "Manually-tuned time: 3.25ms\nHalide (manual):\t40.5us\nSuccess!\n"
            "planar       box   float32  0.50  time: 17.870342 ms\n"
            "True inverse: 0.12 ns\n  Halide    dasum     128    0.009    28.19\n"
            "    c2c      0.250   34430.56      0.000        inf          0\n"
            "times: 0.022 0.00075 0.0005\n3 threads, 17.5 items\n"), {
                "Manually-tuned time": 3.25, "Halide (manual)": 0.0405,
                "planar box float32 0.50 time": 17.870342, "True inverse": 0.12e-6,
                "dasum 128": 0.009e-3, "c2c": 0.25e-3, "times": 0.5})


class OnWhatIsNotThere(unittest.TestCase):
    def test_no_such_suite(self):
        done = on_example("corectness")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, (
            f"compatibility: error: there is no suite 'corectness' in '{HERE / 'example'}'\n"
            "  why: no folder of that name has a CMakeLists.txt\n"
            "  fix: see --help for the suites' names\n"))

    def test_no_polyhalite(self):
        done = tool(HERE / "example", "error", "--polyhalite", HERE, "--work", ARGUMENTS.work)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"error: '{HERE}' has no Polyhalite\n", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
