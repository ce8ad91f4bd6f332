"""Equations of PRML 13.2.1, maximum likelihood for hidden Markov models.

An EM step of the project's model is held against the printed formulas, with the posterior of the
states from a sum over all paths.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.stats import multivariate_normal

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._chains import Chain, joint, pairs, random_chain, states
from bythebook.models.chains.baum_welch import CategoricalHMM, GaussianHMM, baum_welch
from bythebook.models.types import Floats, Ints


class _Case(NamedTuple):
    """A model that emits symbols, a sequence, and the chain of its likelihoods."""

    B: Floats  # (K, L)
    x: Ints  # (T,)
    chain: Chain

    @property
    def model(self) -> CategoricalHMM:
        return CategoricalHMM(self.chain.pi[None], self.chain.A[None], self.B[None])


def _symbols(rng: Generator) -> _Case:
    chain, L = random_chain(rng), int(rng.integers(2, 5))
    B, x = rng.dirichlet(np.ones(L), len(chain.pi)), rng.integers(L, size=len(chain.lik))
    return _Case(B, x, chain._replace(lik=B.T[x]))


@equation(
    "13.11",
    section="13.2.1",
    latex=r"p(\mathbf{X}|\boldsymbol{\theta}) ="
    r" \sum_{\mathbf{Z}} p(\mathbf{X}, \mathbf{Z}|\boldsymbol{\theta})",
)
def likelihood_over_paths(rng: Generator) -> Sides:
    """The likelihood that EM increases is the sum over all paths."""
    case = _symbols(rng)
    fit = baum_welch(case.model, case.x, tol=-np.inf, max_iter=0)
    return Sides(truth=fit.final[0], printed=np.log(joint(*case.chain).sum()))


@equation(
    "13.18, 13.19",
    section="13.2.1",
    latex=r"\pi_k = \frac{\gamma(z_{1k})}{\sum_{j=1}^K \gamma(z_{1j})}, \quad"
    r" A_{jk} = \frac{\sum_{n=2}^N \xi(z_{n-1,j}, z_{nk})}"
    r"{\sum_{l=1}^K \sum_{n=2}^N \xi(z_{n-1,j}, z_{nl})}",
)
def m_step_of_the_chain(rng: Generator) -> Sides:
    """An EM step sets first states and transitions to shares of gamma and xi."""
    case = _symbols(rng)
    new = baum_welch(case.model, case.x, tol=-np.inf, max_iter=1).theta
    gamma, xi = states(case.chain.posterior), pairs(case.chain.posterior).sum(0)
    return Sides(
        truth=(new.pi[0], new.A[0]),
        printed=(gamma[0] / gamma[0].sum(), xi / xi.sum(1, keepdims=True)),
    )


@equation(
    "13.20, 13.21",
    section="13.2.1",
    latex=r"\boldsymbol{\mu}_k = \frac{\sum_{n=1}^N \gamma(z_{nk}) \mathbf{x}_n}"
    r"{\sum_{n=1}^N \gamma(z_{nk})}, \quad \boldsymbol{\Sigma}_k ="
    r" \frac{\sum_{n=1}^N \gamma(z_{nk}) (\mathbf{x}_n - \boldsymbol{\mu}_k)"
    r" (\mathbf{x}_n - \boldsymbol{\mu}_k)^T}{\sum_{n=1}^N \gamma(z_{nk})}",
)
def m_step_of_gaussians(rng: Generator) -> Sides:
    """An EM step sets means and covariances to those of the data weighted by gamma."""
    chain, D = random_chain(rng), int(rng.integers(1, 3))
    K, N = len(chain.pi), 6
    x, mu, root = rng.normal(size=(N, D)), rng.normal(size=(K, D)), rng.normal(size=(K, D, D))
    Sigma = root @ np.swapaxes(root, 1, 2) + np.eye(D)
    lik = [np.reshape(multivariate_normal(m, S).pdf(x), N) for m, S in zip(mu, Sigma, strict=True)]
    chain = chain._replace(lik=np.transpose(lik))
    old = GaussianHMM(chain.pi[None], chain.A[None], mu[None], Sigma[None])
    new = baum_welch(old, x, tol=-np.inf, max_iter=1).theta
    gamma = states(chain.posterior)
    means = gamma.T @ x / gamma.sum(0)[:, None]
    off = x[:, None] - means
    scatter = np.einsum("nk,nkd,nke->kde", gamma, off, off)
    return Sides(
        truth=(new.mu[0], new.Sigma[0]),
        printed=(means, scatter / gamma.sum(0)[:, None, None]),
    )


@equation(
    "13.23",
    section="13.2.1",
    latex=r"\mu_{ik} = \frac{\sum_{n=1}^N \gamma(z_{nk}) x_{ni}}{\sum_{n=1}^N \gamma(z_{nk})}",
)
def m_step_of_multinomials(rng: Generator) -> Sides:
    """An EM step sets the probabilities of symbols to shares of gamma."""
    case = _symbols(rng)
    new = baum_welch(case.model, case.x, tol=-np.inf, max_iter=1).theta
    gamma, seen = states(case.chain.posterior), np.eye(case.B.shape[1])[case.x]
    return Sides(truth=new.B[0], printed=(seen.T @ gamma / gamma.sum(0)).T)
