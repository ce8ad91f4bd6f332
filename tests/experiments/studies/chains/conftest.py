"""The casino by hand: its dice and rolls drawn one by one, its sums written out."""

import math
from collections.abc import Callable

import numpy as np
import pytest

PI = [0.5, 0.5]
A = [[0.95, 0.05], [0.10, 0.90]]
B = [[1 / 6] * 6, [0.1] * 5 + [0.5]]
Decoded = tuple[list[float], list[float], list[int], float]


@pytest.fixture
def book_rolls() -> tuple[list[int], list[int]]:
    """The 300 dice and rolls of MLAPP Figure 17.10, drawn one by one."""
    stream = np.random.RandomState(1)
    dice: list[int] = []
    for u in stream.random_sample(300):
        stay = PI[0] if not dice else A[dice[-1]][0]
        dice.append(int(u > stay))
    rolls = []
    for die, u in zip(dice, stream.random_sample(300), strict=True):
        rolls.append(sum(u > sum(B[die][: face + 1]) for face in range(5)))
    return dice, rolls


def decode(rolls: list[int]) -> Decoded:
    """Filtered and smoothed probabilities of the loaded die, the best path, the log evidence."""
    alpha, scale = [], []
    belief = PI
    for t, x in enumerate(rolls):
        ahead = belief if t == 0 else [sum(belief[i] * A[i][j] for i in (0, 1)) for j in (0, 1)]
        joint = [ahead[j] * B[j][x] for j in (0, 1)]
        scale.append(sum(joint))
        belief = [p / scale[-1] for p in joint]
        alpha.append(belief)
    beta, smoothed = [1.0, 1.0], [0.0] * len(rolls)
    for t in reversed(range(len(rolls))):
        weight = [alpha[t][j] * beta[j] for j in (0, 1)]
        smoothed[t] = weight[1] / sum(weight)
        beta = [sum(A[i][j] * B[j][rolls[t]] * beta[j] for j in (0, 1)) for i in (0, 1)]
        beta = [b / sum(beta) for b in beta]
    value, back = [math.log(PI[j] * B[j][rolls[0]]) for j in (0, 1)], []
    for x in rolls[1:]:
        came = [max((0, 1), key=lambda i, j=j: value[i] + math.log(A[i][j])) for j in (0, 1)]
        value = [value[came[j]] + math.log(A[came[j]][j] * B[j][x]) for j in (0, 1)]
        back.append(came)
    path = [int(value[1] > value[0])]
    for came in reversed(back):
        path.append(came[path[-1]])
    return [a[1] for a in alpha], smoothed, path[::-1], sum(map(math.log, scale))


@pytest.fixture
def by_hand() -> Callable[[list[int]], Decoded]:
    """Decode rolls with the sums written out."""
    return decode
