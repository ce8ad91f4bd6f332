"""Equations of FCML 5.4: loss, sensitivity, specificity and the area under the ROC curve."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.classification import roc
from bythebook.models.types import Bools


def _labels(rng: Generator) -> Bools:
    """True labels of a random number of objects, of both classes."""
    N = int(rng.integers(8, 40))
    return rng.permutation(np.arange(N) < rng.integers(2, N - 2))


@equation(
    "5.20, 5.21",
    section="5.4.2",
    latex=r"S_e = \frac{TP}{TP + FN}, \quad S_p = \frac{TN}{TN + FP}",
)
def sensitivity_specificity(rng: Generator) -> Sides:
    """Sensitivity and specificity from the counts of the confusion matrix.

    The other route takes the shares among the diseased and among the healthy.
    """
    true = _labels(rng)
    predicted = rng.random(len(true)) < rng.uniform(0.2, 0.8)
    (tn, fn), (fp, tp) = roc.confusion(predicted.astype(int), true.astype(int), 2)
    truth = np.mean(predicted[true]), 1 - np.mean(predicted[~true])
    return Sides(truth=truth, printed=(tp / (tp + fn), tn / (tn + fp)))


@equation(
    "sections 5.4.1 and 5.4.2",
    section="5.4.1",
    latex=r"t_n = 0 \text{ for all } n: \quad \text{loss} = \frac{N_1}{N}, \quad S_p = 1, \quad"
    r" S_e = 0",
)
def constant_answer(rng: Generator) -> Sides:
    """Loss, specificity and sensitivity if every object is assigned to the larger class."""
    true = _labels(rng)
    answer = np.zeros_like(true)
    found = roc.loss_01(answer, true), roc.specificity(answer, true), roc.sensitivity(answer, true)
    return Sides(truth=found, printed=(np.sum(true) / len(true), 1.0, 0.0))


@equation(
    "section 5.4.3",
    section="5.4.3",
    latex=r"\text{AUC} = \int S_e \, d(1 - S_p) = 1, \quad S_e = 1 \text{ at } 1 - S_p = 0",
)
def perfect_area(rng: Generator) -> Sides:
    """The area under the curve of a perfect classifier, and the best sensitivity without an error.

    The area is the share of the pairs of a positive and a negative object that are in order.
    """
    true = _labels(rng)
    score = rng.normal(size=len(true))
    score[true] += score[~true].max() - score[true].min() + rng.exponential()
    pairs = np.mean(score[true][:, None] > score[~true])
    rate, found = roc.roc_curve(score, true)
    area = np.trapezoid(found, rate)
    return Sides(truth=(area, pairs, found[rate == 0].max()), printed=(1.0, 1.0, 1.0))
