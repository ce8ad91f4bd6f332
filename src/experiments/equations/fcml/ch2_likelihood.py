"""Equations of FCML 2.7 to 2.10: the likelihood of the linear model and its estimates."""

from typing import NamedTuple

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """A design matrix, targets, weights and the standard deviation of the noise."""

    X: Floats
    t: Floats
    w: Floats
    sigma: float


def _case(rng: Generator) -> _Case:
    D = int(rng.integers(2, 5))
    N = int(rng.integers(D + 2, 14))
    X, t, w = rng.normal(0.5, 1, (N, D)), rng.normal(1, 2, N), rng.normal(size=D)
    return _Case(X, t, w, rng.uniform(0.5, 2.5))


def _log_likelihood(case: _Case, w: Floats) -> Floats:
    """The sum of the log densities of the targets, for weights (..., D)."""
    return np.asarray(norm(w @ case.X.T, case.sigma).logpdf(case.t).sum(axis=-1))


def _in_sigma(case: _Case, sigma: complex) -> complex:
    """The log likelihood as an analytic function of sigma, without its constant."""
    squares = float(np.sum((case.t - case.X @ case.w) ** 2))
    return complex(-len(case.t) * np.log(sigma) - squares / (2 * sigma**2))


def _second(case: _Case) -> Floats:
    """Second differences of the log likelihood, which is quadratic in the weights."""
    w, steps = case.w, np.eye(len(case.w))
    both = _log_likelihood(case, w + steps[:, None] + steps)
    one = _log_likelihood(case, w + steps)
    return np.asarray(both - one[:, None] - one + _log_likelihood(case, w))


@equation(
    "2.31",
    section="2.7.2",
    latex=r"\log L = -\frac{N}{2} \log 2 \pi - N \log \sigma - \frac{1}{2 \sigma^2} \sum_{n=1}^N"
    r" (t_n - \mathbf{w}^T \mathbf{x}_n)^2",
)
def log_likelihood(rng: Generator) -> Sides:
    """The log likelihood of the linear model."""
    case = _case(rng)
    X, t, w, sigma = case
    logs = -len(t) / 2 * np.log(2 * np.pi) - len(t) * np.log(sigma)
    printed = logs - np.sum((t - X @ w) ** 2) / (2 * sigma**2)
    truth = multivariate_normal(X @ w, sigma**2 * np.eye(len(t))).logpdf(t)
    return Sides(truth=truth, printed=printed)


@equation(
    "2.32",
    section="2.7.2",
    latex=r"\frac{\partial \log L}{\partial \mathbf{w}} = \frac{1}{\sigma^2} (\mathbf{X}^T"
    r" \mathbf{t} - \mathbf{X}^T \mathbf{Xw})",
)
def likelihood_gradient(rng: Generator) -> Sides:
    """The derivatives of the log likelihood in the weights, by differences."""
    case = _case(rng)
    X, t, w, sigma = case
    steps = np.eye(len(w))
    truth = (_log_likelihood(case, w + steps) - _log_likelihood(case, w - steps)) / 2
    return Sides(truth=truth, printed=(X.T @ t - X.T @ X @ w) / sigma**2)


@equation(
    "2.33, 2.35 to 2.37",
    section="2.7.2",
    latex=r"\hat{\mathbf{w}} = (\mathbf{X}^T \mathbf{X})^{-1} \mathbf{X}^T \mathbf{t}, \quad"
    r" \hat{\sigma}^2 = \frac{1}{N} \sum_{n=1}^N (t_n - \mathbf{x}_n^T \hat{\mathbf{w}})^2 ="
    r" \frac{1}{N} (\mathbf{t}^T \mathbf{t} - \mathbf{t}^T \mathbf{X} \hat{\mathbf{w}})",
)
def maximum_likelihood(rng: Generator) -> Sides:
    """The weights and the noise variance of the highest likelihood.

    A Newton step by differences leads to the weights at any noise. The noise is where the
    derivative of the log likelihood in sigma changes its sign.
    """
    case = _case(rng)
    X, t, w, _ = case
    N, steps = len(t), np.eye(len(w))
    slope = (_log_likelihood(case, w + steps) - _log_likelihood(case, w - steps)) / 2
    best = w - np.linalg.solve(_second(case), slope)
    at_best = case._replace(w=best)
    sigma = brentq(lambda s: _in_sigma(at_best, s + 1e-30j).imag, 1e-2, 1e2, xtol=1e-15)
    printed = np.linalg.inv(X.T @ X) @ X.T @ t
    mean_square, product = np.mean((t - X @ printed) ** 2), (t @ t - t @ X @ printed) / N
    return Sides(truth=(best, sigma**2, sigma**2), printed=(printed, mean_square, product))


