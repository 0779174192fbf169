#!/usr/bin/env python3
"""Runs kernels of PTX files on this machine's card, checks and times them: run_ptx.py JOB.json...

A folder stands for all jobs in it. Needs Python and NVIDIA's driver alone: no compiler, no library
of ours. So with a card elsewhere: `record_gpu_jobs jobs` here, and there `run_ptx.py jobs`, whose
last lines are a table of all jobs. A job:

  {"ptx": "blur.ptx",                      beside the job
   "launches": [{"kernel": "kernel_blur", "blocks": [20, 60, 1], "threads": [32, 8, 1],
                 "shared_bytes": 0,
                 "args": ["in", "out", {"int32": 640}]}],      buffers by name, or scalars
   "buffers": {"in": {"type": "float32", "elements": 307200, "random": 7},    uniform in [-1, 1)
               "v": {"type": "float16", "elements": 9, "noise": 1},     as record_gpu_jobs makes it
               "w": {"type": "float16", "file": "w.bin"},                     little-endian
               "out": {"type": "float32", "elements": 307200, "expected": "out.bin",
                       "tolerance": 1e-5}},                    relative to max(1, |expected|)
                                    or "points": [[index, value], ...] in place of all elements
   "rounds": 20, "flops": 0, "bytes": 2457600}                 of all launches together

Exits with 0 where every expected buffer is met, 1 where not, 77 where there is no card.
"""

import array
import ctypes
import json
import os
import random
import struct
import sys

CODES = {"float32": "f", "float64": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
         "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "float16": "e"}


def size_of(kind):
    return struct.calcsize("=" + CODES[kind])


class Card:
    """The driver's functions that a run needs; each failure is a RuntimeError with its name."""

    def __init__(self, library):
        self.cuda = ctypes.CDLL(library)
        self("cuInit", 0)
        count = ctypes.c_int()
        self("cuDeviceGetCount", ctypes.byref(count))
        if count.value == 0:
            raise OSError("the driver sees no card")
        device = ctypes.c_int()
        self("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *args):
        result = getattr(self.cuda, name)(*args)
        if result != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(result, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else result}")

    def upload(self, data):
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(len(data), 1)))
        self("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        self("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(size))
        return data.raw

    def load(self, ptx):
        module = ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), ptx)
        return module

    def milliseconds(self, run):
        begin, end, time = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float()
        self("cuEventCreate", ctypes.byref(begin), 0)
        self("cuEventCreate", ctypes.byref(end), 0)
        self("cuEventRecord", begin, None)
        run()
        self("cuEventRecord", end, None)
        self("cuEventSynchronize", end)
        self("cuEventElapsedTime", ctypes.byref(time), begin, end)
        return time.value


