"""Equations of the notes, 2.8.3: Markov random fields."""

from itertools import combinations

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "2.176",
    section="2.8.3",
    latex=r"p(x_i, x_j|\mathbf{x}_{\setminus \{i,j\}}) = p(x_i|\mathbf{x}_{\setminus \{i,j\}})"
    r" p(x_j|\mathbf{x}_{\setminus \{i,j\}})",
)
def unlinked_pair(rng: Generator) -> Sides:
    """Two nodes without a link are independent given all others, in a random field of pairs."""
    N = int(rng.integers(3, 6))
    pairs = rng.permutation(list(combinations(range(N), 2))).tolist()
    (i, j), *links = pairs[: int(rng.integers(3, len(pairs) + 1))]
    states = rng.integers(2, 4, N)
    joint = np.ones(states)
    for a, b in links:
        shape = [states[n] if n in (a, b) else 1 for n in range(N)]
        joint = joint * rng.uniform(0.1, 2, shape)
    rest = joint.sum((i, j), keepdims=True)
    printed = joint.sum(j, keepdims=True) / rest * (joint.sum(i, keepdims=True) / rest)
    return Sides(truth=joint / rest, printed=printed)
