"""Equations of PRML 10.6, variational logistic regression."""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit
from scipy.stats import multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations.prml._logistic_cases import (
    draw_case,
    lam_of,
    log_h,
    log_integral,
    log_joint,
    posterior,
)
from bythebook.models.approximation import variational_logistic as model
from bythebook.models.types import Floats


@equation(
    "10.152, 10.153",
    section="10.6.1",
    latex=r"p(\mathbf{t}|\mathbf{w}) \geq h(\mathbf{w}, \mathbf{\xi}) = \prod_{n=1}^N"
    r" \sigma(\xi_n) \exp \left\{ \mathbf{w}^T \mathbf{\phi}_n t_n - (\mathbf{w}^T \mathbf{\phi}_n"
    r" + \xi_n) / 2 - \lambda(\xi_n) ([\mathbf{w}^T \mathbf{\phi}_n]^2 - \xi_n^2) \right\}",
)
def joint_lower_bound(rng: Generator) -> Sides:
    """The bound on the likelihood: its maximum over the parameters, by a search, is the likelihood.

    A function that somewhere exceeded the likelihood would have a larger maximum.
    """
    case = draw_case(rng)
    w = rng.normal(0, 1.5, (1, len(case.m0)))
    a = (w @ case.phi.T)[0]

    def below(u: float, n: int) -> float:
        log = np.log(expit(u)) + a[n] * case.t[n] - (a[n] + u) / 2
        return float(log - (expit(u) - 0.5) / (2 * u) * (a[n] ** 2 - u**2))

    found = [
        minimize_scalar(lambda u, n=n: -below(u, n), bounds=(1e-3, 30), method="bounded")
        for n in range(len(a))
    ]
    likelihood = case.t * np.log(expit(a)) + (1 - case.t) * np.log(expit(-a))
    return Sides(truth=likelihood, printed=np.array([-best.fun for best in found]))


@equation(
    "10.156 to 10.158",
    section="10.6.1",
    latex=r"q(\mathbf{w}) = \mathcal{N}(\mathbf{w}|\mathbf{m}_N, \mathbf{S}_N), \quad \mathbf{m}_N"
    r" = \mathbf{S}_N \left( \mathbf{S}_0^{-1} \mathbf{m}_0 + \sum_{n=1}^N (t_n - 1/2)"
    r" \mathbf{\phi}_n \right), \quad \mathbf{S}_N^{-1} = \mathbf{S}_0^{-1} + 2 \sum_{n=1}^N"
    r" \lambda(\xi_n) \mathbf{\phi}_n \mathbf{\phi}_n^T",
)
def variational_posterior(rng: Generator) -> Sides:
    """The Gaussian posterior has the density of h times the prior, up to a constant."""
    case = draw_case(rng)
    w, P0 = rng.normal(0, 1.5, (6, len(case.m0))), np.linalg.inv(case.S0)
    lam = np.tanh(case.xi / 2) / (4 * case.xi)  # by the other form of (10.141), positive
    P = P0 + 2 * sum(c * np.outer(row, row) for c, row in zip(lam, case.phi, strict=True))
    S = np.linalg.inv(P)
    mean = S @ (P0 @ case.m0 + sum((case.t - 1 / 2)[:, None] * case.phi))
    log_q, log_p = multivariate_normal(mean, S).logpdf(w), log_joint(case, w)
    return Sides(truth=log_p[1:] - log_p[0], printed=log_q[1:] - log_q[0])


@equation(
    "10.160, 10.161",
    section="10.6.2",
    latex=r"\mathbb{E}[\ln h(\mathbf{w}, \mathbf{\xi}) p(\mathbf{w})] = \sum_{n=1}^N \left\{"
    r" \ln \sigma(\xi_n) - \xi_n / 2 - \lambda(\xi_n) (\mathbf{\phi}_n^T"
    r" \mathbb{E}[\mathbf{w} \mathbf{w}^T] \mathbf{\phi}_n - \xi_n^2) \right\} + \text{const}",
)
def expected_log_bound(rng: Generator) -> Sides:
    """The expectation of ln h under a Gaussian, up to a constant, by Gauss-Hermite quadrature."""
    case = draw_case(rng, D=2)
    m, S = posterior(case)[0], np.linalg.inv(posterior(case)[1])
    z, weight = np.polynomial.hermite_e.hermegauss(5)
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1).reshape(-1, 2)
    w, weights = m + grid @ np.linalg.cholesky(S).T, np.outer(weight, weight).ravel()
    xis = rng.uniform(0.3, 4, (4, len(case.t)))
    truth = np.array([weights @ log_h(case, w, xi).sum(1) for xi in xis]) / weights.sum()
    square = np.array([row @ (S + np.outer(m, m)) @ row for row in case.phi])
    lam = (expit(xis) - 0.5) / (2 * xis)
    printed = (np.log(expit(xis)) - xis / 2 - lam * (square - xis**2)).sum(1)
    return Sides(truth=truth[1:] - truth[0], printed=printed[1:] - printed[0])