def contents(spec, folder):
    """The bytes that a buffer begins with."""
    kind = spec["type"]
    if "file" in spec:
        with open(os.path.join(folder, spec["file"]), "rb") as f:
            return f.read()
    count = spec["elements"]
    if "random" not in spec and "noise" not in spec:
        return bytes(count * size_of(kind))
    draw = random.Random(spec.get("random"))
    if "noise" in spec:
        some, state = [], spec["noise"]
        for _ in range(65521):
            state = (state * 1664525 + 1013904223) & 0xffffffff
            some.append((state >> 24) / 256 - 0.5)
    elif kind.startswith("float"):
        # Few distinct numbers are enough, and quick to make.
        some = [draw.uniform(-1, 1) for _ in range(min(count, 65521))]
    else:
        most = 2 ** (8 * size_of(kind) - 2)
        some = [draw.randrange(0, most) for _ in range(min(count, 65521))]
    packed = struct.pack(f"={len(some)}{CODES[kind]}", *some)
    repeats = -(-count // max(len(some), 1))
    return (packed * repeats)[: count * size_of(kind)]


def numbers(data, kind):
    if kind == "float16":
        return struct.unpack(f"={len(data) // 2}e", data)
    values = array.array(CODES[kind])
    values.frombytes(data)
    return values


def differences(found, spec, folder):
    """A line that says where and how much a buffer differs; None where it does not."""
    tolerance = spec.get("tolerance", 0)
    worst, place, value = -1.0, 0, 0
    a = numbers(found, spec["type"])
    if "points" in spec:
        wanted = spec["points"]
    else:
        with open(os.path.join(folder, spec["expected"]), "rb") as f:
            wanted = f.read()
        if len(wanted) != len(found):
            return f"{len(found)} bytes, {len(wanted)} expected"
        wanted = enumerate(numbers(wanted, spec["type"]))
    for i, y in wanted:
        error = 0.0 if a[i] == y else abs(a[i] - y) / max(1.0, abs(y))
        if not error <= worst:  # no number is worse than any
            worst, place, value = error, i, y
    if worst <= tolerance:
        return None
    return f"element {place} is {a[place]}, expected {value}: off by {worst:.3g} relatively"


def run_job(path, card):
    folder = os.path.dirname(os.path.abspath(path))
    with open(path) as f:
        job = json.load(f)
    with open(os.path.join(folder, job["ptx"]), "rb") as f:
        module = card.load(f.read() + b"\0")
    begin = {name: contents(spec, folder) for name, spec in job["buffers"].items()}
    memory = {name: card.upload(data) for name, data in begin.items()}
    launches = []
    for launch in job["launches"]:
        kernel = ctypes.c_void_p()
        card("cuModuleGetFunction", ctypes.byref(kernel), module, launch["kernel"].encode())
        if launch.get("shared_bytes", 0) > 48 << 10:
            card("cuFuncSetAttribute", kernel, 8, launch["shared_bytes"])
        values = []
        for arg in launch["args"]:
            if isinstance(arg, str):
                values.append(memory[arg])
            else:
                (kind, value), = arg.items()
                values.append(ctypes.create_string_buffer(struct.pack("=" + CODES[kind], value)))
        pointers = (ctypes.c_void_p * len(values))(
            *[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
        launches.append((kernel, launch["blocks"], launch["threads"],
                         launch.get("shared_bytes", 0), pointers, values))

    def run():
        for kernel, blocks, threads, shared, pointers, _ in launches:
            card("cuLaunchKernel", kernel, *blocks, *threads, shared, None, pointers, None)

    run()
    card("cuCtxSynchronize")
    good = True
    for name, spec in job["buffers"].items():
        if "expected" not in spec and "points" not in spec:
            continue
        wrong = differences(card.download(memory[name], len(begin[name])), spec, folder)
        print(f"{name}: {wrong or 'as expected'}")
        good = good and not wrong
    times = sorted(card.milliseconds(run) for _ in range(job.get("rounds", 20)))
    line = "right" if good else "WRONG"
    if times:
        median = times[len(times) // 2]
        line += f", median {median:.4f} ms of {len(times)}, best {times[0]:.4f} ms"
        if job.get("flops"):
            line += f", {job['flops'] / median / 1e9:.2f} TFLOP/s"
        if job.get("bytes"):
            line += f", {job['bytes'] / median / 1e6:.1f} GB/s"
    for address in memory.values():
        card("cuMemFree_v2", address)
    card("cuModuleUnload", module)
    return good, line


def jobs_of(paths):
    for path in paths:
        if os.path.isdir(path):
            yield from sorted(os.path.join(path, name) for name in os.listdir(path)
                              if name.endswith(".json"))
        else:
            yield path


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 1
    try:
        card = Card(os.environ.get("PH_CUDA_LIBRARY", "libcuda.so.1"))
    except (OSError, RuntimeError) as e:
        print(f"no card here: {e}")
        return 77
    results = []
    for path in jobs_of(sys.argv[1:]):
        name = os.path.splitext(os.path.basename(path))[0]
        print(f"{name}:", flush=True)
        try:
            results.append((name, *run_job(path, card)))
        except RuntimeError as e:  # a job that fails breaks the context: the rest say so too
            results.append((name, False, str(e)))
    print()
    for name, _, line in results:
        print(f"{name:24} {line}")
    return 0 if all(good for _, good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
