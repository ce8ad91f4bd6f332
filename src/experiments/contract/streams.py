"""The random stream of a run."""

from numpy.random import Generator, default_rng


def generator(seed: int) -> Generator:
    """The random stream of a run: a function of the seed alone.

    Knobs do not enter, so that the cells of a sweep see the same random numbers and their
    differences are due to the knob; nor do the study's name, the launcher, the worker or the order.
    """
    return default_rng(seed)
