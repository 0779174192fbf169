"""Element types that numpy has through other packages only."""


def bfloat16():
    """The dtype of bfloat16, of the package ml_dtypes."""
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(
            "elements of type bfloat16 as a numpy array\n"
            "  why: numpy has no such type, and the package ml_dtypes is not installed\n"
            "  fix: install ml_dtypes, or cast the values to float32"
        ) from None
    return ml_dtypes.bfloat16
