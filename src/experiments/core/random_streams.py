"""Random number generator of a run."""

from numpy.random import Generator, default_rng


def make_rng(seed: int) -> Generator:
    """The generator of a run, which depends on the seed alone.

    Parameters do not enter: the runs of a sweep see the same random numbers, so that their
    differences are due to the parameter. The study's name, the launcher, the worker and the order
    do not enter either.
    """
    return default_rng(seed)
