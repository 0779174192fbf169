"""The demo's part in Python: a scheduled stencil on an array of numpy, checked and timed.

usage: stencil.py ROWS COLUMNS PAGE, with the package polyhalite in PYTHONPATH
Prints one line for the terminal and writes PAGE, a piece of HTML: the function's equation, the loop
nest, the graph of the pipeline.
"""
import statistics
import sys
import time

import numpy
import polyhalite as ph


def median_seconds(work):
    work()
    times = []
    for _ in range(9):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


rows, columns = int(sys.argv[1]), int(sys.argv[2])
grid = numpy.random.default_rng(1).random((rows + 2, columns + 2), numpy.float32)

i, j = ph.Var("i"), ph.Var("j")
cells = ph.Buffer(grid)
mean = ph.Func("mean")
mean[i, j] = (cells[i, j + 1] + cells[i + 2, j + 1] + cells[i + 1, j] + cells[i + 1, j + 2]) * 0.25
mean.vectorize(j, 16).parallel(i)


def with_numpy():
    return (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]) * numpy.float32(0.25)


result = numpy.empty((rows, columns), numpy.float32)
mean.compile_jit()
ours = median_seconds(lambda: mean.realize(result))
theirs = median_seconds(with_numpy)
most = float(numpy.abs(result - with_numpy()).max())
print(f"four neighbours' mean, f32 {columns}x{rows}: numpy {theirs * 1e3:.2f} ms, "
      f"polyhalite {ours * 1e3:.2f} ms ({theirs / ours:.1f}x), largest difference {most:.1g}")
with open(sys.argv[3], "w") as page:
    page.write(mean._repr_html_() + ph.Schedule(mean)._repr_html_() + ph.Pipeline([mean])._repr_html_())
sys.exit(0 if most <= 1e-6 else 1)
