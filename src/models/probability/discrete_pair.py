r"""Two discrete variables: joint, marginal and conditional tables (FCML 2.2.4-2.2.7).

One depends on the other, and the tables follow from P(x) and P(y | x):

P(x, y) = P(y | x) P(x)                                                        FCML 2.6
P(y)    = sum_x P(x, y)                                                        FCML 2.9
P(x | y) = P(y | x) P(x) / P(y)                                                FCML 2.11
"""

from typing import NamedTuple

import numpy as np

from models.types import Floats


class Pair(NamedTuple):
    """Everything about two variables that follows from P(x) and P(y | x)."""

    joint: Floats  # (X, Y) P(x, y)
    marginal: Floats  # (Y,) P(y)
    reverse: Floats  # (X, Y) P(x | y); nan where P(y) = 0


def pair(prior: Floats, conditional: Floats) -> Pair:
    """From P(x), shape (X,), and P(y | x), shape (X, Y)."""
    joint = prior[:, None] * conditional  # FCML 2.6
    marginal = joint.sum(0)  # FCML 2.9
    with np.errstate(invalid="ignore"):
        return Pair(joint, marginal, joint / marginal)  # FCML 2.11
