"""Equations of MLAPP 17.2.2, Markov models of language."""

from itertools import pairwise

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import betaln, gammaln, softmax
from scipy.stats import beta, dirichlet_multinomial

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.chains import bigram_priors
from bythebook.models.types import Floats, Ints


def _texts(rng: Generator) -> tuple[list[Ints], int]:
    """Some sequences of different lengths, in which each symbol begins one and is left."""
    K = int(rng.integers(2, 4))
    firsts = rng.permutation([*range(K), int(rng.integers(K))])
    texts = [rng.integers(K, size=int(rng.integers(8, 20))) for _ in firsts]
    for first, text in zip(firsts, texts, strict=True):
        text[0], text[1 : K + 1] = first, rng.permutation(K)
    return texts, K


def _counts(texts: list[Ints], K: int) -> tuple[Floats, Floats]:
    """N_j^1 and N_jk (17.11)."""
    first, moves = np.zeros(K), np.zeros((K, K))
    for text in texts:
        first[text[0]] += 1
        for j, k in pairwise(text):
            moves[j, k] += 1
    return first, moves


def _log_likelihood(texts: list[Ints], pi: Floats, A: Floats) -> float:
    """Each transition of each text in turn (17.8)."""
    return float(
        sum(np.log(pi[text[0]]) + sum(np.log(A[j, k]) for j, k in pairwise(text)) for text in texts)
    )


@equation(
    "17.8 to 17.11",
    section="17.2.2",
    latex=r"\log p(\mathcal{D}|\boldsymbol{\theta}) = \sum_j N_j^1 \log \pi_j"
    r" + \sum_j \sum_k N_{jk} \log A_{jk}",
)
def log_likelihood_of_counts(rng: Generator) -> Sides:
    """The log likelihood of some sequences is a sum over counts."""
    texts, K = _texts(rng)
    pi, A = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K)
    first, moves = _counts(texts, K)
    printed = (first * np.log(pi)).sum() + (moves * np.log(A)).sum()
    return Sides(truth=_log_likelihood(texts, pi, A), printed=printed)


@equation(
    "17.12",
    section="17.2.2",
    latex=r"\hat{\pi}_j = \frac{N_j^1}{\sum_j N_j^1}, \quad"
    r" \hat{A}_{jk} = \frac{N_{jk}}{\sum_k N_{jk}}",
    within=1e-4,
)
def normalised_counts(rng: Generator) -> Sides:
    """Normalised counts maximise the likelihood; the maximum comes from a search."""
    texts, K = _texts(rng)

    def model(logits: Floats) -> Floats:
        return np.asarray(softmax(logits.reshape(K + 1, K), axis=1))

    def loss(logits: Floats) -> float:
        rows = model(logits)
        return -_log_likelihood(texts, rows[0], rows[1:])

    best = model(minimize(loss, np.zeros((K + 1) * K), tol=1e-9).x)
    first, moves = _counts(texts, K)
    return Sides(
        truth=(best[0], best[1:]),
        printed=(first / first.sum(), moves / moves.sum(1, keepdims=True)),
    )


@equation(
    "17.13",
    section="17.2.2",
    latex=r"A_{jk} = (1 - \lambda) f_{jk} + \lambda f_k, \quad f_{jk} = N_{jk} / N_j, \quad"
    r" f_k = N_k / N",
)
def deleted_interpolation(rng: Generator) -> Sides:
    """Deleted interpolation mixes the frequencies of pairs and of single symbols."""
    texts, K = _texts(rng)
    weight, moves = rng.uniform(0.1, 0.9), _counts(texts, K)[1]
    followers = [int(k) for text in texts for k in text[1:]]
    printed = np.zeros((K, K))
    for j, k in np.ndindex(K, K):
        after = [int(b) for text in texts for a, b in pairwise(text) if a == j]
        own = after.count(k) / len(after)
        printed[j, k] = (1 - weight) * own + weight * followers.count(k) / len(followers)
    return Sides(truth=bigram_priors.interpolated(moves, weight), printed=printed)


@equation(
    "17.15, 17.16",
    section="17.2.2",
    latex=r"p(X_{t+1} = k|X_t = j, \mathcal{D}) = (1 - \lambda_j) f_{jk} + \lambda_j m_k,"
    r" \quad \lambda_j = \frac{\alpha_0}{N_j + \alpha_0}",
    within=1e-7,
)
def predictive_of_a_row(rng: Generator) -> Sides:
    """The posterior predictive distribution mixes frequencies and prior mean.

    For two symbols; the other side is the mean of a row by quadrature of prior times likelihood.
    """
    m, strength = rng.dirichlet([3.0, 3.0]), rng.uniform(2, 9)
    counts = rng.integers(1, 12, size=2)
    prior = beta(*(strength * m))

    def joint(p: float) -> float:
        return float(prior.pdf(p) * p ** counts[0] * (1 - p) ** counts[1])

    mean = quad(lambda p: p * joint(p), 0, 1)[0] / quad(joint, 0, 1)[0]
    weight = strength / (counts.sum() + strength)
    printed = (1 - weight) * counts / counts.sum() + weight * m
    return Sides(truth=[mean, 1 - mean], printed=printed)


@equation(
    "17.17",
    section="17.2.2",
    latex=r"p(\mathcal{D}|\boldsymbol{\alpha}) = \prod_j"
    r" \frac{B(\mathbf{N}_j + \boldsymbol{\alpha})}{B(\boldsymbol{\alpha})}",
)
def evidence_of_rows(rng: Generator) -> Sides:
    """The marginal likelihood is a product over rows of ratios of generalised beta functions.

    SciPy's probability of the counts of a row has in addition the number of their orders.
    """
    texts, K = _texts(rng)
    moves, alpha = _counts(texts, K)[1], rng.uniform(0.2, 3, K)
    truth = 0.0
    for row in moves:
        orders = gammaln(row.sum() + 1) - gammaln(row + 1).sum()
        truth += dirichlet_multinomial(alpha, int(row.sum())).logpmf(row.astype(int)) - orders

    def log_B(a: Floats) -> float:
        """The generalised beta function as a product of beta functions of two numbers."""
        return float(sum(betaln(a[: k + 1].sum(), a[k + 1]) for k in range(len(a) - 1)))

    printed = sum(log_B(row + alpha) - log_B(alpha) for row in moves)
    return Sides(truth=truth, printed=printed)
