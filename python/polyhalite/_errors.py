"""What the library raises, and how it warns."""

import builtins
import warnings


class Diagnostic:
    """One problem: `what` names it with its numbers, `why` explains, `fix` says what would be right.

    `file` and `line` are the place in the program that it is about.
    """

    def __init__(self, what, why="", fix="", file="", line=0):
        self.what, self.why, self.fix = what, why, fix
        self.file, self.line = file, line

    def text(self, kind="error: "):
        """FILE:LINE: error: WHAT, then lines with why and fix."""
        place = f"{self.file}:{self.line}: " if self.line > 0 else ""
        lines = [place + kind + self.what]
        if self.why:
            lines.append("  why: " + self.why)
        if self.fix:
            lines.append("  fix: " + self.fix)
        return "\n".join(lines)

    def __str__(self):
        return self.text()


class Error(Exception):
    """Every error of the library. The text says what, why and how to mend it.

    `what`, `why`, `fix`, `file` and `line` are those of the first of its `diagnostics`.
    """

    def __init__(self, problems=()):
        if isinstance(problems, str):
            problems = [Diagnostic(problems)]
        self.diagnostics = list(problems)
        super().__init__("\n".join(str(d) for d in self.diagnostics))

    def _first(self):
        return self.diagnostics[0] if self.diagnostics else Diagnostic("")

    what = property(lambda self: self._first().what)
    why = property(lambda self: self._first().why)
    fix = property(lambda self: self._first().fix)
    file = property(lambda self: self._first().file)
    line = property(lambda self: self._first().line)


class CompileError(Error, ValueError):
    """A mistake in an algorithm or a schedule."""


class RuntimeError(Error, builtins.RuntimeError):
    """A failure while a compiled pipeline runs: an array that does not fit, a failed check."""


class InternalError(Error, builtins.RuntimeError):
    """A broken invariant of the library. Programs never cause it."""


class Cancelled(Error):
    """A compilation that ended because it was asked to."""


class PolyhaliteWarning(UserWarning):
    """What is allowed and rarely meant."""


def warn(diagnostic):
    """Raises the warning at the program's own line."""
    text = "\n".join(diagnostic.text("").split("\n"))
    if diagnostic.line > 0:
        message = Diagnostic(diagnostic.what, diagnostic.why, diagnostic.fix).text("")
        warnings.warn_explicit(message, PolyhaliteWarning, diagnostic.file, diagnostic.line)
    else:
        warnings.warn(text, PolyhaliteWarning, stacklevel=2)
