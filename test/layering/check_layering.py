#!/usr/bin/env python3
"""Holds the direction of includes and the homes of foreign headers.

  check_layering.py ROOT

Rules, over every .h, .cc and .c file of the folders below:
  1. a folder includes only what MAY_INCLUDE allows it;
  2. no header includes itself through others;
  3. isl headers appear in polyhedral/ only, LLVM headers in codegen/ only;
  4. a quoted include names a file that exists, from the root or from an include folder.
Prints one line per violation; exit status 1 where there is any.
"""

import pathlib
import re
import sys

# The order of the design: lang <- schedule <- polyhedral <- codegen, polyhedral <- autosched.
MAY_INCLUDE = {
    "lang": {"lang"},
    "schedule": {"lang", "schedule"},
    "polyhedral": {"lang", "schedule", "polyhedral"},
    "autosched": {"lang", "schedule", "polyhedral", "autosched"},
    "codegen": {"lang", "schedule", "polyhedral", "codegen"},
    "codegen/driver": {"lang", "schedule", "polyhedral", "autosched", "codegen", "codegen/driver"},
    "apps": {"lang", "schedule", "polyhedral", "autosched", "codegen", "codegen/driver", "apps"},
    "python": {"lang", "schedule", "polyhedral", "autosched", "codegen", "codegen/driver", "apps",
               "python"},
}
# What only some folders may name.
FOREIGN = {
    "isl": (re.compile(r"^isl/"), "polyhedral"),
    "LLVM": (re.compile(r"^llvm(-c)?/"), "codegen"),
}
# Where public headers are found without a path from the root.
INCLUDE_FOLDERS = ("", "lang/include", "lang/include/halide", "lang/abi")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """The layer of a path from the root: 'codegen/driver' before 'codegen'."""
    parts = path.split("/")
    two = "/".join(parts[:2])
    return two if two in MAY_INCLUDE and len(parts) > 2 else parts[0]


def sources(root):
    for layer in sorted({layer.split("/")[0] for layer in MAY_INCLUDE}):
        for path in sorted((root / layer).rglob("*")):
            if path.suffix in (".h", ".cc", ".c") and path.is_file():
                yield path.relative_to(root).as_posix()


def resolve(root, includer, name, quoted):
    """The path from the root that an include means; none where it is not ours."""
    candidates = [f"{folder}/{name}" if folder else name for folder in INCLUDE_FOLDERS]
    if quoted:
        candidates.insert(0, (pathlib.PurePosixPath(includer).parent / name).as_posix())
    for candidate in candidates:
        full = root / candidate
        if full.is_file():
            return full.resolve().relative_to(root).as_posix()
    return None


def cycles(graph):
    """Every cycle that a depth-first search meets first, as a list of files that returns home."""
    found, state, stack = [], {}, []

    def visit(node):
        state[node] = "open"
        stack.append(node)
        for other in graph.get(node, ()):
            if state.get(other) == "open":
                found.append(stack[stack.index(other):] + [other])
            elif other not in state:
                visit(other)
        stack.pop()
        state[node] = "done"

    for node in sorted(graph):
        if node not in state:
            visit(node)
    return found


def check(root):
    root = pathlib.Path(root).resolve()
    violations, graph, count = [], {}, 0
    for path in sources(root):
        count += 1
        layer = folder_of(path)
        text = (root / path).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quoted, name = match.group(1) == '"', match.group(2)
            where = f"{path}:{number}"
            for library, (pattern, home) in FOREIGN.items():
                if pattern.match(name) and path.split("/")[0] != home:
                    violations.append(f"{where}: {library} header {name} outside {home}/")
            target = resolve(root, path, name, quoted)
            if target is None:
                if quoted:
                    violations.append(f"{where}: {name} is in no include folder")
                continue
            other = folder_of(target)
            if other not in MAY_INCLUDE[layer]:
                violations.append(f"{where}: {layer} may not include {other} ({target})")
            graph.setdefault(path, []).append(target)
    violations += ["cycle: " + " -> ".join(cycle) for cycle in cycles(graph)]
    if count == 0:
        violations.append(f"{root}: no source was found")
    return violations


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    violations = check(sys.argv[1])
    for violation in violations:
        print(violation)
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
