"""One case in a child process: ours beside onnxruntime, or beside exact results."""

import dataclasses
import os
import pickle
import select
import signal
import time
import traceback

import comparison
import numpy

SECONDS = 60  # in which a case ends, compilation included
# Sorts of outcomes.
SAME, BOTH_REFUSE, ACCEPTED, ALLOWED, DEVIATION = "same", "both refuse", "only ours runs", \
    "refused rightly", "onnxruntime deviates"
PEER_FAILED, NOTHING = "onnxruntime fails", "nothing drawn"
FAILURES = ("died", "hung", "internal", "refused", "shapes", "values")
# What a user's error is reported as.
ERRORS = ("CompileError", "RuntimeError", "TypeError", "ValueError")
# What a child writes: that Polyhalite has the case, then the outcome or what is wrong with this tool.
ENTERED, JUDGED, TOOL_FAILED = b"entered", b"judged", b"failed"


@dataclasses.dataclass
class Outcome:
    sort: str
    detail: str = ""

    @property
    def failed(self):
        return self.sort in FAILURES


def run_peer(case, outputs=None):
    """onnxruntime's results by name, without its optimisations: they are not what is tested."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    names = outputs or [o.name for o in case.model.graph.output]
    return dict(zip(names, session.run(names, case.feeds)))


def run_ours(case):
    """Twice, the second time with the memory that the first one has left. Of open sizes others come first
    in half of the cases, whether or not they fit, so that the case runs in the program for all sizes."""
    import polyhalite.onnx

    model = polyhalite.onnx.load(case.model.SerializeToString())
    other = case.other_feeds() if case.seed % 2 else None
    if other:
        try:
            model.run(other)
        except Exception as e:  # pylint: disable=broad-except
            if type(e).__name__ not in ERRORS:
                raise
    model.run(case.feeds)
    return model.run(case.feeds)


def judge(case, entered):
    """The outcome of a case; `entered` is called before Polyhalite has it."""
    wanted, refusal = case.expected, ""
    if wanted is None:
        try:
            wanted = run_peer(case)
        except Exception as e:  # pylint: disable=broad-except
            refusal = str(e)
    entered()
    try:
        results = run_ours(case)
    except Exception as e:  # pylint: disable=broad-except
        message = f"{type(e).__name__}: {e}"
        # Memory that nobody has is no broken invariant.
        if type(e).__name__ not in ERRORS and not (wanted is None and isinstance(e, MemoryError)):
            return Outcome("internal", message)
        if wanted is None:
            return Outcome(BOTH_REFUSE, message)
        if comparison.is_allowed_refusal(message):
            return Outcome(ALLOWED, message)
        if comparison.deviation(case):
            return Outcome(DEVIATION, message)
        return Outcome("refused", message)
    if wanted is None:
        return Outcome(PEER_FAILED if case.kind != "mutated" else ACCEPTED, refusal)
    for name, value in wanted.items():
        sort, text = comparison.difference(case.kind, name, value, results.get(name))
        if text:
            return Outcome(DEVIATION if comparison.deviation(case) else sort, text)
    return Outcome(SAME)


def in_child(function, seconds=SECONDS):
    """(bytes that the function wrote, its exit status or None where it ran too long). It gets a function
    that writes."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        try:
            function(lambda data: os.write(writer, data))
        except BaseException:  # pylint: disable=broad-except
            os.write(writer, TOOL_FAILED + traceback.format_exc().encode())
        finally:
            os._exit(0)  # pylint: disable=protected-access
    os.close(writer)
    data, end = b"", time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([reader], [], [], max(0, end - time.monotonic()))
        part = os.read(reader, 1 << 16) if ready else b""
        if not part:
            break
        data += part
    if not ready:
        os.kill(pid, signal.SIGKILL)
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    return data, status if ready else None


def run(make_case, seconds=SECONDS):
    """The outcome of the case that the function makes in the child, for an exporter may crash, too."""

    def work(write):
        case = make_case()
        if case is None:
            write(JUDGED + pickle.dumps(Outcome(NOTHING)))
            return
        with numpy.errstate(all="ignore"):
            outcome = judge(case, lambda: write(ENTERED))
        write(JUDGED + pickle.dumps(outcome))

    data, status = in_child(work, seconds)
    was_entered, data = data.startswith(ENTERED), data.removeprefix(ENTERED)
    if data.startswith(JUDGED):
        return pickle.loads(data.removeprefix(JUDGED))
    if data.startswith(TOOL_FAILED):
        raise RuntimeError(data.removeprefix(TOOL_FAILED).decode())
    how = f"after {seconds} s" if status is None else f"status {status}"
    if not was_entered:
        return Outcome(PEER_FAILED, how)
    return Outcome("hung" if status is None else "died", how)