@equation(
    "10.163",
    section="10.6.2",
    latex=r"(\xi_n^{\text{new}})^2 = \mathbf{\phi}_n^T (\mathbf{S}_N + \mathbf{m}_N"
    r" \mathbf{m}_N^T) \mathbf{\phi}_n",
    within=1e-5,
)
def new_parameters(rng: Generator) -> Sides:
    """The M step: the parameters that maximise the expectation of ln h, found by a search."""
    case = draw_case(rng)
    m, P = posterior(case)
    S = np.linalg.inv(P)
    z, weight = np.polynomial.hermite_e.hermegauss(5)
    found = []
    for row in case.phi:
        a = row @ m + np.sqrt(row @ S @ row) * z

        def cost(u: float, a: Floats = a) -> float:
            log = np.log(expit(u)) - u / 2 - (expit(u) - 0.5) / (2 * u) * (a**2 - u**2)
            return float(-weight @ log)

        options = {"xatol": 1e-9}
        found.append(minimize_scalar(cost, bounds=(1e-3, 40), method="bounded", options=options).x)
    square = np.array([row @ (S + np.outer(m, m)) @ row for row in case.phi])
    return Sides(truth=np.array(found), printed=np.sqrt(square))


@equation(
    "10.162, monotonic",
    section="10.6.2",
    latex=r"\lambda'(\xi) \text{ is monotonic for } \xi \geq 0",
    corrected=r"\lambda(\xi) \text{ is monotonic for } \xi \geq 0 \text{, so } \lambda'(\xi) \neq 0"
    r" \text{ for } \xi > 0",
    cause="derivative-called-monotonic",
)
def derivative_of_lambda(rng: Generator) -> Sides:
    """The derivative of lambda falls and rises, while lambda itself only falls.

    The directions of lambda and of its derivative at 400 places; 0 means both directions.
    """
    xi = np.sort(rng.uniform(0.05, rng.uniform(10, 30), 400))
    lam = lam_of(xi)
    slope = expit(xi) * expit(-xi) / (2 * xi) - lam / xi
    direction = [np.sign(np.diff(values)) for values in (lam, slope)]
    truth = [d[0] if (d == d[0]).all() else 0.0 for d in direction]
    return Sides(truth=truth, printed=[-1.0, 1.0], corrected=[-1.0, 0.0])


@equation(
    "10.164",
    section="10.6.2",
    latex=r"\mathcal{L}(\mathbf{\xi}) = \frac{1}{2} \ln \frac{|\mathbf{S}_N|}{|\mathbf{S}_0|}"
    r" - \frac{1}{2} \mathbf{m}_N^T \mathbf{S}_N^{-1} \mathbf{m}_N + \frac{1}{2} \mathbf{m}_0^T"
    r" \mathbf{S}_0^{-1} \mathbf{m}_0 + \sum_{n=1}^N \left\{ \ln \sigma(\xi_n) - \frac{1}{2} \xi_n"
    r" - \lambda(\xi_n) \xi_n^2 \right\}",
    corrected=r"\mathcal{L}(\mathbf{\xi}) = \frac{1}{2} \ln \frac{|\mathbf{S}_N|}{|\mathbf{S}_0|}"
    r" + \frac{1}{2} \mathbf{m}_N^T \mathbf{S}_N^{-1} \mathbf{m}_N - \frac{1}{2} \mathbf{m}_0^T"
    r" \mathbf{S}_0^{-1} \mathbf{m}_0 + \sum_{n=1}^N \left\{ \ln \sigma(\xi_n) - \frac{1}{2} \xi_n"
    r" + \lambda(\xi_n) \xi_n^2 \right\}",
    cause="three-signs-of-the-bound",
)
def closed_form_of_the_bound(rng: Generator) -> Sides:
    """The bound in closed form, against the logarithm of the integral of h times the prior."""
    case = draw_case(rng)
    m, P = posterior(case)
    logs = -(np.linalg.slogdet(P)[1] + np.linalg.slogdet(case.S0)[1]) / 2
    forms = (m @ P @ m - case.m0 @ np.linalg.solve(case.S0, case.m0)) / 2
    rest, last = (log_expit(case.xi) - case.xi / 2).sum(), (lam_of(case.xi) * case.xi**2).sum()
    return Sides(
        truth=log_integral(case, case.xi),
        printed=logs - forms + rest - last,
        corrected=logs + forms + rest + last,
    )


