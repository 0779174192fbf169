"""The programs of one folder of a Halide source tree: configured, built, listed."""

import dataclasses
import json
import pathlib
import re
import subprocess

PROJECT = pathlib.Path(__file__).resolve().parent / "project"
TESTS = ("correctness", "error", "warning", "generator", "performance")


@dataclasses.dataclass(frozen=True)
class Program:
    """What CTest would run. `path` is the executable's, of which `built` tells whether it is there;
    a program without one runs a tool, such as CMake."""
    name: str
    command: tuple
    path: pathlib.Path | None
    folder: pathlib.Path
    environment: dict
    will_fail: bool
    wanted: tuple
    unwanted: tuple
    skips: tuple
    left_out: bool
    alone: bool
    fixtures: frozenset
    needs: frozenset


@dataclasses.dataclass(frozen=True)
class Toolchain:
    """What all suites are built with."""
    cmake: str
    ctest: str
    prefix: pathlib.Path  # of the installed Polyhalite
    source: pathlib.Path  # Halide's
    work: pathlib.Path
    jobs: int
    timeout: int
    defines: tuple


def suite_folders(source, name):
    """The folders with a CMakeLists.txt that a suite's name stands for: "correctness", "tutorial",
    "apps" for every application, "apps/blur" for one. None where there is no such suite."""
    if name in TESTS:
        folders = [f"test/{name}"]
    elif name == "apps":
        folders = sorted(f"apps/{file.parent.name}" for file in source.glob("apps/*/CMakeLists.txt"))
    else:
        folders = [name.rstrip("/")] if name == "tutorial" or name.startswith("apps/") else []
    folders = [folder for folder in folders if (source / folder / "CMakeLists.txt").is_file()]
    return folders or None


class Suite:
    """One folder's programs, in a build folder of their own that later runs reuse."""

    def __init__(self, toolchain, folder):
        self.toolchain = toolchain
        self.folder = folder
        self.name = folder.removeprefix("test/")
        self.measures = self.name == "performance"
        self.build_folder = toolchain.work / "build" / self.name
        self.logs = toolchain.work / "logs" / self.name

    def configure(self):
        """Null, or the log of what CMake refused."""
        t = self.toolchain
        self.logs.mkdir(parents=True, exist_ok=True)
        log = self.logs / "configure.log"
        # Applications and what measures times are compiled as their users compile them.
        release = self.measures or self.folder.startswith("apps/")
        command = [t.cmake, "-G", "Ninja", "-S", PROJECT, "-B", self.build_folder, "-Wno-dev",
                   f"-DCMAKE_PREFIX_PATH={t.prefix}", f"-DHALIDE_SOURCE={t.source}",
                   f"-DHALIDE_FOLDER={self.folder}", f"-DPROGRAM_TIMEOUT={t.timeout}",
                   f"-DCMAKE_BUILD_TYPE={'Release' if release else ''}",
                   *(f"-D{define}" for define in t.defines)]
        return None if self._run(command, log) == 0 else log

    def programs(self):
        """What CTest knows. An executable's path stands in CTest's own files alone while it is not
        built."""
        paths = {}
        for file in self.build_folder.rglob("CTestTestfile.cmake"):
            # Names are quoted from CMake 4 on.
            paths.update(re.findall(r'^add_test\((?:\[=*\[|")(.*?)(?:\]=*\]|") "([^"]*)"',
                                    file.read_text(), re.MULTILINE))
        text = subprocess.run([self.toolchain.ctest, "--show-only=json-v1"], cwd=self.build_folder,
                              check=True, capture_output=True, text=True).stdout
        return [self._program(test, pathlib.Path(paths[test["name"]]))
                for test in json.loads(text)["tests"]]

    def build(self, programs):
        """Builds the programs' executables; the names of those that cannot be, with their logs."""
        wanted = [p for p in programs if p.path and not p.left_out]
        command = self._ninja(*(p.path for p in wanted))
        if not wanted or self._run(command, self.logs / "build.log") == 0:
            return {}
        failed = {}
        for program in wanted:
            # Executables of an earlier run may be there still.
            dry = subprocess.run([*self._ninja(program.path), "-n"], capture_output=True, text=True)
            if dry.returncode == 0 and "no work to do" in dry.stdout:
                continue
            log = self.logs / f"{program.name}.build.log"
            if self._run(self._ninja(program.path), log) != 0:
                failed[program.name] = log
        return failed

    def _ninja(self, *paths):
        return ["ninja", "-C", self.build_folder, "-k", "0", "-j", str(self.toolchain.jobs),
                *(path.relative_to(self.build_folder) for path in paths)]

    def _run(self, command, log):
        with open(log, "w") as out:
            return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.STDOUT).returncode

    def _program(self, test, path):
        properties = {p["name"]: p["value"] for p in test.get("properties", ())}

        def words(name):
            return tuple(properties.get(name, ()))

        return Program(
            name=test["name"],
            command=tuple(test.get("command") or [str(path)]),
            path=path if path.is_relative_to(self.build_folder) else None,
            folder=pathlib.Path(properties.get("WORKING_DIRECTORY", self.build_folder)),
            environment=dict(entry.split("=", 1) for entry in words("ENVIRONMENT")),
            will_fail=properties.get("WILL_FAIL", False),
            wanted=words("PASS_REGULAR_EXPRESSION"),
            unwanted=words("FAIL_REGULAR_EXPRESSION"),
            skips=words("SKIP_REGULAR_EXPRESSION"),
            left_out=properties.get("DISABLED", False),
            alone=properties.get("RUN_SERIAL", False),
            fixtures=frozenset(words("FIXTURES_SETUP")),
            needs=frozenset(words("FIXTURES_REQUIRED")))
