#!/usr/bin/env python3
"""Builds Halide's public programs, unchanged, against Polyhalite, runs them, and tells which end as
Halide wants them. See README.md."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import judge
import suite as suites

EPILOGUE = """suites: correctness, error, warning, generator, performance, tutorial, apps (every
application) and apps/NAME (one); by default all but performance. The exit code is 0 where every
program that was not left out ended as Halide wants it, 1 where one did not, 2 where nothing ran."""


def fail(what, why, fix):
    print(f"compatibility: error: {what}\n  why: {why}\n  fix: {fix}", file=sys.stderr)
    sys.exit(2)


def parse_arguments(words):
    parser = argparse.ArgumentParser(prog="compatibility", description=__doc__, epilog=EPILOGUE)
    parser.add_argument("source", type=pathlib.Path, help="a Halide source tree")
    parser.add_argument("suites", nargs="*", metavar="SUITE",
                        default=["correctness", "error", "warning", "generator", "tutorial", "apps"])
    parser.add_argument("--polyhalite", type=pathlib.Path, required=True, metavar="FOLDER",
                        help="a build folder of Polyhalite, or the prefix it is installed at")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("compatibility"),
                        metavar="FOLDER", help="for builds and logs; later runs build what changed")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--timeout", type=int, default=300, metavar="SECONDS",
                        help="for each program (default: %(default)s)")
    parser.add_argument("--filter", type=re.compile, default=re.compile(""), metavar="REGEX",
                        help="only programs whose name has a match")
    parser.add_argument("--cmake", default="cmake", help="which cmake; its ctest stands beside it")
    parser.add_argument("-D", dest="defines", action="append", default=[], metavar="NAME=VALUE",
                        help="for CMake, as in -D HANNK_BUILD_TFLITE=OFF")
    parser.add_argument("--quiet", action="store_true", help="no line for what is well")
    return parser.parse_intermixed_args(words)


def find_cmake(name):
    cmake = shutil.which(name)
    if not cmake or not shutil.which("ninja"):
        fail("cmake or ninja is missing", "Halide's lists of programs are CMake's",
             "install both, or name cmake by --cmake")
    return cmake


def chosen_folders(source, names):
    """The folders of the suites that were asked for."""
    folders = []
    for name in names:
        found = suites.suite_folders(source, name)
        if not found:
            fail(f"there is no suite '{name}' in '{source}'",
                 "no folder of that name has a CMakeLists.txt", "see --help for the suites' names")
        folders += found
    return folders


def installed(polyhalite, cmake, work):
    """The prefix; a build folder is installed to the work folder."""
    if not (polyhalite / "CMakeCache.txt").is_file():
        if not any(polyhalite.glob("lib*/**/cmake/Halide/HalideConfig.cmake")):
            fail(f"'{polyhalite}' has no Polyhalite",
                 "there is neither CMakeCache.txt, as in a build folder, nor the CMake package Halide, "
                 "as in an installation", "build with ./dev build and give build/")
        return polyhalite.resolve()
    prefix = work / "polyhalite"
    done = subprocess.run([cmake, "--install", polyhalite, "--prefix", prefix], capture_output=True,
                          text=True)
    if done.returncode:
        fail(f"'{polyhalite}' cannot be installed to '{prefix}'", done.stderr.strip(),
             "build all of it first: ./dev build")
    return prefix


def run(program, log, timeout):
    """The program's ending; its output is in the log."""
    with open(log, "w") as out:
        process = subprocess.Popen(
            program.command, cwd=program.folder, env={**os.environ, **program.environment},
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return judge.Ending(code, log.read_text(errors="replace"))


class Report:
    """Prints a row for each program, and at the end what is not well, and counts."""

    def __init__(self, quiet):
        self.quiet = quiet
        self.counts = collections.defaultdict(collections.Counter)
        self.bad = []

    def add(self, suite, name, verdict, detail, log=None, seconds=None):
        self.counts[suite][verdict] += 1
        row = f"{verdict:15} {suite}/{name.removeprefix(suite + '_')}"
        if verdict not in judge.GOOD:
            self.bad.append(f"{row}\n{'':15} {detail[:160]}\n{'':15} {log}")
        elif self.quiet:
            return
        print(f"{row:60} {'' if seconds is None else f'{seconds:7.1f} s'}  {detail[:80]}".rstrip(),
              flush=True)

    def close(self):
        """Whether all is well."""
        if self.bad:
            print("\nnot as Halide wants them:\n" + "\n".join(self.bad))
        print()
        for suite, counts in self.counts.items():
            judged = sum(n for verdict, n in counts.items() if verdict != judge.LEFT_OUT)
            good = sum(counts[verdict] for verdict in judge.GOOD if verdict != judge.LEFT_OUT)
            each = ", ".join(f"{counts[v]} {v}" for v in judge.VERDICTS if counts[v])
            print(f"{suite}: {good} of {judged} well ({each})")
        return not self.bad


def error_line(log):
    """What a build's log complains of first."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    for line, after in zip(lines, lines[1:] + [""]):
        if line.startswith("CMake Error"):
            return after
        if re.search(r"(?i)\berror:|undefined reference", line):
            return line
    return lines[-1] if lines else ""


def run_suite(suite, toolchain, wanted, report):
    refused = suite.configure()
    if refused:
        report.add(suite.name, "CMakeLists.txt", judge.NOT_CONFIGURED, error_line(refused), refused)
        return
    programs = [p for p in suite.programs() if wanted.search(p.name)]
    print(f"==> {suite.name}: {len(programs)} programs", flush=True)
    not_built = suite.build(programs)
    # Their commands have arguments only now.
    programs = [p for p in suite.programs() if wanted.search(p.name)]

    def take(program):
        log = suite.logs / f"{program.name}.log"
        if program.left_out:
            report.add(suite.name, program.name, judge.LEFT_OUT, "")
        elif program.name in not_built:
            log = not_built[program.name]
            report.add(suite.name, program.name, judge.NOT_BUILT, error_line(log), log)
        else:
            began = time.monotonic()
            ending = run(program, log, toolchain.timeout)
            verdict, detail = judge.judge(
                ending, program.will_fail, program.wanted, program.unwanted, program.skips,
                suite.measures)
            report.add(suite.name, program.name, verdict, detail, log, time.monotonic() - began)

    # What others need comes first; what wants the machine for itself comes last, one by one.
    alone = [p for p in programs if p.alone]
    others = [p for p in programs if not p.alone]
    for group, jobs in (([p for p in others if p.fixtures], toolchain.jobs),
                        ([p for p in others if not p.fixtures], toolchain.jobs), (alone, 1)):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for _ in pool.map(take, group):
                pass


def main(words):
    arguments = parse_arguments(words)
    source, work = arguments.source.resolve(), arguments.work.resolve()
    folders = chosen_folders(source, arguments.suites)
    cmake = find_cmake(arguments.cmake)
    work.mkdir(parents=True, exist_ok=True)
    toolchain = suites.Toolchain(
        cmake, str(pathlib.Path(cmake).with_name("ctest")),
        installed(arguments.polyhalite, cmake, work), source, work, arguments.jobs,
        arguments.timeout, tuple(arguments.defines))
    report = Report(arguments.quiet)
    for folder in folders:
        run_suite(suites.Suite(toolchain, folder), toolchain, arguments.filter, report)
    return 0 if report.close() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
