#!/usr/bin/env python3
"""Turns the examples of README.md into a project that can be built and tested.

  extract_examples.py README.md FOLDER [PYTHON]

A code block that follows a line `<!-- file: NAME -->` becomes FOLDER/NAME. CMakeLists.txt must be
one of them; each executable that it adds is also made a test, and with an interpreter PYTHON each
file NAME.py.
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"^<!-- file: (\S+) -->\n+```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXECUTABLE = re.compile(r"^add_executable\((\w+)", re.MULTILINE)


def examples(text, python):
    """The files that the page holds, by name."""
    files = {}
    for name, body in BLOCK.findall(text):
        if name in files:
            raise ValueError(f"{name} is given twice")
        files[name] = body
    if "CMakeLists.txt" not in files:
        raise ValueError("the page has no block for CMakeLists.txt")
    if "enable_testing()" not in files["CMakeLists.txt"]:
        raise ValueError("CMakeLists.txt does not enable tests")
    programs = EXECUTABLE.findall(files["CMakeLists.txt"])
    if not programs:
        raise ValueError("CMakeLists.txt adds no executable")
    tests = "".join(f"add_test(NAME {p} COMMAND {p})\n" for p in programs)
    scripts = [name for name in files if name.endswith(".py")] if python else []
    folder = "${CMAKE_CURRENT_SOURCE_DIR}"
    tests += "".join(f"add_test(NAME {s} COMMAND {python} {folder}/{s})\n" for s in scripts)
    files["CMakeLists.txt"] += "\n" + tests
    return files


def main():
    page, folder = map(pathlib.Path, sys.argv[1:3])
    python = sys.argv[3] if len(sys.argv) > 3 else None
    folder.mkdir(parents=True, exist_ok=True)
    try:
        files = examples(page.read_text(encoding="utf-8"), python)
    except ValueError as error:
        sys.exit(f"{page}: {error}")
    for name, body in files.items():
        (folder / name).write_text(body, encoding="utf-8")


if __name__ == "__main__":
    main()
