"""Texts by their words against scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import MultinomialNB

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.studies.classification.naive_bayes_text import NaiveBayesText
from bythebook.models.classification.multinomial_bayes import bag_of_words
from bythebook.models.datasets import load


def test_accuracy_and_confusion_are_those_of_scikit_learn(run: Callable[..., Any]) -> None:
    outcome = run(NaiveBayesText(alphas=[1.5, 3.0]))
    X, t, test = bag_of_words(load("newsgroups").matrix)
    model = MultinomialNB(alpha=1.0, fit_prior=False).fit(X[~test], t[~test])  # our alpha is 2
    accuracy = outcome["accuracy"].sel(averaging="map")
    assert accuracy.coord("alpha").tolist() == [1.5, 2, 3]
    assert accuracy.sel(alpha=2).item == pytest.approx(model.score(X[test], t[test]))
    theirs = confusion_matrix(t[test], model.predict(X[test]))
    assert_array_equal(outcome["confusion"].values.T, theirs)
    assert_allclose(outcome["recall"], np.diag(theirs) / theirs.sum(1))
    order = np.argsort(t[test], kind="stable")
    p = model.predict_proba(X[test])[order]
    assert_allclose(outcome["probability"], p, rtol=1e-6, atol=1e-12)
    assert_allclose(outcome["mean_probability"].values[3], p[t[test][order] == 3].mean(0))


def test_texts_that_maximum_likelihood_rules_out(run: Callable[..., Any]) -> None:
    outcome = run(NaiveBayesText(alphas=[2.0]))
    X, t, test = bag_of_words(load("newsgroups").matrix)
    seen = np.stack([np.asarray(X[~test][t[~test] == c].sum(0)).ravel() > 0 for c in range(20)])
    text = X[test][np.argsort(t[test], kind="stable")][[0]].toarray()[0] > 0
    impossible = sum((text & ~row).any() for row in seen)
    assert outcome["ruled_out"].sel(estimate="maximum likelihood", text=0).item == impossible
    assert outcome["unknown_words"].values[0] == (text & ~seen.any(0)).sum()
    assert not outcome["ruled_out"].sel(estimate="map").values.any()


def test_knobs_that_make_no_sense_are_refused() -> None:
    for knobs, complaint in (({"alpha": 1.0}, "study.alpha"), ({"data": "old-faithful"}, "five")):
        with pytest.raises(InputError, match=complaint):
            NaiveBayesText(**knobs)  # type: ignore[arg-type]
