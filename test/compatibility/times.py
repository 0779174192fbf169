#!/usr/bin/env python3
"""Builds Halide's public programs, unchanged, against Polyhalite and against Halide, runs both in
turn, and compares the times that they print. See README.md."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

import compatibility
import suite as suites

MILLISECONDS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}
# "Manually-tuned time: 3.2ms", "pow: 1.65 ns per pixel"
TIME = re.compile(r"(?P<what>.*?)[\s:]*\b(?P<time>\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*(?P<unit>ms|us|ns|s)\b")
# Rows of tables without units: linear_algebra's (microseconds), fft's (microseconds), and blur's
# (seconds, of which the last is the pipeline's).
ROWS = (
    (re.compile(r"Halide\s+(?P<what>\w+\s+\d+)\s+(?P<time>[\d.e-]+)\s+[\d.e+-]+$"), 1e-3),
    (re.compile(r"(?P<what>c2c|r2c|c2r)\s+(?P<time>[\d.]+)\s"), 1e-3),
    (re.compile(r"(?P<what>times): [\d.]+ [\d.]+ (?P<time>[\d.]+)$"), 1e3),
)


@dataclasses.dataclass(frozen=True)
class Row:
    program: str
    what: str
    ours_ms: float
    halide_ms: float

    @property
    def ratio(self):
        return self.halide_ms / self.ours_ms


def figures(text):
    """The times that a program's output tells of, in milliseconds, by what they are of."""
    found = {}
    for line in map(str.strip, text.splitlines()):
        for pattern, unit in ROWS:
            if row := pattern.match(line):
                found[re.sub(r"\s+", " ", row["what"])] = float(row["time"]) * unit
                break
        else:
            for row in TIME.finditer(line):
                what = re.sub(r"\s+", " ", row["what"]).strip(" :=,.") or "time"
                found[what] = float(row["time"]) * MILLISECONDS[row["unit"]]
    return found


def output(program, threads, timeout):
    """What the program prints; empty where it does not end well."""
    number = str(threads)
    environment = {**os.environ, **program.environment, "HL_NUM_THREADS": number,
                   "PH_NUM_THREADS": number}
    try:
        done = subprocess.run(program.command, cwd=program.folder, env=environment, timeout=timeout,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr if done.returncode == 0 else ""


def built(folder, toolchain, wanted):
    """The folder's programs that could be built, by name."""
    suite = suites.Suite(toolchain, folder)
    if log := suite.configure():
        print(f"{folder} is left out: it cannot be configured, see {log}", flush=True)
        return {}
    def chosen():
        return [p for p in suite.programs() if wanted.search(p.name) and not p.left_out]
    failed = suite.build(chosen())
    for name, log in failed.items():
        print(f"{folder}/{name} is left out: it cannot be built, see {log}", flush=True)
    # What others need makes their input, once.
    programs = {p.name: p for p in chosen() if p.name not in failed}
    for program in programs.values():
        if program.fixtures:
            output(program, 1, toolchain.timeout)
    return programs


def compare(folder, toolchains, arguments):
    ours, halides = (built(folder, t, arguments.filter) for t in toolchains)
    rows = []
    for name in ours.keys() & halides.keys():
        least = ({}, {})
        for _ in range(arguments.rounds):
            for times, program in zip(least, (ours[name], halides[name])):
                text = output(program, arguments.threads, arguments.timeout)
                for what, time in figures(text).items():
                    times[what] = min(time, times.get(what, time))
        for what in least[0].keys() & least[1].keys():
            if min(least[0][what], least[1][what]) > 0:
                rows.append(Row(f"{folder}/{name}", what, least[0][what], least[1][what]))
    rows.sort(key=lambda row: (row.program, row.what))
    for row in rows:
        print(f"{row.program:44} {row.what[:36]:36} {row.ours_ms:11.5f} {row.halide_ms:11.5f}"
              f" {row.ratio:7.2f}", flush=True)
    return rows


def parse_arguments(words):
    parser = argparse.ArgumentParser(prog="times", description=__doc__)
    parser.add_argument("source", type=pathlib.Path, help="a Halide source tree")
    parser.add_argument("suites", nargs="*", metavar="SUITE", default=["apps"],
                        help="apps, apps/NAME, performance (default: apps)")
    parser.add_argument("--polyhalite", type=pathlib.Path, required=True, metavar="FOLDER",
                        help="a build folder of Polyhalite, or the prefix it is installed at")
    parser.add_argument("--halide", type=pathlib.Path, required=True, metavar="PREFIX",
                        help="where Halide is installed: include/, and lib/cmake/Halide in it")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("times"),
                        metavar="FOLDER", help="for builds and logs; later runs build what changed")
    parser.add_argument("--rounds", type=int, default=3, metavar="N",
                        help="runs of each, of which the least time counts (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--filter", type=re.compile, default=re.compile(""), metavar="REGEX",
                        help="only programs whose name has a match")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--timeout", type=int, default=300, metavar="SECONDS")
    parser.add_argument("--cmake", default="cmake", help="which cmake; its ctest stands beside it")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="the rows, for programs")
    return parser.parse_intermixed_args(words)


def main(words):
    arguments = parse_arguments(words)
    source, work = arguments.source.resolve(), arguments.work.resolve()
    toolchains = []
    for name, library in (("ours", arguments.polyhalite), ("halide", arguments.halide)):
        place = work / name
        place.mkdir(parents=True, exist_ok=True)
        cmake = compatibility.find_cmake(arguments.cmake)
        toolchains.append(suites.Toolchain(
            cmake, str(pathlib.Path(cmake).with_name("ctest")),
            compatibility.installed(library, cmake, place), source, place, arguments.jobs,
            arguments.timeout, ()))
    print(f"milliseconds, least of {arguments.rounds} rounds in turn, {arguments.threads} "
          f"thread(s); ratio: Halide's time by ours\n{'program':44} {'time':36} {'ours':>11} "
          f"{'Halide':>11} {'ratio':>7}", flush=True)
    rows = []
    for folder in compatibility.chosen_folders(source, arguments.suites):
        rows += compare(folder, toolchains, arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(
            [{**dataclasses.asdict(row), "ratio": row.ratio} for row in rows], indent=1))
    return 0 if rows else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
