"""Polyhalite: algorithms over arrays, and how to compute them, in two separate texts.

    import polyhalite as ph

    i, j = ph.vars("i j")
    blur = ph.Func("blur")
    blur[i, j] = (image[i, j - 1] + image[i, j] + image[i, j + 1]) / 3
    blur.vectorize(j, 8).parallel(i)
    result = blur.realize([480, 640]).numpy()

What is said by position (indices, sizes, bounds, axes, the ranges of an RDom) stands in numpy's
order, outermost first: f[i, j] is array[i, j], and j is contiguous in memory and the innermost loop
unless a schedule says otherwise. What is said by name (the loops of reorder(), tile()...) stands as in
C++, innermost first. Texts of the compiler's stages are C++'s.
"""

import os as _os

from . import _core
from ._core import *  # noqa: F401,F403
from ._core import BoundaryConditions, _, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9  # noqa: F401
from ._errors import (  # noqa: F401
    Cancelled,
    CompileError,
    Diagnostic,
    Error,
    InternalError,
    PolyhaliteWarning,
    RuntimeError,
)
from ._display import Profile, Schedule, profile  # noqa: F401
from ._generator import (  # noqa: F401
    Generator,
    GeneratorParam,
    InputBuffer,
    InputFunc,
    InputScalar,
    OutputBuffer,
    OutputFunc,
    OutputScalar,
    alias,
    generator,
    main,
)

__version__ = _core.version


def include_folder():
    """The folder of the C headers that generated headers include: for -I of the programs that use
    libraries made here."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "include")


def vars(names):
    """Vars by their names, split at spaces: i, j = vars("i j")."""
    return tuple(Var(name) for name in names.split())  # noqa: F405


def rvars(names):
    """RVars by their names, for the loops that splits make."""
    return tuple(RVar(name) for name in names.split())  # noqa: F405


def funcs(names):
    """Funcs by their names, split at spaces."""
    return tuple(Func(name) for name in names.split())  # noqa: F405
