"""Texts by their words against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import MultinomialNB

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.classification.naive_bayes_text import NaiveBayesText, bag_of_words
from models.datasets import load


def test_accuracy_and_confusion_are_those_of_scikit_learn() -> None:
    study = NaiveBayesText(alphas=[1.5, 3.0], show=["smoothing", "probabilities", "confusion"])
    outcome = study.run(generator(study.name, 0))
    X, t, test = bag_of_words(load("newsgroups").matrix)
    model = MultinomialNB(alpha=1.0, fit_prior=False).fit(X[~test], t[~test])  # our alpha is 2
    assert outcome.metrics["accuracy"] == pytest.approx(model.score(X[test], t[test]))
    theirs = confusion_matrix(t[test], model.predict(X[test]))
    ours = np.array([outcome.tables["confusion"][f"true_{c}"] for c in range(1, 21)])
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(outcome.arrays["probability"].sum(1), 1, rtol=1e-5)
    assert outcome.metrics["count_20_as_16"] == theirs[19, 15]
    assert list(study.draw(outcome)) == ["smoothing", "probabilities", "confusion"]


def test_knobs_that_make_no_sense_are_refused() -> None:
    for knobs, complaint in (
        ({"alpha": 0.5}, "study.alpha"),
        ({"pairs": [[19, 21]]}, "study.pairs"),
        ({"data": "old-faithful"}, "five columns"),
    ):
        with pytest.raises(BadInput, match=complaint):
            NaiveBayesText(**knobs)  # type: ignore[arg-type]
