r"""Measures of a classifier: 0/1 loss, confusion matrix, ROC curve and its area (FCML 5.4).

    sensitivity Se = TP / (TP + FN)                                                FCML 5.20
    specificity Sp = TN / (TN + FP)                                                FCML 5.21

The ROC curve is Se against 1 - Sp as the threshold of a real-valued output falls. Its area is the
chance that a positive object scores above a negative one, ties counting half (Mann and Whitney):

    AUC = (sum of the positives' ranks - P (P + 1) / 2) / (P N)

This is exact; a grid of thresholds misses the steps between two thresholds.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bythebook.models.types import AnyArray, Bools, Floats, Ints


class Roc(NamedTuple):
    """The curve, from no object called positive to all."""

    false_positive_rate: Floats  # (T + 1,) 1 - Sp
    sensitivity: Floats  # (T + 1,) Se


def confusion(predicted: Ints, true: Ints, C: int) -> Ints:
    """Objects by predicted (row) and true class (column), both 0, ..., C - 1, shape (C, C)."""
    return np.bincount(predicted * C + true, minlength=C * C).reshape(C, C)


def loss_01(predicted: AnyArray, true: AnyArray) -> float:
    """The share of objects that are classified wrongly."""
    return float(np.mean(predicted != true))


def sensitivity(predicted: Bools, true: Bools) -> float:
    """The share of the positive objects that are found."""
    return float(predicted[true].mean())  # FCML 5.20


def specificity(predicted: Bools, true: Bools) -> float:
    """The share of the negative objects that are classified as negative."""
    return float((~predicted[~true]).mean())  # FCML 5.21


def roc_curve(score: Floats, true: Bools) -> Roc:
    """Every point of the curve; objects with equal scores (N,) are called positive together."""
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(true[order])
    last = np.append(np.diff(score[order]) != 0, True)  # the last of each run of equal scores
    found, called = hits[last], np.flatnonzero(last) + 1
    return Roc(
        np.concatenate([[0], (called - found) / (~true).sum()]),
        np.concatenate([[0], found / true.sum()]),
    )


def roc_curves(scores: Sequence[Floats], true: Bools) -> Floats:
    """Curves of several scores (N,), padded to equal length, shape (len(scores), 2, N + 1).

    Objects with equal scores make a curve shorter; its last point is then repeated.
    """
    curves = [np.stack(roc_curve(score, true)) for score in scores]
    ends = [((0, 0), (0, len(true) + 1 - curve.shape[1])) for curve in curves]
    return np.stack([np.pad(*each, mode="edge") for each in zip(curves, ends, strict=True)])


def auc(score: Floats | Bools, true: Bools) -> Floats:
    """Area under the ROC curve by ranks, for scores and labels (..., N), shape (...)."""
    from scipy.stats import rankdata  # half a second to import, which few commands need

    ranks = rankdata(score, axis=-1)
    P = true.sum(-1)
    total = np.where(true, ranks, 0.0).sum(-1)
    return np.asarray((total - P * (P + 1) / 2) / (P * (true.shape[-1] - P)))
