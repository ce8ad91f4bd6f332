r"""The Bayes classifier of texts: a multinomial over the vocabulary for each class (FCML 5.2.1.6).

    P(x | q_c) = s! / prod_m x_m!  prod_m q_cm^x_m,   s = sum_m x_m                FCML 5.6

    maximum likelihood    q_cm = n_cm / sum_m' n_cm',   n_cm = sum_n x_nm
    MAP, Dirichlet prior  q_cm = (alpha - 1 + n_cm) / (M (alpha - 1) + sum n_cm')  FCML 5.8

The posterior of q_c is Dirichlet(alpha + n_c); averaged over it, the likelihood of a text is

    E{P(x | q_c)} = s! / prod_m x_m!  B(alpha + n_c + x) / B(alpha + n_c)          exercise 5.6

with B(a) = prod_m Gamma(a_m) / Gamma(sum_m a_m). Texts are rows of counts, dense or sparse.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln

from bythebook.models.types import Bools, Floats, Ints

Counts = Any  # (N, M) an array or scipy.sparse.csr_array of whole numbers


def bag_of_words(table: Floats) -> tuple[Counts, Ints, Bools]:
    """Counts (N, M) as a sparse matrix, the class 0, 1, ... of each text, whether it is a test.

    The input has rows of test, class, document, word and count.
    """
    _, first, document = np.unique(table[:, 2], return_index=True, return_inverse=True)
    word = table[:, 3].astype(np.int64)
    shape = (len(first), int(word.max()) + 1)
    X = csr_array((table[:, 4], (document, word)), shape=shape)
    return X, table[first, 1].astype(np.int64) - 1, table[first, 0] == 1


def class_counts(X: Counts, t: Ints, C: int) -> Floats:
    """n_cm: how often each word occurs in the texts of each class 0, ..., C - 1, shape (C, M)."""
    which = csr_array((np.ones(len(t)), (t, np.arange(len(t)))), shape=(C, len(t)))
    total = which @ X
    return np.asarray(total.toarray() if hasattr(total, "toarray") else total, dtype=np.float64)


def word_probabilities(n: Floats, alpha: float = 1.0) -> Floats:
    """The MAP estimate q_cm for counts (C, M); alpha = 1 is maximum likelihood."""
    if alpha < 1:
        raise ValueError("below alpha = 1 the posterior density has no maximum inside")
    smoothed = n + (alpha - 1)
    return np.asarray(smoothed / smoothed.sum(-1, keepdims=True))  # FCML 5.8


def log_score(X: Counts, q: Floats) -> Floats:
    """sum_m x_m ln q_cm, shape (N, C): the log likelihood without the coefficient.

    A word that a class has never seen makes it -inf.
    """
    unseen = q == 0
    score = np.asarray(X @ np.log(np.where(unseen, 1.0, q)).T)  # FCML 5.6
    if unseen.any():
        score[np.asarray(X @ unseen.T.astype(np.float64)) > 0] = -np.inf
    return score


def log_expected_score(X: Counts, n: Floats, alpha: float) -> Floats:
    """Ln E{prod_m q_cm^x_m} over the posterior Dirichlet(alpha + n_c), shape (N, C)."""
    X = csr_array(X)
    a = alpha + n  # (C, M), FCML exercise 5.5
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    ours = a[:, X.indices]  # (C, entries)
    gain = gammaln(ours + X.data) - gammaln(ours)
    texts = np.stack([np.bincount(rows, weights=g, minlength=X.shape[0]) for g in gain], axis=1)
    total, length = a.sum(1), np.asarray(X.sum(1)).reshape(-1, 1)
    return np.asarray(texts + gammaln(total) - gammaln(total + length))  # FCML exercise 5.6
