"""Asks Halide 14 about the legal schedules of the corpus.

    against_halide.py [--write] FILE...

A schedule is beyond Halide 14 where it has no word for a directive, or refuses one, the algorithm
or the pipeline with them, when it is compiled in process. The reason stands behind the label, in
Halide's own first words; without --write, one that is not that of the file is an error. Needs
Halide's Python bindings
of version 14 (Debian's python3-halide); exits 77 where they are not there.
"""

import ast
import os
import re
import sys

MARK = "; Halide 14: "
TAILS = {"Auto", "RoundUp", "GuardWithIf", "ShiftInwards", "Predicate", "PredicateLoads",
         "PredicateStores"}


class NoWord(Exception):
    """What Halide 14 cannot say."""


def split_top(text):
    """Parts at commas outside of brackets."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += c in "([{"
        depth -= c in ")]}"
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [p for p in parts + [part.strip()] if p]


class Program:
    """The algorithm as Funcs of Halide."""

    def __init__(self, halide, text):
        self.halide = halide
        self.names = {"min": halide.min, "max": halide.max, "select": halide.select,
                      "int32": lambda e: halide.cast(halide.Int(32), e)}
        self.funcs, self.rvars = {}, {}  # rvars: [(func, stage)] -> {name: RVar}
        self.domains = {}  # Halide's names of reduction variables -> those of the text
        self.loops = {}  # (func, stage) -> {name: Var or RVar}
        for line in text.split("\n")[1:]:
            if line.strip():
                self.statement(line)

    def expression(self, text, local):
        text = re.sub(r"\b(\w+)(\([^()]*(?:\([^()]*\)[^()]*)*\))\.(\d)", r"\1\2[\3]", text)
        text = text.replace("&&", "&")
        text = re.sub(r"([\w ]+<[\w ]+)&([\w ]+<[\w ]+)", r"(\1)&(\2)", text)
        for name in self.funcs:  # some are words of Python
            text = re.sub(rf"\b{name}\(", f"_{name}(", text)
        tree = ast.parse(text.strip(), mode="eval")
        # Integers divide as integers: Halide's Exprs have // for that.
        for node in ast.walk(tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                node.op = ast.FloorDiv()
        calls = {"_" + n: (lambda *a, f=f: f[a if len(a) > 1 else a[0]])
                 for n, f in self.funcs.items()}
        code = compile(tree, "<corpus>", "eval")
        return eval(code, {**self.names, **calls, **local})

    def value(self, text, local):
        e = self.expression(text, local)
        return e if isinstance(e, self.halide.Expr) else self.halide.Expr(e)

    def statement(self, line):
        h = self.halide
        if m := re.match(r"image (\w+): (\w+), (\d)", line):
            types = {"int32": h.Int(32), "uint8": h.UInt(8)}
            self.funcs[m[1]] = h.ImageParam(types[m[2]], int(m[3]), m[1])
            return
        if m := re.match(r"param (\w+): int32", line):
            self.names[m[1]] = h.Param(h.Int(32), m[1])
            return
        if m := re.match(r"output (\w+)$", line):
            self.output = self.funcs[m[1]]
            return
        local = {}
        if m := re.match(r"over (.*?)(?: where (.*?))?: (.*)$", line):
            ranges = [re.match(r"(\w+)\((.*)\)$", p) for p in split_top(m[1])]
            bounds = [[self.value(e, {}) for e in split_top(r[2])] for r in ranges]
            number = len(self.domains)
            domain = h.RDom([tuple(b) for b in bounds], f"domain{number}")
            for r, name in zip(ranges, "xyzw"):
                local[r[1]] = getattr(domain, name)
                self.domains[f"domain{number}${name}"] = r[1]
            if m[2]:
                domain.where(self.expression(m[2], {n: h.Expr(v) for n, v in local.items()}))
            line = m[3]
        head, value = line.split(") = ", 1)
        name, args = head.split("(", 1)
        args = split_top(args)
        update = name in self.funcs
        if not update:
            self.funcs[name] = h.Func(name)
            self.pure = getattr(self, "pure", {})
            self.pure[name] = args
        f = self.funcs[name]
        variables = {a: h.Var(a) for a in self.pure[name]}
        stage = f.num_update_definitions() + 1 if update else 0
        used = {a: v for a, v in variables.items() if not update or a in args}
        self.loops[name, stage] = {**used, **local}
        local = {**variables, **local}
        at = [self.expression(a, local) for a in args]
        if value.startswith("{"):
            value = h.Tuple([self.value(v, local) for v in split_top(value[1:-1])])
        else:
            value = self.expression(value, local)
        f[tuple(at) if len(at) > 1 else at[0]] = value

    def loop(self, key, name):
        """A loop of the stage; a new one of the kind that `key`'s are for reductions."""
        loops = self.loops[key]
        if name not in loops:
            raise KeyError(f"{key} has no loop {name}")
        return loops[name]

    def fresh(self, key, name, olds):
        reduction = any(isinstance(self.loops[key][o], self.halide.RVar) for o in olds)
        v = (self.halide.RVar if reduction else self.halide.Var)(name)
        return v

    def directive(self, line):
        h = self.halide
        made = None
        if m := re.match(r"(\w+) = (.*)$", line):
            made, line = m[1], m[2]
        m = re.match(r"(\w+)(?:\.update\((\d+)\))?\.(\w+)\((.*)\)$", line)
        func, stage, word, args = m[1], 0 if m[2] is None else int(m[2]) + 1, m[3], split_top(m[4])
        f = self.funcs[func]
        handle = f.update(stage - 1) if stage else f
        key = (func, stage)
        names = self.loops[key]
        if word in ("skew", "reverse", "shift") or not hasattr(handle, word):
            raise NoWord(f"has no {word}")
        if word == "split":
            tail = args[4] if len(args) > 4 else "Auto"
            if tail not in TAILS:
                raise NoWord(f"has no {tail}")
            old, outer, inner = args[:3]
            o, i = self.fresh(key, outer, [old]), self.fresh(key, inner, [old])
            handle.split(self.loop(key, old), o, i, int(args[3]), getattr(h.TailStrategy, tail))
            del names[old]
            names[outer], names[inner] = o, i
        elif word == "fuse":
            fused = self.fresh(key, args[2], args[:2])
            handle.fuse(self.loop(key, args[0]), self.loop(key, args[1]), fused)
            del names[args[0]], names[args[1]]
            names[args[2]] = fused
        elif word == "reorder":
            handle.reorder(*[self.loop(key, a) for a in args])
        elif word in ("parallel", "vectorize", "unroll", "serial"):
            getattr(handle, word)(self.loop(key, args[0]))
        elif word in ("compute_at", "store_at"):
            target, k = args[0], 0
            if m := re.match(r"(\w+)\.update\((\d+)\)$", target):
                target, k = m[1], int(m[2]) + 1
            getattr(handle, word)(self.funcs[target], self.loop((target, k), args[1]))
        elif word == "fold_storage":
            handle.fold_storage(self.loop(key, args[0]), int(args[1]))
        elif word == "atomic":
            handle.atomic(args == ["true"])
        elif word == "rfactor":
            r = self.loop(key, args[0])
            u = h.Var(args[1])
            self.funcs[made] = handle.rfactor(r, u)
            # What stays of both: the partial result has all loops, and u in the place of r.
            whole = dict(names)
            pure = {n: v for n, v in names.items() if not isinstance(v, h.RVar)}
            self.loops[made, 0] = {**pure, args[1]: u}
            self.loops[made, 1] = {**{n: v for n, v in whole.items() if n != args[0]}, args[1]: u}
            names.clear()
            names.update({**pure, args[0]: r})
        elif not args:
            getattr(handle, word)()
        else:
            raise KeyError(f"no translation of {line}")


