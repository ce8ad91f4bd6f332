"""Equations of MLAPP 17.5, learning for hidden Markov models."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import dirichlet, multivariate_normal

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._chains import Chain, joint, pairs, random_chain, states
from bythebook.models.chains.baum_welch import CategoricalHMM, GaussianHMM, baum_welch
from bythebook.models.types import Floats, Ints


class _Labelled(NamedTuple):
    """Sequences of states and of symbols, in which every state and every symbol occurs."""

    z: Ints  # (N, T)
    x: Ints  # (N, T)
    K: int
    L: int


def _labelled(rng: Generator) -> _Labelled:
    K, L, N = (int(n) for n in rng.integers(2, 4, 3))
    T = int(rng.integers(12, 30))
    z, x = rng.integers(K, size=(N, T)), rng.integers(L, size=(N, T))
    z[:, :K], x[:, :L] = rng.permutation(K), rng.permutation(L)
    return _Labelled(z, x, K, L)


def _most_likely(counts: Floats) -> Floats:
    """The rows of probabilities that maximise the sum of the counts times their logarithms."""

    def loss(logits: Floats) -> float:
        return -float((counts * log_softmax(logits.reshape(counts.shape), axis=1)).sum())

    found = minimize(loss, np.zeros(counts.size), tol=1e-10)
    return np.asarray(softmax(found.x.reshape(counts.shape), axis=1))


@equation(
    "17.92",
    section="17.5.1",
    latex=r"\hat{B}_{jl} = \frac{N_{jl}^X}{N_j}, \quad N_{jl}^X ="
    r" \sum_{i=1}^N \sum_{t=1}^{T_i} \mathbb{I}(z_{i,t} = j, x_{i,t} = l)",
    within=1e-5,
)
def most_likely_symbols(rng: Generator) -> Sides:
    """Relative counts of symbols with known states maximise the likelihood, by a search."""
    case = _labelled(rng)
    seen, B = np.zeros((2, case.K, case.L))
    np.add.at(seen, (case.z.ravel(), case.x.ravel()), 1)
    for j in range(case.K):
        symbols = case.x[case.z == j]
        B[j] = [np.sum(symbols == symbol) / symbols.size for symbol in range(case.L)]
    return Sides(truth=_most_likely(seen), printed=B)


@equation(
    "17.93 to 17.95",
    section="17.5.1",
    latex=r"\hat{\boldsymbol{\mu}}_k = \frac{\bar{\mathbf{x}}_k}{N_k}, \quad"
    r" \hat{\boldsymbol{\Sigma}}_k = \frac{(\bar{\mathbf{x}\mathbf{x}})_k^T"
    r" - N_k \hat{\boldsymbol{\mu}}_k \hat{\boldsymbol{\mu}}_k^T}{N_k}",
)
def most_likely_gaussians(rng: Generator) -> Sides:
    """Means and covariances of the data of each state are those that SciPy fits to them."""
    case, D = _labelled(rng), int(rng.integers(2, 4))
    x = rng.normal(rng.normal(size=D), size=(*case.z.shape, D)) @ rng.normal(size=(D, D))
    z = np.sort(case.z, axis=1) * 0 + np.arange(case.z.shape[1]) % case.K  # enough of each state
    truth = [multivariate_normal.fit(x[z == k]) for k in range(case.K)]
    means, covariances = [], []
    for k in range(case.K):
        first, second, count = np.zeros(D), np.zeros((D, D)), 0
        for value in x[z == k]:
            first, second, count = first + value, second + np.outer(value, value), count + 1
        means.append(first / count)
        covariances.append((second - count * np.outer(means[-1], means[-1])) / count)
    return Sides(
        truth=(np.array([m for m, _ in truth]), np.array([S for _, S in truth])),
        printed=(np.array(means), np.array(covariances)),
    )


@equation(
    "section 17.5.1, conjugate prior",
    section="17.5.1",
    latex=r"\mathbf{A}_j \sim \text{Dir}(\boldsymbol{\alpha}) \;\Rightarrow\;"
    r" \mathbf{A}_j|\mathcal{D} \sim \text{Dir}(\boldsymbol{\alpha} + \mathbf{N}_j)",
)
def posterior_of_a_row(rng: Generator) -> Sides:
    """With a Dirichlet prior the posterior of a row adds the counts of its transitions.

    Bayes' rule on random points: ratios of prior times likelihood to those at the first point.
    """
    case = _labelled(rng)
    alpha, j = rng.uniform(0.5, 4, case.K), int(rng.integers(case.K))
    points = rng.dirichlet(np.full(case.K, 2.0), 4)
    moves = [b for row in case.z for a, b in pairwise(row) if a == j]
    log_joint = [dirichlet(alpha).logpdf(p) + np.log(p[moves]).sum() for p in points]
    posterior = dirichlet(alpha + np.bincount(moves, minlength=case.K))
    log_posterior = np.array([posterior.logpdf(p) for p in points])
    return Sides(
        truth=np.array(log_joint[1:]) - log_joint[0], printed=log_posterior[1:] - log_posterior[0]
    )


class _Hidden(NamedTuple):
    """A model that emits symbols, some sequences, and the chain of each."""

    B: Floats  # (K, L)
    x: Ints  # (N, T)
    chains: list[Chain]

    @property
    def first(self) -> Floats:
        """The expected number of sequences that begin in each state (17.98)."""
        return np.asarray(np.sum([states(chain.posterior)[0] for chain in self.chains], axis=0))

    @property
    def moves(self) -> Floats:
        """The expected numbers of transitions (17.99)."""
        return np.asarray(np.sum([pairs(chain.posterior).sum(0) for chain in self.chains], axis=0))

    @property
    def seen(self) -> Floats:
        """The expected numbers of symbols emitted by each state (17.104)."""
        rows = np.eye(self.B.shape[1])
        both = zip(self.chains, self.x, strict=True)
        return np.asarray(
            np.sum([states(chain.posterior).T @ rows[x] for chain, x in both], axis=0)
        )


def _hidden(rng: Generator) -> _Hidden:
    chain, L, N = random_chain(rng, max_length=4), *(int(n) for n in rng.integers(2, 4, 2))
    B = rng.dirichlet(np.ones(L), len(chain.pi))
    x = rng.integers(L, size=(N, len(chain.lik)))
    return _Hidden(B, x, [chain._replace(lik=B.T[row]) for row in x])


@equation(
    "17.96, 17.97",
    section="17.5.2",
    latex=r"Q(\boldsymbol{\theta}, \boldsymbol{\theta}^{old}) = \sum_{k=1}^K"
    r" \mathbb{E}[N_k^1] \log \pi_k + \sum_{j=1}^K \sum_{k=1}^K \mathbb{E}[N_{jk}] \log A_{jk}"
    r" + \sum_{i=1}^N \sum_{t=1}^{T_i} \sum_{k=1}^K"
    r" p(z_t = k|\mathbf{x}_i, \boldsymbol{\theta}^{old}) \log p(\mathbf{x}_{i,t}|\phi_k)",
)
def expected_complete_log_likelihood(rng: Generator) -> Sides:
    """The expected complete data log likelihood is a sum over expected counts.

    The other side averages the log joint probability of data and path over all paths.
    """
    old = _hidden(rng)
    K, L = old.B.shape
    pi, A, B = (
        rng.dirichlet(np.ones(K)),
        rng.dirichlet(np.ones(K), K),
        rng.dirichlet(np.ones(L), K),
    )
    truth = sum(
        (chain.posterior * np.log(joint(pi, A, B.T[x]))).sum()
        for chain, x in zip(old.chains, old.x, strict=True)
    )
    printed = (old.first * np.log(pi)).sum() + (old.moves * np.log(A)).sum()
    return Sides(truth=truth, printed=printed + (old.seen * np.log(B)).sum())


@equation(
    "17.98 to 17.100, 17.103 to 17.105",
    section="17.5.2",
    latex=r"\hat{A}_{jk} = \frac{\mathbb{E}[N_{jk}]}{\sum_{k'} \mathbb{E}[N_{jk'}]}, \quad"
    r" \hat{\pi}_k = \frac{\mathbb{E}[N_k^1]}{N}, \quad"
    r" \hat{B}_{jl} = \frac{\mathbb{E}[M_{jl}]}{\mathbb{E}[N_j]}",
)
def baum_welch_step(rng: Generator) -> Sides:
    """A step of Baum-Welch normalises expected counts, which a sum over all paths gives."""
    case = _hidden(rng)
    model = CategoricalHMM(case.chains[0].pi[None], case.chains[0].A[None], case.B[None])
    new = baum_welch(model, case.x, tol=-np.inf, max_iter=1).theta
    visits = np.sum([states(chain.posterior).sum(0) for chain in case.chains], axis=0)
    return Sides(
        truth=(new.A[0], new.pi[0], new.B[0]),
        printed=(
            case.moves / case.moves.sum(1, keepdims=True),
            case.first / len(case.x),
            case.seen / visits[:, None],
        ),
    )


@equation(
    "17.106 to 17.108",
    section="17.5.2",
    latex=r"\hat{\boldsymbol{\mu}}_k = \frac{\mathbb{E}[\bar{\mathbf{x}}_k]}{\mathbb{E}[N_k]},"
    r" \quad \hat{\boldsymbol{\Sigma}}_k ="
    r" \frac{\mathbb{E}[(\bar{\mathbf{x}} \bar{\mathbf{x}})_k^T] - \mathbb{E}[N_k]"
    r" \hat{\boldsymbol{\mu}}_k \hat{\boldsymbol{\mu}}_k^T}{\mathbb{E}[N_k]}",
)
def baum_welch_step_of_gaussians(rng: Generator) -> Sides:
    """A step of Baum-Welch sets means and covariances to expected moments over their counts."""
    chain, D, N = random_chain(rng), int(rng.integers(1, 3)), int(rng.integers(2, 4))
    K, T = len(chain.pi), 4
    x, mu, root = rng.normal(size=(N, T, D)), rng.normal(size=(K, D)), rng.normal(size=(K, D, D))
    Sigma = root @ np.swapaxes(root, 1, 2) + np.eye(D)
    densities = [multivariate_normal(m, S) for m, S in zip(mu, Sigma, strict=True)]
    old = GaussianHMM(chain.pi[None], chain.A[None], mu[None], Sigma[None])
    new = baum_welch(old, x, tol=-np.inf, max_iter=1).theta
    gamma = np.array(
        [
            states(
                chain._replace(
                    lik=np.transpose([np.reshape(p.pdf(row), T) for p in densities])
                ).posterior
            )
            for row in x
        ]
    )
    count = gamma.sum((0, 1))
    means = np.einsum("ntk,ntd->kd", gamma, x) / count[:, None]
    second = np.einsum("ntk,ntd,nte->kde", gamma, x, x)
    outer = count[:, None, None] * means[:, :, None] * means[:, None, :]
    return Sides(
        truth=(new.mu[0], new.Sigma[0]),
        printed=(means, (second - outer) / count[:, None, None]),
    )
