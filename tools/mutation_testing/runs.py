"""Measurements of tests and results without a fault, time limits, and preloaded libraries."""

import importlib
from typing import NamedTuple

from tools.mutation_testing.calls import Function

LIBRARIES = (
    "hmmlearn.hmm",
    "hypothesis.extra.numpy",
    "numba",
    "pytest",
    "scipy.integrate",
    "scipy.io",
    "scipy.optimize",
    "scipy.spatial.distance",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.decomposition",
    "sklearn.linear_model",
    "sklearn.mixture",
    "sklearn.svm",
    "threadpoolctl",
    "yaml",
)


class Ran(NamedTuple):
    """A test or result without a fault."""

    seconds: float
    functions: list[Function]
    verdicts: list[str]  # of a result, one per claim; of a test, "passed" if it passed
    quantities: dict[str, str]  # of a result: a digest of each quantity


def time_limit(usual: float) -> float:
    """Time limit in seconds for a run that takes `usual` seconds without a fault."""
    return 10 * usual + 20


def preload() -> None:
    """Import the libraries that every child needs, but not the tested code."""
    for library in LIBRARIES:
        importlib.import_module(library)
