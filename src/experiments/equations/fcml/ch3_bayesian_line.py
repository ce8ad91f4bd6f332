"""Equations of FCML 3.7.4 to 3.7.6 and of exercise 3.12: prior, prediction and noise of a line."""

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, psi
from scipy.stats import multivariate_normal

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "section 3.7.4, prior",
    section="3.7.4",
    latex=r"p(\mathbf{w}) = \frac{1}{(2 \pi)^{N/2} |\mathbf{\Sigma}_0|^{1/2}} \exp \left("
    r" -\frac{1}{2} (\mathbf{w} - \mathbf{\mu}_0)^T \mathbf{\Sigma}_0^{-1} (\mathbf{w} -"
    r" \mathbf{\mu}_0) \right)",
    corrected=r"p(\mathbf{w}) = \frac{1}{(2 \pi)^{(K+1)/2} |\mathbf{\Sigma}_0|^{1/2}} \exp \left("
    r" -\frac{1}{2} (\mathbf{w} - \mathbf{\mu}_0)^T \mathbf{\Sigma}_0^{-1} (\mathbf{w} -"
    r" \mathbf{\mu}_0) \right)",
    cause="3.7.4-normaliser-of-the-prior",
)
def prior_of_weights(rng: Generator) -> Sides:
    """The Gaussian prior density of the weights, with N the number of data."""
    D = int(rng.integers(1, 4))
    N = D + int(rng.integers(1, 9))
    root, mean, w = rng.normal(size=(D, D)), rng.normal(size=D), rng.normal(size=D)
    covariance = root @ root.T + 0.3 * np.eye(D)
    form = (w - mean) @ np.linalg.solve(covariance, w - mean)
    common = -np.linalg.slogdet(covariance).logabsdet / 2 - form / 2
    return Sides(
        truth=multivariate_normal(mean, covariance).logpdf(w),
        printed=common - N / 2 * np.log(2 * np.pi),
        corrected=common - D / 2 * np.log(2 * np.pi),
    )


@equation(
    "section 3.7.6, prediction",
    section="3.7.6",
    latex=r"p(t_{new} | \mathbf{x}_{new}, \mathbf{X}, \mathbf{t}, \sigma^2) = N(\mathbf{x}_{new}^T"
    r" \mathbf{\mu}_w, \sigma^2 + \mathbf{x}_{new}^T \mathbf{\Sigma}_w \mathbf{x}_{new})",
)
def averaged_prediction(rng: Generator) -> Sides:
    """The predictive density, averaged over the posterior of the weights.

    The other route conditions the joint Gaussian of all targets on the observed ones.
    """
    D, N = int(rng.integers(1, 4)), int(rng.integers(3, 9))
    X, t, new = rng.normal(size=(N, D)), rng.normal(size=N), rng.normal(size=D)
    root, noise = rng.normal(size=(D, D)), rng.uniform(0.2, 2)
    prior = root @ root.T + 0.3 * np.eye(D)
    between = np.linalg.solve(X @ prior @ X.T + noise * np.eye(N), X @ prior @ new)
    truth = between @ t, new @ prior @ new + noise - between @ X @ prior @ new
    S = np.linalg.inv(X.T @ X / noise + np.linalg.inv(prior))
    return Sides(truth=truth, printed=(new @ S @ X.T @ t / noise, noise + new @ S @ new))


@equation(
    "exercise 3.12",
    section="3.10",
    latex=r"p(\sigma^2 | \alpha, \beta) = \frac{\beta^\alpha}{\Gamma(\alpha)} (\sigma^2)^{-\alpha"
    r" - 1} \exp \left\{ -\frac{\beta}{\sigma^2} \right\}, \quad p(\sigma^2 | \mathbf{w},"
    r" \mathbf{X}, \mathbf{t}) = IG\left(\alpha + \frac{N}{2}, \beta + \frac{1}{2} (\mathbf{t} -"
    r" \mathbf{Xw})^T (\mathbf{t} - \mathbf{Xw})\right)",
)
def noise_posterior(rng: Generator) -> Sides:
    """The posterior of the noise variance under an inverse gamma prior is inverse gamma.

    Prior times likelihood is normalised by quadrature over the log of the variance; its evidence
    and the means of 1 / v and ln v are compared.
    """
    residuals = rng.normal(0, rng.uniform(0.3, 2), int(rng.integers(1, 12)))
    a, b = rng.uniform(0.6, 4, 2)
    N, squares = len(residuals), residuals @ residuals
    u = np.linspace(-12, 60, 12_001)
    log_prior = a * np.log(b) - gammaln(a) - (a + 1) * u - b * np.exp(-u)
    log_likelihood = -N / 2 * (np.log(2 * np.pi) + u) - squares / 2 * np.exp(-u)
    p = np.exp(log_prior + log_likelihood + u) * (u[1] - u[0])
    evidence = p.sum()
    truth = np.log(evidence), p @ np.exp(-u) / evidence, p @ u / evidence
    after, scale = a + N / 2, b + squares / 2
    log_evidence = a * np.log(b) - gammaln(a) - N / 2 * np.log(2 * np.pi)
    log_evidence += gammaln(after) - after * np.log(scale)
    return Sides(truth=truth, printed=(log_evidence, after / scale, np.log(scale) - psi(after)))
