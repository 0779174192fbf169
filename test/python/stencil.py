"""A pipeline of two stages that several tests schedule."""

import numpy as np

import polyhalite as ph

i, j = ph.vars("i j")


def stencil(shape=(20, 30), dtype=np.int32):
    """Sums of 3x3 elements with repeated edges: the Funcs, the last one the output, and what
    numpy makes of it."""
    a = np.random.default_rng(3).integers(0, 100, shape).astype(dtype)
    image = ph.BoundaryConditions.repeat_edge(ph.Buffer(a))
    across, both = ph.Func("across"), ph.Func("both")
    across[i, j] = image[i, j - 1] + image[i, j] + image[i, j + 1]
    both[i, j] = across[i - 1, j] + across[i, j] + across[i + 1, j]
    p = np.pad(a, 1, "edge")
    rows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]
    return (image, across, both), rows[:-2] + rows[1:-1] + rows[2:]
