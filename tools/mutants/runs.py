"""What is run with a fault in the tree: for how long at most, and what must be there first."""

import importlib
from typing import NamedTuple

from tools.mutants.calls import Function

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
    """A test or a result as it is without a fault."""

    seconds: float
    functions: list[Function]
    verdicts: list[str]  # of a result, one a claim; of a test whether it passed
    quantities: dict[str, str]  # of a result: a digest of each


def limit(usual: float) -> float:
    """Seconds after which a run that usually takes so long has lost its way."""
    return 10 * usual + 20


def preload() -> None:
    """Import here what every child would import: libraries, never the code under trial."""
    for library in LIBRARIES:
        importlib.import_module(library)