@equation(
    "10.162, exercise 10.34",
    section="10.6.2",
    latex=r"\frac{\partial \mathcal{L}}{\partial \xi_n} = -\lambda'(\xi_n)"
    r" (\mathbf{\phi}_n^T \mathbb{E}[\mathbf{w} \mathbf{w}^T] \mathbf{\phi}_n - \xi_n^2)",
    within=1e-6,
)
def direct_maximisation(rng: Generator) -> Sides:
    """The derivative of the bound, which is zero where the equations of EM hold.

    Central differences of the logarithm of the integral of h times the prior.
    """
    case, h = draw_case(rng), 1e-4
    xi, (m, P) = case.xi, posterior(case)
    slope = [
        (log_integral(case, xi + e) - log_integral(case, xi - e)) / (2 * h)
        for e in h * np.eye(len(xi))
    ]
    S = np.linalg.inv(P)
    square = np.array([row @ (S + np.outer(m, m)) @ row for row in case.phi])
    derivative = (lam_of(xi + h) - lam_of(xi - h)) / (2 * h)
    return Sides(truth=np.array(slope), printed=-derivative * (square - xi**2))


@equation(
    "exercise 10.32",
    section="10.6.1",
    latex=r"q_n(\mathbf{w}) \propto h_n(\mathbf{w}, \xi_n) q_{n-1}(\mathbf{w})",
)
def sequential_learning(rng: Generator) -> Sides:
    """Points absorbed one at a time lead to the Gaussian posterior of all with the same xi."""
    case, alpha = draw_case(rng), rng.uniform(0.2, 3)
    order = rng.permutation(len(case.t))[None]
    found = model.sequential(case.phi[None], case.t[None], alpha, order)
    prior = case._replace(m0=0 * case.m0, S0=np.eye(len(case.m0)) / alpha, xi=found.xi[0])
    m, P = posterior(prior)
    return Sides(
        truth=(found.weights.mean[0], found.weights.covariance[0]), printed=(m, np.linalg.inv(P))
    )


@equation(
    "section 10.6.2, predictive distribution",
    section="10.6.2",
    latex=r"\int \sigma(\mathbf{w}^T \mathbf{\phi}) q(\mathbf{w}) \, d\mathbf{w} = \int \sigma(a)"
    r" \mathcal{N}(a|\mathbf{m}_N^T \mathbf{\phi}, \mathbf{\phi}^T \mathbf{S}_N \mathbf{\phi})"
    r" \, da",
)
def predictive_of_the_activation(rng: Generator) -> Sides:
    """The predictive distribution by an integral over two weights and by one over the activation.

    The second is the form that it takes for Laplace's approximation.
    """
    case = draw_case(rng, D=2)
    (m, P), phi = posterior(case), rng.normal(0, 1.5, 2)
    S = np.linalg.inv(P)
    z = np.linspace(-8, 8, 161)
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1).reshape(-1, 2)
    weight = np.exp(-(grid**2).sum(1) / 2)
    truth = weight @ expit((m + grid @ np.linalg.cholesky(S).T) @ phi) / weight.sum()
    a, step = np.linspace(-60, 60, 6001, retstep=True)
    density = norm(m @ phi, np.sqrt(phi @ S @ phi)).pdf(a)
    return Sides(truth=truth, printed=(expit(a) * density).sum() * step)
