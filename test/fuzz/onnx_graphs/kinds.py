"""The kinds of cases, and trials of many seeds."""

import collections
import time

import convolutions
import float_graphs
import matrix_products
import mutated_models
import narrow_graphs
import trial

KINDS = ("graphs", "quantized", "dynamic", "float16", "mutated", "products", "convolutions")
SECONDS_BETWEEN_REPORTS = 30


def draw(kind, seed):
    """The case of a kind and seed; None where an exporter failed."""
    if kind in narrow_graphs.KINDS:
        return narrow_graphs.draw(kind, seed)
    return {"graphs": float_graphs, "mutated": mutated_models, "products": matrix_products,
            "convolutions": convolutions}[kind].draw(seed)


def try_seeds(kind, first, seconds, count=None, progress=lambda text: None):
    """Cases of consecutive seeds. (Counts by sort, list of (seed, outcome) that failed.)"""
    counts, failed, seed = collections.Counter(), [], first
    start, said = time.monotonic(), 0
    while time.monotonic() < start + seconds and (count is None or seed < first + count):
        outcome = trial.run(lambda: draw(kind, seed))
        counts[outcome.sort] += 1
        if outcome.failed:
            failed.append((seed, outcome))
            progress(f"{kind} {seed} {outcome.sort}: {outcome.detail[:600]}")
        seed += 1
        if time.monotonic() - start > said + SECONDS_BETWEEN_REPORTS:
            said = time.monotonic() - start
            progress(f"{kind}: {seed - first} cases in {said:.0f} s")
    return counts, failed


def summary(kind, first, counts):
    total = sum(counts.values())
    return f"{kind}: seeds {first} to {first + total - 1}: " + ", ".join(
        f"{n} {sort}" for sort, n in counts.most_common())
