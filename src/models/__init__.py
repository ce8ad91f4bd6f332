"""Models and data sets: arrays in, arrays out. NumPy, SciPy and (for recursions) numba only."""
