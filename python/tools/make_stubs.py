#!/usr/bin/env python3
"""Writes polyhalite/_core.pyi: what type checkers and editors know of the compiled module.

  make_stubs.py [--check] [FILE]

Signatures and texts are those that pybind11 puts into docstrings. --check compares with the file, and
ends with status 1 where it is out of date.
"""

import inspect
import pathlib
import re
import sys

from polyhalite import _core

HEADER = '''"""The compiled part of polyhalite. Written by make_stubs.py."""

from typing import Any, Iterable, Union

import numpy
from numpy.typing import DTypeLike

ExprLike = Union["Expr", "Var", "RVar", "RDom", "Param", "FuncRef", "FuncTupleElementRef", int,
                 float, bool, numpy.generic]
LoopLike = Union["Var", "RVar", "RDom"]
TypeLike = Union["Type", DTypeLike]
FuncLike = Union["Func", "ImageParam", "Buffer"]
'''
SIGNATURE = re.compile(r"^(?:\d+\. )?(\w+)\((.*)\) -> (.+)$")
# What C++ calls a type, and what Python's checkers call it.
NAMES = [
    (r"polyhalite\._core\.", ""),
    (r"polyhalite::python::\(anonymous namespace\)::", ""),
    (r"\bobject\b", "Any"),
    (r"\bhandle\b", "Any"),
    (r"\biterable\b", "Iterable"),
    (r"\bList\[", "list["),
    (r"\bDict\[", "dict["),
    (r"\bTuple\[", "tuple["),
    (r"\bSet\[", "set["),
    (r"\bOptional\[((?:[^\[\]]|\[[^\]]*\])*)\]", r"\1 | None"),
    # What was bound after the function that names it.
    (r"polyhalite::Buffer<void, -1>", "Buffer"),
    (r"polyhalite::Param<void>", "Param"),
    (r"polyhalite::(\w+)", r"\1"),
]


UPDATES = ("__iadd__", "__isub__", "__imul__", "__itruediv__")


def renamed(text):
    for pattern, name in NAMES:
        text = re.sub(pattern, name, text)
    # Default values print as <TailStrategy.Auto: 8> or at an address: any will do in a stub.
    return re.sub(r" = (<[^>]*>|'[^']*'|\{\}|\[\]|\(\)|[\w.-]+)", " = ...", text)


def signatures(function):
    """((parameters, result), ...) of a bound function, and its text."""
    lines = (function.__doc__ or "").strip().split("\n")
    found, text = [], []
    for line in lines:
        match = SIGNATURE.match(line)
        if match:
            found.append((renamed(match.group(2)), renamed(match.group(3))))
        elif line and line != "Overloaded function.":
            text.append(line)
    return found, " ".join(text)


def function_lines(name, function, indent, owner=None):
    """`owner`: the class of a method, None for functions and static methods."""
    found, text = signatures(function)
    if not found:
        found = [("*args: Any, **kwargs: Any", "Any")]
    lines = []
    for parameters, result in found:
        if owner:
            parameters = re.sub(r"^(self|arg0): [^,]+(, )?", "", parameters)
            parameters = "self" + (", " + parameters if parameters else "")
        if name in ("__eq__", "__ne__"):
            parameters = "self, other: Any"
        if name in UPDATES:
            result = "Any"
        if name == "__init__":
            result = "None"
        # Directives return what they are called on.
        if owner in ("Func", "Stage", "Axis") and result == "Any" and name not in ("realize", *UPDATES):
            result = owner
        parameters = re.sub(r"\*args\b(?!:)", "*args: Any", parameters)
        parameters = re.sub(r"\*\*kwargs\b(?!:)", "**kwargs: Any", parameters)
        if len(found) > 1:
            lines.append(f"{indent}@_overload")
        ignore = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        if text and not name.startswith("__"):
            lines += [f"{indent}def {name}({parameters}) -> {result}:", f'{indent}    """{text}"""']
        else:
            lines.append(f"{indent}def {name}({parameters}) -> {result}: ...{ignore}")
    return lines


def class_lines(name, cls, outer=""):
    bases = [b.__name__ for b in cls.__bases__ if b.__module__ == cls.__module__]
    lines = [f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"]
    text = (cls.__doc__ or "").split("\n\nMembers:")[0].strip()
    if text:
        body = re.sub(r"\n(?=.)", "\n    ", text)
        lines.append(f'    """{body}"""' if "\n" not in body else f'    """{body}\n    """')
    members = getattr(cls, "__members__", None)
    if members:
        lines += [f"    {member}: {outer}{name}" for member in members]
        lines += ["    name: str", "    value: int", "    def __int__(self) -> int: ..."]
        return lines
    count = len(lines)
    for member, value in sorted(vars(cls).items()):
        if inspect.isclass(value):
            lines += ["    " + line for line in class_lines(member, value, name + ".")]
        elif isinstance(value, property):
            lines += ["    @property", f"    def {member}(self) -> Any: ..."]
        elif callable(value) or isinstance(value, staticmethod):
            # Those of every object; and what the package's Python files add.
            if member in ("__hash__", "__new__", "__repr__", "__str__") or inspect.isfunction(value):
                continue
            is_static = isinstance(value, staticmethod)
            if is_static:
                lines.append("    @staticmethod")
            lines += function_lines(member, getattr(cls, member), "    ", None if is_static else name)
    if len(lines) == count and not text:
        lines.append("    ...")
    return lines


def module_text():
    lines, names = [], sorted(n for n in vars(_core) if not n.startswith("__"))
    # What only the package's own files use needs no types.
    private = [n for n in names if re.match(r"_[A-Za-z]", n)]
    names = [n for n in names if n not in private]
    for name in names:
        value = getattr(_core, name)
        if inspect.isclass(value):
            lines += ["", *class_lines(name, value)]
    lines.append("")
    lines += [f"{name}: Any" for name in private]
    for name in names:
        value = getattr(_core, name)
        if inspect.isclass(value):
            continue
        if inspect.ismodule(value):
            lines.append(f"class {name}:")
            for member in sorted(n for n in vars(value) if not n.startswith("__")):
                lines.append("    @staticmethod")
                lines += function_lines(member, getattr(value, member), "    ")
        elif callable(value):
            lines += function_lines(name, value, "")
        else:
            lines.append(f"{name}: {type(value).__name__}")
    text = HEADER + "\n".join(lines) + "\n"
    if "@_overload" in text:
        text = text.replace("from typing import Any,", "from typing import overload as _overload\n"
                            "from typing import Any,", 1)
    return text


def main():
    words = [w for w in sys.argv[1:] if w != "--check"]
    default = pathlib.Path(__file__).parents[1] / "polyhalite" / "_core.pyi"
    path = pathlib.Path(words[0]) if words else default
    text = module_text()
    if "--check" not in sys.argv:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        sys.exit(f"{path} is out of date: run {pathlib.Path(__file__).name}")


if __name__ == "__main__":
    main()
