"""Whether a program of Halide's ended as Halide's own tests want it."""

import dataclasses
import re
import signal

# What may become of a program. Those of GOOD are as Halide wants them.
OK = "ok"
SKIPPED = "skipped"  # the program says [SKIP]: it wants a device or a feature of the CPU
LEFT_OUT = "left out"  # it is about Halide's inner parts
UNMET = "unmet"  # it ran, and what it measured is not what it hopes for
GOOD = (OK, SKIPPED, LEFT_OUT, UNMET)

NOT_CONFIGURED = "not configured"  # CMake refuses the list of programs
NOT_BUILT = "not built"
WRONG = "wrong"
CRASHED = "crashed"
TIMED_OUT = "timed out"
NO_ERROR = "no error"  # it was to end in an error and did not
INTERNAL = "internal error"
VERDICTS = GOOD + (NOT_CONFIGURED, NOT_BUILT, WRONG, CRASHED, TIMED_OUT, NO_ERROR, INTERNAL)


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a program ended: exit_code is minus the signal's number, None where time ran out."""
    exit_code: int | None
    output: str


def _says(patterns, output):
    return any(re.search(pattern, output) for pattern in patterns)


def _line(pattern, output):
    """The first line that has the pattern."""
    return next((line.strip() for line in output.splitlines() if re.search(pattern, line)), "")


def _last_line(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def _signal_name(exit_code):
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return f"signal {-exit_code}"


def _judge_failing(ending):
    """A program that shows a user's mistake ends by the error that tells of it."""
    output = ending.output
    thrown = re.search(r"terminate called after throwing an instance of '([^']*)'", output)
    if re.search(r"InternalError|internal error", output, re.IGNORECASE):
        return INTERNAL, _line(r"(?i)InternalError|internal error", output)
    # An error that nobody catches ends a program by SIGABRT.
    if ending.exit_code < 0 and ending.exit_code != -signal.SIGABRT:
        return CRASHED, _signal_name(ending.exit_code)
    if thrown and not re.search(r"\b(Compile|Runtime)?Error$", thrown[1]):
        return CRASHED, f"uncaught {thrown[1]}"
    if ending.exit_code == 0 or "Success!" in output:
        return NO_ERROR, _last_line(output)
    message = _line(r"(?i)\berror\b", output)
    if not message:
        return CRASHED, f"no message: {_last_line(output)}"
    return OK, message


def judge(ending, will_fail=False, wanted=(), unwanted=(), skips=(), measures=False):
    """(verdict, detail). wanted: expressions of which the output must have one, where there are any;
    unwanted: it must have none; skips: one says that the program skips itself; measures: an exit code
    of 1 may say that something is too slow."""
    if ending.exit_code is None:
        return TIMED_OUT, _last_line(ending.output)
    if _says(skips, ending.output):
        return SKIPPED, _line("|".join(skips), ending.output)
    if will_fail:
        return _judge_failing(ending)
    if ending.exit_code < 0:
        message = _line(r"(?i)\berror\b", ending.output) or _last_line(ending.output)
        return CRASHED, f"{_signal_name(ending.exit_code)}: {message}"
    if ending.exit_code != 0:
        return (UNMET if measures else WRONG), _last_line(ending.output)
    if _says(unwanted, ending.output) or (wanted and not _says(wanted, ending.output)):
        return WRONG, _last_line(ending.output)
    return OK, ""
