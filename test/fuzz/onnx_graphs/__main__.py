"""Random ONNX models, Polyhalite beside onnxruntime or exact results.

  test/fuzz/onnx_graphs [--kind KIND,...|all] [--from SEED] [--seconds S] [--count N] [--threads N]
  test/fuzz/onnx_graphs --kind KIND --save SEED FILE     writes the case
  test/fuzz/onnx_graphs --kind KIND --reduce SEED [FILE] makes a failing case small, and writes it

Kinds: graphs of float operators; the same quantized, dynamic (quantized by each run) and float16;
mutated models of ONNX's backend test data; matrix products; convolutions. A case follows from its kind
and seed. Each runs in a process of its own: that it dies or takes too long is a failure, as are internal
errors, refusals of what onnxruntime runs, and results that differ; comparison.py has the bounds, and lists
what is excused. Seconds are for each kind. Needs the Python packages polyhalite
(PYTHONPATH=build/python/package), onnx, onnxruntime and numpy. Exit status 1 where a case failed.
"""

import argparse
import importlib
import os
import sys


def missing_package():
    for name in ("numpy", "onnx", "onnxruntime", "polyhalite.onnx"):
        try:
            importlib.import_module(name)
        except ImportError as e:
            return f"{name} ({e})"
    return ""


def reduce_case(kind, seed, path):
    import kinds
    import reduction

    small, outcome = reduction.reduce(kinds.draw(kind, seed))
    if small is None:
        print(f"{kind} {seed} does not fail: {outcome.sort} {outcome.detail}")
        return 0
    small.save(path)
    print(f"{small.text()}\n{outcome.sort}: {outcome.detail}\nwritten to {path} and {path}.npz")
    return 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--kind", default="all")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--save", nargs=2, metavar=("SEED", "FILE"))
    parser.add_argument("--reduce", nargs="+", metavar="SEED")
    args = parser.parse_args()
    # Read when polyhalite is loaded.
    os.environ["PH_NUM_THREADS"] = str(args.threads)
    missing = missing_package()
    if missing:
        sys.exit(f"onnx_graphs: error: the Python package {missing} is missing")
    import kinds
    import mutated_models

    chosen = kinds.KINDS if args.kind == "all" else args.kind.split(",")
    unknown = [k for k in chosen if k not in kinds.KINDS]
    if unknown:
        parser.error(f"there is no kind '{unknown[0]}'; there are {', '.join(kinds.KINDS)}")
    if (args.save or args.reduce) and len(chosen) != 1:
        parser.error("--save and --reduce take one kind")
    if args.save:
        case = kinds.draw(chosen[0], int(args.save[0]))
        case.save(args.save[1])
        print(case.text())
        return 0
    if args.reduce:
        seed = int(args.reduce[0])
        path = args.reduce[1] if len(args.reduce) > 1 else f"{chosen[0]}_{seed}.onnx"
        return reduce_case(chosen[0], seed, path)
    status = 0
    for kind in chosen:
        if kind == "mutated" and mutated_models.data_folder() is None:
            print("mutated: skipped, ONNX's backend test data is neither in build nor in the package onnx")
            continue
        counts, failed = kinds.try_seeds(kind, args.first, args.seconds, args.count,
                                         lambda text: print(text, flush=True))
        print(kinds.summary(kind, args.first, counts), flush=True)
        status = status or int(bool(failed))
    return status


if __name__ == "__main__":
    sys.exit(main())
