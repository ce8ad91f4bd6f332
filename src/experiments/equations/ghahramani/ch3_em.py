"""Equations of Ghahramani 3, the EM algorithm."""

import numpy as np
from numpy.random import Generator
from scipy.integrate import trapezoid
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._mixtures import bayes, gaussian_case
from bythebook.models.clustering import gaussian_mixture as model
from bythebook.models.types import Floats


@equation(
    "15 to 17, 22, 23",
    section="3",
    latex=r"F(q, \theta) = \int q(\mathbf{x}) \log \frac{p(\mathbf{x}, \mathbf{y}|\theta)}"
    r"{q(\mathbf{x})} d\mathbf{x} = \log p(\mathbf{y}|\theta) -"
    r" \text{KL}(q(\mathbf{x})\|p(\mathbf{x}|\mathbf{y}, \theta))",
    within=1e-6,
)
def free_energy(rng: Generator) -> Sides:
    """The free energy of a continuous latent variable: y is x and noise, and q any Gaussian."""
    mean, y, at = rng.normal(size=3) * 2
    prior, noise, width = rng.uniform(0.3, 2, 3)
    gain = prior**2 / (prior**2 + noise**2)
    posterior = norm(mean + gain * (y - mean), np.sqrt(gain) * noise)
    q = norm(at, width)
    x = np.linspace(at - 12 * width, at + 12 * width, 2001)
    joint = norm.logpdf(x, mean, prior) + norm.logpdf(y, x, noise)
    bound = trapezoid(q.pdf(x) * (joint - q.logpdf(x)), x)
    divergence = trapezoid(q.pdf(x) * (q.logpdf(x) - posterior.logpdf(x)), x)
    evidence = norm.logpdf(y, mean, np.hypot(prior, noise))
    return Sides(truth=bound, printed=evidence - divergence)


@equation(
    "18, 19",
    section="3",
    latex=r"\operatorname{argmax}_{q(\mathbf{x})} \int q(\mathbf{x}) \log \frac{p(\mathbf{x},"
    r" \mathbf{y}|\theta_{k-1})}{q(\mathbf{x})} d\mathbf{x} = p(\mathbf{x}|\mathbf{y},"
    r" \theta_{k-1})",
    within=1e-6,
)
def e_step(rng: Generator) -> Sides:
    """The distribution of a discrete latent variable that maximises F, by a search."""
    joint = rng.gamma(0.8, size=int(rng.integers(2, 8))) * rng.uniform(0.01, 0.4) + 1e-3

    def loss(values: Floats) -> tuple[float, Floats]:
        q = softmax(values)
        each = np.log(joint / q)
        return -(q @ each), -q * (each - q @ each)

    best = minimize(loss, np.zeros(len(joint)), jac=True, options={"gtol": 1e-10}).x
    return Sides(truth=softmax(best), printed=joint / joint.sum())


@equation(
    "20, 21",
    section="3",
    latex=r"\theta_k = \operatorname{argmax}_{\theta} \int q_k(\mathbf{x}) \log \frac{p(\mathbf{x},"
    r" \mathbf{y}|\theta)}{q_k(\mathbf{x})} d\mathbf{x} = \operatorname{argmax}_{\theta}"
    r" \int q_k(\mathbf{x})"
    r" \log p(\mathbf{x}, \mathbf{y}|\theta) d\mathbf{x}",
    within=1e-5,
)
def m_step(rng: Generator) -> Sides:
    """The parameters of a mixture on a line that maximise F, by a search, and the M step of EM."""
    case = gaussian_case(rng)
    case = case._replace(X=case.X[:, :1], mu=case.mu[:, :1], Sigma=case.Sigma[:, :1, :1])
    q, x, K = bayes(case), case.X, len(case.pi)

    def loss(values: Floats) -> float:  # -F up to a constant
        log_pi, mu, log_sd = log_softmax(values[:K]), values[K : 2 * K], values[2 * K :]
        log_p = log_pi - log_sd - ((x - mu) / np.exp(log_sd)) ** 2 / 2
        return float(-(q * (log_p - np.log(q))).sum() / len(x))

    start = np.concatenate([np.zeros(K), case.mu[:, 0], np.log(case.Sigma[:, 0, 0]) / 2])
    best = minimize(loss, start, jac="3-point", options={"gtol": 1e-9}).x
    after = model.m_step(case.model, model.e_step(case.X, case.model)[0])
    return Sides(
        truth=(softmax(best[:K]), best[K : 2 * K], np.exp(2 * best[2 * K :])),
        printed=(after.pi[0], after.mu[0, :, 0], after.Sigma[0, :, 0, 0]),
    )