@equation(
    "2.34",
    section="2.7.2",
    latex=r"\frac{\partial L}{\partial \sigma} = -\frac{N}{\sigma} + \frac{1}{\sigma^3}"
    r" \sum_{n=1}^N (t_n - \mathbf{x}_n^T \hat{\mathbf{w}})^2",
    corrected=r"\frac{\partial \log L}{\partial \sigma} = -\frac{N}{\sigma} + \frac{1}{\sigma^3}"
    r" \sum_{n=1}^N (t_n - \mathbf{x}_n^T \hat{\mathbf{w}})^2",
    cause="logarithm-lost",
)
def slope_in_sigma(rng: Generator) -> Sides:
    """The derivative of the likelihood in sigma, away from the maximum.

    The right side is compared with the derivative of the likelihood, and of its logarithm.
    """
    case = _case(rng)
    X, t, w, sigma = case
    right = -len(t) / sigma + np.sum((t - X @ w) ** 2) / sigma**3
    log_slope = _in_sigma(case, sigma + 1e-30j).imag / 1e-30
    likelihood = np.exp(_log_likelihood(case, w))
    return Sides(truth=right, printed=likelihood * log_slope, corrected=log_slope)


@equation(
    "2.38",
    section="2.7.3",
    latex=r"\frac{\partial^2 \log L}{\partial \mathbf{w} \partial \mathbf{w}^T} ="
    r" -\frac{1}{\sigma^2} \mathbf{X}^T \mathbf{X}",
)
def hessian(rng: Generator) -> Sides:
    """The second derivatives of the log likelihood in the weights, by differences."""
    case = _case(rng)
    return Sides(truth=_second(case), printed=-case.X.T @ case.X / case.sigma**2)


@equation(
    "section 2.7.3, second derivative in sigma",
    section="2.7.3",
    latex=r"\frac{\partial^2 \log L}{\partial \sigma^2} = \frac{N}{\sigma^2} - \frac{3}{\sigma^4}"
    r" (\mathbf{t} - \mathbf{X} \hat{\mathbf{w}})^T (\mathbf{t} - \mathbf{X} \hat{\mathbf{w}}),"
    r" \quad = -\frac{2N}{\hat{\sigma}^2} \text{ at } \hat{\sigma}",
    within=1e-7,
)
def curvature_in_sigma(rng: Generator) -> Sides:
    """The second derivative of the log likelihood in sigma, anywhere and at the maximum.

    Derivatives are those of a complex step, and their central differences.
    """
    case = _case(rng)
    N, squares = len(case.t), np.sum((case.t - case.X @ case.w) ** 2)
    best = float(np.sqrt(squares / N))

    def curvature(sigma: float, h: float = 1e-4) -> float:
        slopes = [_in_sigma(case, sigma + k * h + 1e-30j).imag / 1e-30 for k in (1, -1, 2, -2)]
        return float((8 * (slopes[0] - slopes[1]) - (slopes[2] - slopes[3])) / (12 * h))

    printed = N / case.sigma**2 - 3 / case.sigma**4 * squares
    return Sides(
        truth=(curvature(case.sigma), curvature(best)),
        printed=(printed, -2 * N / best**2),
    )


@equation(
    "exercise 2.7",
    section="2.11",
    latex=r"\frac{\partial^2 \log L}{\partial w_k^2} = -\frac{N}{2 \sigma^2} \frac{\partial^2"
    r" L}{\partial w_k^2}, \quad \frac{\partial^2 L}{\partial w_0^2} = 2, \quad \frac{\partial^2"
    r" L}{\partial w_1^2} = \frac{2}{N} \sum_n x_n^2",
)
def hessian_of_a_line(rng: Generator) -> Sides:
    """The diagonal of the Hessian is proportional to the second derivatives of the loss (1.9)."""
    x = rng.normal(1, 2, int(rng.integers(4, 12)))
    X = np.column_stack([np.ones_like(x), x])
    case = _Case(X, rng.normal(size=len(x)), rng.normal(size=2), rng.uniform(0.5, 2))
    printed = -len(x) / (2 * case.sigma**2) * np.array([2.0, 2 * np.mean(x**2)])
    return Sides(truth=np.diag(_second(case)), printed=printed)


def _estimator(case: _Case) -> Floats:
    """The matrix (D, N) that maps targets to estimated weights, from the SVD."""
    return np.asarray(np.linalg.pinv(case.X), dtype=np.float64)


@equation(
    "2.40, 2.45",
    section="2.9.1",
    latex=r"E\{\hat{\mathbf{w}}\} = \mathbf{w}, \quad cov\{\hat{\mathbf{w}}\} = \sigma^2"
    r" (\mathbf{X}^T \mathbf{X})^{-1}",
)
def estimator_moments(rng: Generator) -> Sides:
    """The mean and the covariance of the estimated weights over data sets.

    The other route is the linear map from targets to estimates, applied to the noise model.
    """
    case = _case(rng)
    A = _estimator(case)
    truth = A @ (case.X @ case.w), case.sigma**2 * A @ A.T
    return Sides(truth=truth, printed=(case.w, case.sigma**2 * np.linalg.inv(case.X.T @ case.X)))


