"""Element types that numpy has through other packages only."""


def outside(name):
    """The dtype of this name of the package ml_dtypes: "bfloat16", "float8_e5m2", "int4"..."""
    try:
        import ml_dtypes
    except ImportError:
        ml_dtypes = None
    found = getattr(ml_dtypes, name, None)
    if found is None:
        state = "not installed" if ml_dtypes is None else "too old"
        raise TypeError(
            f"elements of type {name} as a numpy array\n"
            f"  why: numpy has no such type, and the package ml_dtypes is {state}\n"
            "  fix: install ml_dtypes, or cast the values to float32"
        )
    return found
