"""The random stream of a run."""

from numpy.random import Generator, SeedSequence, default_rng


def generator(study: str, seed: int) -> Generator:
    """The random stream of a run: a function of the study's name and the seed alone.

    Knobs do not enter, so that the cells of a sweep see the same random numbers and their
    differences are due to the knob; nor do the launcher, the worker or the order.
    """
    return default_rng(SeedSequence([seed, *study.encode()]))