@equation(
    "2.46, 2.47",
    section="2.9.1",
    latex=r"cov\{\hat{\mathbf{w}}\} = -\left( \frac{\partial^2 \log L}{\partial \mathbf{w}"
    r" \partial \mathbf{w}^T} \right)^{-1}, \quad I = \frac{1}{\sigma^2} \mathbf{X}^T \mathbf{X}",
)
def fisher_information(rng: Generator) -> Sides:
    """The covariance of the weights from the Hessian, and the Fisher information.

    The information is the covariance of the score, which is linear in the targets.
    """
    case = _case(rng)
    A, steps = _estimator(case), np.eye(len(case.t))
    scores = [
        _log_likelihood(case._replace(t=case.t + e), case.w + np.eye(len(case.w)))
        - _log_likelihood(case._replace(t=case.t + e), case.w - np.eye(len(case.w)))
        for e in (*steps, np.zeros(len(case.t)))
    ]
    per_target = (np.array(scores[:-1]) - scores[-1]) / 2  # change of the score by each target
    truth = case.sigma**2 * A @ A.T, case.sigma**2 * per_target.T @ per_target
    return Sides(
        truth=truth, printed=(-np.linalg.inv(_second(case)), case.X.T @ case.X / case.sigma**2)
    )


@equation(
    "section 2.9.1, covariance and information",
    section="2.9.1",
    latex=r"cov\{\hat{\mathbf{w}}\} = -I^{-1}",
    corrected=r"cov\{\hat{\mathbf{w}}\} = I^{-1}",
    cause="sign-of-the-information",
)
def inverse_of_the_information(rng: Generator) -> Sides:
    """The covariance of the weights and the Fisher information, as the text relates them."""
    case = _case(rng)
    A = _estimator(case)
    inverse = np.linalg.inv(case.X.T @ case.X / case.sigma**2)
    return Sides(truth=case.sigma**2 * A @ A.T, printed=-inverse, corrected=inverse)


@equation(
    "2.53",
    section="2.10.2",
    latex=r"E\{\hat{\sigma}^2\} = \sigma^2 \left( 1 - \frac{D}{N} \right)",
)
def expected_noise_variance(rng: Generator) -> Sides:
    """The mean of the estimated noise variance over data sets.

    The residuals are linear in the noise, so the mean is the squared length of that map.
    """
    case = _case(rng)
    N, D = case.X.shape
    residuals = np.eye(N) - case.X @ _estimator(case)
    truth = case.sigma**2 * np.sum(residuals**2) / N
    return Sides(truth=truth, printed=case.sigma**2 * (1 - D / N))


@equation(
    "section 2.10.2, quadratic form of a Gaussian",
    section="2.10.2",
    latex=r"E_{p(\mathbf{t})} \{ \mathbf{t}^T \mathbf{A} \mathbf{t} \} = Tr(\mathbf{A}"
    r" \mathbf{\Sigma}) + \mathbf{\mu}^T \mathbf{A} \mathbf{\mu}",
)
def expected_form(rng: Generator) -> Sides:
    """The mean of a quadratic form of a Gaussian vector, by quadrature."""
    N = int(rng.integers(2, 4))
    A, root, mean = rng.normal(size=(N, N)), rng.normal(size=(N, N)), rng.normal(size=N)
    node, weight = hermegauss(3)
    z = np.stack(np.meshgrid(*[node] * N, indexing="ij"), axis=-1).reshape(-1, N)
    p = np.prod(np.stack(np.meshgrid(*[weight] * N, indexing="ij"), axis=-1), axis=-1).ravel()
    t = mean + z @ root.T
    truth = p @ np.einsum("ki,ij,kj->k", t, A, t) / p.sum()
    return Sides(truth=truth, printed=np.trace(A @ root @ root.T) + mean @ A @ mean)


@equation(
    "2.50, 2.51",
    section="2.10",
    latex=r"t_{new} = \mathbf{x}_{new}^T (\mathbf{X}^T \mathbf{X})^{-1} \mathbf{X}^T \mathbf{t},"
    r" \quad \sigma_{new}^2 = \sigma^2 \mathbf{x}_{new}^T (\mathbf{X}^T \mathbf{X})^{-1}"
    r" \mathbf{x}_{new}",
)
def prediction_variance(rng: Generator) -> Sides:
    """A prediction and its variance over data sets; the prediction is linear in the targets."""
    case = _case(rng)
    new = rng.normal(size=len(case.w))
    weights = new @ _estimator(case)
    inverse = np.linalg.inv(case.X.T @ case.X)
    printed = new @ inverse @ case.X.T @ case.t, case.sigma**2 * new @ inverse @ new
    return Sides(truth=(weights @ case.t, case.sigma**2 * weights @ weights), printed=printed)
