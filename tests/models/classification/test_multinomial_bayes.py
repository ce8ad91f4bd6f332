"""The multinomial text classifier against scikit-learn, scipy.stats and Monte Carlo."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import gammaln
from scipy.stats import dirichlet_multinomial, multinomial
from sklearn.naive_bayes import MultinomialNB

from bythebook.models.classification.multinomial_bayes import (
    bag_of_words,
    class_counts,
    log_expected_score,
    log_score,
    word_probabilities,
)


@pytest.fixture
def texts():
    rng = np.random.default_rng(8)
    X = rng.poisson(0.8, (30, 12))
    X[:, 7] = 0
    return X, rng.integers(0, 3, 30), rng.poisson(1.0, (9, 12))


def test_smoothed_probabilities_are_those_of_scikit_learn(texts):
    X, t, new = texts
    theirs = MultinomialNB(alpha=0.5, fit_prior=False).fit(X, t)
    n = class_counts(csr_array(X), t, 3)
    np.testing.assert_array_equal(n, class_counts(X, t, 3))
    q = word_probabilities(n, 1.5)  # their alpha is our alpha - 1
    np.testing.assert_allclose(np.log(q), theirs.feature_log_prob_, rtol=1e-12)
    score = log_score(csr_array(new), q)
    np.testing.assert_array_equal(score.argmax(1), theirs.predict(new))
    np.testing.assert_allclose(score, log_score(new, q), rtol=1e-12)


def test_likelihood_is_the_multinomial(texts):
    X, t, new = texts
    q = word_probabilities(class_counts(X, t, 3), 2.0)
    for c in range(3):
        ours = (gammaln(new.sum(-1) + 1) - gammaln(new + 1).sum(-1)) + log_score(new, q)[:, c]
        law = [multinomial(x.sum(), q[c]).logpmf(x) for x in new]
        np.testing.assert_allclose(ours, law, rtol=1e-10)


def test_expected_likelihood_is_the_dirichlet_multinomial(texts):
    X, t, new = texts
    n = class_counts(X, t, 3)
    score = log_expected_score(csr_array(new), n, 1.3)
    for c in range(3):
        law = [dirichlet_multinomial(1.3 + n[c], x.sum()).logpmf(x) for x in new]
        ours = (gammaln(new.sum(-1) + 1) - gammaln(new + 1).sum(-1)) + score[:, c]
        np.testing.assert_allclose(ours, law, rtol=1e-10)


def test_a_word_never_seen_rules_the_class_out(texts):
    X, t, _ = texts
    q = word_probabilities(class_counts(X, t, 3))
    x = np.zeros((2, 12))
    x[0, 7], x[1, 0] = 1, 1
    score = log_score(x, q)
    assert np.isneginf(score[0]).all()
    assert np.isfinite(score[1]).all()
    with pytest.raises(ValueError, match="no maximum"):
        word_probabilities(np.ones((1, 2)), 0.9)


def test_rows_become_a_bag_of_words():
    rows = np.array([[0, 2, 7, 1, 3], [0, 2, 7, 0, 1], [1, 1, 9, 2, 5]], dtype=float)
    X, t, test = bag_of_words(rows)  # documents 7 and 9
    assert X.toarray().tolist() == [[1, 3, 0], [0, 0, 5]]
    assert t.tolist() == [1, 0]
    assert test.tolist() == [False, True]
