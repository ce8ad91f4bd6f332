"""Generated stand-ins for files that a book's authors published but the package does not carry.

Each has the shape and the character of the original as the book describes it, is drawn from a fixed
stream, and is named as a stand-in wherever it is used.
"""

from typing import NamedTuple

import numpy as np

from models.types import Floats

PARTIES = ("Lab", "Con", "LDem", "SNP", "PC", "DUP", "SDLP", "UUP")


def three_clusters() -> Floats:
    """FCML 6.2: a hundred points in the plane in three groups, a few of them in between, (100, 2).

    Drawn from the mixture of three Gaussians that fits the authors' file best, rounded.
    """
    rng = np.random.default_rng(62)
    centres = np.array([[2.0, -3.9], [2.7, 2.9], [-0.1, -0.2]])
    variances = np.array([[0.8, 0.9], [0.6, 1.6], [0.5, 0.9]])
    which = np.repeat(np.arange(3), [48, 29, 23])
    return np.asarray(centres[which] + np.sqrt(variances[which]) * rng.standard_normal((100, 2)))


def coin_tosses() -> Floats:
    """FCML 3.3.5: a thousand tosses of the stall owner's coin, head = 1, (1000, 1).

    The book only shows posteriors after 100 and 1000 of them. Drawn with the share of heads in the
    authors' file, 0.725.
    """
    rng = np.random.default_rng(335)
    return (rng.random((1000, 1)) < 0.725).astype(np.float64)


def ring_around_disc() -> Floats:
    """FCML 6.2.2: a disc and a ring about the same centre, (1492, 2).

    Uniform on x^T x < 1/2 and on 1 < x^T x < 2, with as many points as in the authors' file.
    """
    rng = np.random.default_rng(622)
    squared = np.concatenate([rng.uniform(0, 0.5, 499), rng.uniform(1, 2, 993)])
    turn = rng.uniform(0, 2 * np.pi, len(squared))
    return np.asarray(np.sqrt(squared)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1))


class Legislature(NamedTuple):
    """Votes of a small parliament."""

    votes: Floats  # (divisions, MPs) +1, -1, or 0 where absent
    party: Floats  # (MPs, 1) place in PARTIES


def legislature() -> Legislature:
    """FCML 7.7.2: MPs near the place of their party in the plane vote by probit in 250 divisions.

    Attendance differs between MPs and does not depend on where they stand.
    """
    rng = np.random.default_rng(772)
    places = [[1.0, 0.2], [-0.9, 0.9], [-0.2, -1.1], [-0.9, -0.7], [-0.9, -0.7], [-1.3, 0.1]]
    places += [[0.7, -0.8], [-1.2, 0.5]]
    party = np.repeat(np.arange(8), [80, 36, 16, 6, 4, 5, 4, 5])
    x = np.array(places)[party] + 0.1 * rng.standard_normal((len(party), 2))
    w = 4.0 * rng.standard_normal((250, 2))
    votes = np.where(w @ x.T + rng.standard_normal((250, len(party))) > 0, 1.0, -1.0)
    present = rng.random(votes.shape) < rng.beta(2.0, 1.0, len(party))  # two thirds
    return Legislature(np.where(present, votes, 0.0), party[:, None].astype(np.float64))


def two_classes() -> Floats:
    """FCML 4.2: twenty points with t = 0, then twenty with t = 1, in the plane, (40, 3).

    Round Gaussian classes with the means of the authors' file, rounded, and variance one.
    """
    rng = np.random.default_rng(41)
    centres = np.repeat([[-2.0, -2.3], [2.2, 2.3]], 20, axis=0)
    t = np.repeat([0.0, 1.0], 20)
    return np.column_stack([centres + rng.standard_normal((40, 2)), t])
