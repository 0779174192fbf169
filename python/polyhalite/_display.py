"""What notebooks show: definitions, loop nests, graphs, profiles."""

import html
import json
import os
import re
import tempfile

from . import _core

_STYLE = "font-family:monospace;line-height:1.4;white-space:pre"
_KEYWORDS = re.compile(
    r"\b(for|parallel|vectorized|vector|unrolled|serial|produce|consume|store|allocate|if|else|"
    r"over|where|root|gpu_block|gpu_thread)\b"
)


def _code(text):
    """The text as HTML, with the words of loop nests in bold."""
    lines = _KEYWORDS.sub(r"<b>\1</b>", html.escape(text.rstrip("\n"), quote=False))
    return f'<div style="{_STYLE}">{lines}</div>'


def _func_html(func):
    if not func.defined():
        return _code(f"{func.name()}: undefined")
    return _code("\n".join(_core._definitions(func)))


class Schedule:
    """The schedule of a Func or Pipeline: its directives as text, and the loops that they make.

    str() is the text form; python() and cpp() print statements that make the same schedule.
    """

    def __init__(self, pipeline):
        self._pipeline = pipeline

    def __str__(self):
        return _core._schedule_text(self._pipeline, "text")

    def python(self):
        """Statements of Python, on Funcs of the same names, with polyhalite as ph."""
        return _core._schedule_text(self._pipeline, "python")

    def cpp(self):
        """Statements of C++."""
        return _core._schedule_text(self._pipeline, "cpp")

    def loop_nest(self):
        """The loops as text."""
        return self._pipeline.emit_text(_core.Emit.conceptual_stmt)

    def _repr_html_(self):
        return _code(self.loop_nest())


class Profile:
    """Where the time of a run went: `pipeline`, `runs`, `ms` of a run, and `funcs`, a dict for each
    Func with `name`, `ms` of a run, `percent`, `entered` (productions of a run), and `peak` memory in
    bytes."""

    def __init__(self, pipeline, runs, ms, funcs):
        self.pipeline, self.runs, self.ms, self.funcs = pipeline, runs, ms, funcs

    def _rows(self):
        for f in self.funcs:
            yield f["name"], f"{f['ms']:.3f}", f"{f['percent']:.0f}%", f"{f['entered']:g}", str(
                f["peak"])

    def __str__(self):
        table = [("Func", "ms", "time", "entered", "bytes at most"), *self._rows()]
        widths = [max(len(row[i]) for row in table) for i in range(5)]
        lines = [f"{self.pipeline}: {self.ms:.3f} ms a run, {self.runs} runs"]
        for row in table:
            lines.append("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                                   for i, (c, w) in enumerate(zip(row, widths))).rstrip())
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        right = "<td style='text-align:right'>"
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td>" + "".join(f"{right}{n}</td>" for n in numbers)
            + "</tr>"
            for name, *numbers in self._rows()
        )
        return (
            f"<table><caption>{html.escape(self.pipeline)}: {self.ms:.3f} ms a run</caption>"
            "<tr><th>Func</th><th>ms</th><th>time</th><th>entered</th><th>bytes at most</th></tr>"
            f"{rows}</table>"
        )


def profile(pipeline, where=None, runs=10, target=None):
    """Runs a Func or Pipeline as realize(where) does, `runs` times, and returns its Profile.

    Entries are exact, and time is shared out by the cycles of each Func.
    """
    target = _core.Target(target) if isinstance(target, str) else target
    profiled = (target or _core.get_jit_target_from_environment()).with_feature("profile_counts")
    silent = _core.JITUserContext(print=lambda text: None)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        before = os.environ.get("PH_PROFILE_JSON")
        os.environ["PH_PROFILE_JSON"] = path
        try:
            for _ in range(runs):
                pipeline.realize(where, profiled, silent)
        finally:
            if before is None:
                del os.environ["PH_PROFILE_JSON"]
            else:
                os.environ["PH_PROFILE_JSON"] = before
        with open(path, encoding="utf-8") as file:
            reports = [json.loads(line) for line in file if line.strip()]
    return _summary(reports, runs)


def _summary(reports, runs):
    """One Profile of the reports of single runs."""
    total, name, funcs = 0.0, "", {}
    for report in reports:
        for p in report["pipelines"]:
            name = p["name"]
            total += p["time_ms"]
            for f in p["funcs"]:
                entry = funcs.setdefault(f["name"], {"time": 0.0, "entered": 0, "peak": 0})
                entry["time"] += f["time_ms"]
                entry["entered"] += f["entered"]
                entry["peak"] = max(entry["peak"], f["memory_peak"])
    whole = sum(f["time"] for f in funcs.values())
    rows = [
        {
            "name": n,
            "ms": f["time"] / runs,
            "percent": 100 * f["time"] / whole if whole else 0.0,
            "entered": f["entered"] / runs,
            "peak": f["peak"],
        }
        for n, f in funcs.items()
    ]
    return Profile(name, runs, total / runs, rows)


setattr(_core.Func, "_repr_html_", _func_html)
setattr(_core.Pipeline, "_repr_html_", lambda pipeline: _core._graph_svg(pipeline))
