"""Equations of PRML 14.5.1, mixtures of linear regression models."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.clustering import linear_mixture as model
from bythebook.models.clustering.linear_mixture import LinearMixture
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """Basis functions, targets and a mixture of lines or planes."""

    Phi: Floats  # (N, M)
    t: Floats  # (N,)
    pi: Floats  # (K,)
    w: Floats  # (K, M)
    beta: float

    @property
    def model(self) -> LinearMixture:
        return LinearMixture(self.pi[None], self.w[None], np.array([self.beta]))

    @property
    def density(self) -> Floats:
        """N(t_n | w_k^T phi_n, 1 / beta) by SciPy, (N, K)."""
        sd = 1 / np.sqrt(self.beta)
        return np.asarray(norm.pdf(self.t[:, None], self.Phi @ self.w.T, sd))


def _case(rng: Generator) -> _Case:
    M, K = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    N = int(rng.integers(20, 40))
    Phi = np.column_stack([np.ones(N), rng.normal(size=(N, M - 1))])
    w = rng.normal(size=(K, M))
    t = np.einsum("nm,nm->n", Phi, w[rng.integers(K, size=N)]) + rng.normal(size=N) / 2
    start = w + rng.normal(size=(K, M)) / 2
    return _Case(Phi, t, rng.dirichlet(np.full(K, 3.0)), start, rng.uniform(0.5, 4))


@equation(
    "14.34, 14.35",
    section="14.5.1",
    latex=r"\ln p(\mathbf{t}|\mathbf{\theta}) = \sum_{n=1}^N \ln \left(\sum_{k=1}^K \pi_k"
    r" \mathcal{N}(t_n | \mathbf{w}_k^T \mathbf{\phi}_n, \beta^{-1}) \right)",
)
def lines_log_likelihood(rng: Generator) -> Sides:
    """The log likelihood of a mixture of lines, against that which EM maximises."""
    case = _case(rng)
    L = np.log((case.pi * case.density).sum(1)).sum()
    return Sides(truth=model.e_step(case.Phi, case.t, case.model)[1][0], printed=L)


@equation(
    "14.37",
    section="14.5.1",
    latex=r"\gamma_{nk} = \frac{\pi_k \mathcal{N}(t_n | \mathbf{w}_k^T \phi_n, \beta^{-1})}{\sum_j"
    r" \pi_j \mathcal{N}(t_n | \mathbf{w}_j^T \phi_n, \beta^{-1})}",
)
def line_responsibility(rng: Generator) -> Sides:
    """The responsibilities of the lines, against those of the fits."""
    case = _case(rng)
    joint = case.pi * case.density
    return Sides(
        truth=model.responsibilities(case.Phi, case.t, case.model)[0],
        printed=joint / joint.sum(1)[:, None],
    )


@equation(
    "14.38, 14.40 to 14.42, 14.44, exercise 14.14",
    section="14.5.1",
    latex=r"\pi_k = \frac{1}{N} \sum_{n=1}^N \gamma_{nk}, \quad \mathbf{w}_k = (\Phi^T \mathbf{R}_k"
    r" \Phi)^{-1} \Phi^T \mathbf{R}_k \mathbf{t}, \quad \frac{1}{\beta} = \frac{1}{N} \sum_{n=1}^N"
    r" \sum_{k=1}^K \gamma_{nk} (t_n - \mathbf{w}_k^T \phi_n)^2",
    within=1e-5,
)
def lines_m_step(rng: Generator) -> Sides:
    """The M step maximises the expected complete-data log likelihood, by a search."""
    case = _case(rng)
    gamma = softmax(np.log(case.pi * case.density), axis=1)
    (N, K), M = gamma.shape, case.Phi.shape[1]

    def parts(values: Floats) -> tuple[Floats, Floats, float]:
        return log_softmax(values[:K]), values[K:-1].reshape(K, M), float(values[-1])

    def loss(values: Floats) -> tuple[float, Floats]:
        log_pi, w, log_beta = parts(values)
        off = case.t[:, None] - case.Phi @ w.T
        log_p = norm.logpdf(off, scale=np.exp(-log_beta / 2))
        slopes = [
            gamma.sum(0) - N * np.exp(log_pi),
            np.exp(log_beta) * ((gamma * off).T @ case.Phi).ravel(),
            [N / 2 - np.exp(log_beta) * (gamma * off**2).sum() / 2],
        ]
        return -(gamma * (log_pi + log_p)).sum() / N, -np.concatenate(slopes) / N

    start = np.concatenate([np.zeros(K), case.w.ravel(), [np.log(case.beta)]])
    log_pi, w, log_beta = parts(minimize(loss, start, jac=True, options={"gtol": 1e-9}).x)
    R = [np.diag(g) for g in gamma.T]
    lines = np.array(
        [np.linalg.solve(case.Phi.T @ r @ case.Phi, case.Phi.T @ r @ case.t) for r in R]
    )
    noise = (gamma * (case.t[:, None] - case.Phi @ lines.T) ** 2).sum() / N
    return Sides(
        truth=(np.exp(log_pi), w, np.exp(-log_beta)), printed=(gamma.sum(0) / N, lines, noise)
    )
