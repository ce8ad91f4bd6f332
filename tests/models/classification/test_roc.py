"""Measures of classifiers against scikit-learn and a count of all pairs."""

import numpy as np
import pytest
from sklearn import metrics

from bythebook.models.classification.roc import (
    auc,
    confusion,
    loss_01,
    roc_curve,
    roc_curves,
    sensitivity,
    specificity,
)


@pytest.fixture
def scored():
    rng = np.random.default_rng(3)
    true = rng.random(80) < 0.3
    return np.round(rng.standard_normal(80) + true, 1), true  # rounded: there are ties


def test_area_is_the_share_of_pairs_in_the_right_order(scored):
    score, true = scored
    difference = score[true][:, None] - score[~true]
    pairs = (difference > 0).mean() + (difference == 0).mean() / 2
    assert (difference == 0).any()
    np.testing.assert_allclose(auc(score, true), pairs, rtol=1e-12)
    np.testing.assert_allclose(auc(score, true), metrics.roc_auc_score(true, score), rtol=1e-12)


def test_area_of_a_batch_and_under_the_curve(scored):
    score, true = scored
    both = auc(np.stack([score, -score]), np.stack([true, true]))
    np.testing.assert_allclose(both.sum(), 1, rtol=1e-12)
    curve = roc_curve(score, true)
    np.testing.assert_allclose(np.trapezoid(curve.sensitivity, curve.false_positive_rate), both[0])
    theirs = metrics.roc_curve(true, score, drop_intermediate=False)
    np.testing.assert_allclose(curve.false_positive_rate, theirs[0], rtol=1e-12)
    np.testing.assert_allclose(curve.sensitivity, theirs[1], rtol=1e-12)


def test_confusion_loss_sensitivity_specificity(scored):
    score, true = scored
    guess = score > 0.5
    table = confusion(guess.astype(int), true.astype(int), 2)
    np.testing.assert_array_equal(
        table.T, metrics.confusion_matrix(true, guess)
    )  # theirs: rows true
    assert loss_01(guess, true) == pytest.approx(1 - metrics.accuracy_score(true, guess))
    assert sensitivity(guess, true) == pytest.approx(metrics.recall_score(true, guess))
    assert specificity(guess, true) == pytest.approx(metrics.recall_score(~true, ~guess))


def test_curves_side_by_side_stay_at_their_end(scored):
    score, true = scored
    shorter = np.round(score)  # more ties
    curves = roc_curves([score, shorter], true)
    assert curves.shape == (2, 2, 81)
    for curve, each in zip(curves, (score, shorter), strict=True):
        alone = np.stack(roc_curve(each, true))
        np.testing.assert_array_equal(curve[:, : alone.shape[1]], alone)
        assert (curve[:, alone.shape[1] :] == 1).all()