def answer(halide, algorithm, schedule):
    """Empty where Halide takes the schedule, else its reason."""
    program = None
    try:
        program = Program(halide, algorithm)
        for line in schedule:
            program.directive(line)
        program.output.compile_jit()
    except NoWord as e:
        return str(e)
    except RuntimeError as e:
        words = str(e).strip().split("\n")[0]
        words = re.sub(r"^Error: ", "", words)
        words = re.sub(r"^In schedule for [^,]*, ", "", words)
        if not program:  # it refuses a definition, and says which in the first line
            words = str(e).strip().split("\n")[1]
        for theirs, ours in program.domains.items() if program else ():
            words = words.replace(theirs, ours)
        words = re.sub(r"\$\d+", "", words)
        return re.split(r"(?<=[a-z\"])\. ", words)[0].rstrip(".")[:160]
    return ""


def main(arguments):
    try:
        import halide
    except ImportError:
        print("skipped: there is no module halide")
        return 77
    writes = arguments[:1] == ["--write"]
    files = arguments[1:] if writes else arguments
    asked = wrong = beyond = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        start = next(i for i, l in enumerate(lines) if l.startswith("sizes "))
        algorithm = "\n".join(l for l in lines[:start] if not l.startswith("#"))
        for i, line in enumerate(lines):
            if line.split(";")[0] != "legal":
                continue
            end = next((k for k in range(i + 1, len(lines)) if not lines[k].strip()), len(lines))
            schedule = [l.strip() for l in lines[i + 1:end]]
            reason = answer(halide, algorithm, schedule)
            asked += 1
            beyond += bool(reason)
            wanted = "legal" + (MARK + reason if reason else "")
            if lines[i] != wanted:
                wrong += not writes
                if not writes:
                    print(f"{path}:{i + 1}: Halide 14 says '{reason}', the file '{lines[i]}'")
                lines[i] = wanted
        if writes:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
    print(f"{asked} legal schedules, {beyond} beyond Halide 14, {wrong} wrong reasons")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
