"""Equations of PRML 10.5, local variational bounds."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit
from scipy.stats import entropy, norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


def _largest(f: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """The place and the value of the maximum of a function of one variable."""
    found = minimize_scalar(
        lambda x: -f(x), bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    return float(found.x), -float(found.fun)


def _half_angle(x: Floats | float) -> Floats:
    """The function f of (10.138)."""
    return np.asarray(-np.log(np.exp(np.asarray(x) / 2) + np.exp(-np.asarray(x) / 2)))


@equation(
    "10.125 to 10.127",
    section="10.5",
    latex=r"y(x) = f(\xi) + f'(\xi) (x - \xi) = \lambda x - \lambda + \lambda \ln(-\lambda), \quad"
    r" f(x) = \exp(-x), \quad \lambda = -\exp(-\xi)",
    within=1e-7,
)
def tangent_of_exponential(rng: Generator) -> Sides:
    """The tangent of exp(-x), with a slope by central differences."""
    xi, x, h = rng.uniform(-2, 3), rng.uniform(-3, 5, 6), 1e-5
    slope = (np.exp(-xi - h) - np.exp(-xi + h)) / (2 * h)
    lam = -np.exp(-xi)
    printed = lam * x - lam + lam * np.log(-lam)
    return Sides(truth=np.exp(-xi) + slope * (x - xi), printed=printed)


@equation(
    "10.128",
    section="10.5",
    latex=r"\exp(-x) = \max_\lambda \{\lambda x - \lambda + \lambda \ln(-\lambda)\}, \quad"
    r" \lambda = -\exp(-x)",
    within=1e-5,
)
def exponential_from_tangents(rng: Generator) -> Sides:
    """The largest of the tangents of exp(-x) at a place, and its slope, by a search."""
    x = rng.uniform(-2, 3)
    slope, value = _largest(lambda lam: lam * x - lam + lam * np.log(-lam), -30, -1e-6)
    return Sides(truth=(np.exp(-x), -np.exp(-x)), printed=(value, slope))


@equation(
    "10.129, 10.131",
    section="10.5",
    latex=r"g(\lambda) = \max_x \{\lambda x - f(x)\} = \lambda - \lambda \ln(-\lambda), \quad"
    r" \xi = -\ln(-\lambda)",
    within=1e-5,
)
def conjugate_of_exponential(rng: Generator) -> Sides:
    """The conjugate of exp(-x), and the place of its maximum, by a search."""
    lam = -rng.uniform(0.05, 5)
    place, value = _largest(lambda x: lam * x - np.exp(-x), -10, 10)
    return Sides(truth=(value, place), printed=(lam - lam * np.log(-lam), -np.log(-lam)))


@equation(
    "10.132, 10.133",
    section="10.5",
    latex=r"f(x) = \min_\lambda \{\lambda x - g(\lambda)\}, \quad"
    r" g(\lambda) = \min_x \{\lambda x - f(x)\}",
    within=1e-7,
)
def duality_of_concave_functions(rng: Generator) -> Sides:
    """A concave function is the minimum over its tangents; both minima by searches.

    The function is c ln x + d sqrt(x).
    """
    (c, d), x = rng.uniform(0.3, 2, 2), rng.uniform(0.5, 4)

    def f(at: float) -> float:
        return float(c * np.log(at) + d * np.sqrt(at))

    def conjugate(lam: float) -> float:
        return -_largest(lambda at: f(at) - lam * at, 1e-3, 60)[1]

    printed = -_largest(lambda lam: conjugate(lam) - lam * x, 0.2, 8)[1]
    return Sides(truth=f(x), printed=printed)


@equation(
    "10.135",
    section="10.5",
    latex=r"g(\lambda) = \min_x \{\lambda x - \ln \sigma(x)\} = -\lambda \ln \lambda"
    r" - (1 - \lambda) \ln(1 - \lambda)",
)
def conjugate_is_the_entropy(rng: Generator) -> Sides:
    """The conjugate of the log sigmoid, by a search, is a binary entropy."""
    lam = rng.uniform(0.03, 0.97)
    truth = -_largest(lambda x: log_expit(x) - lam * x, -20, 20)[1]
    printed = -lam * np.log(lam) - (1 - lam) * np.log(1 - lam)
    return Sides(truth=truth, printed=printed)


@equation(
    "10.136, 10.137",
    section="10.5",
    latex=r"\sigma(x) \leq \exp(\lambda x - g(\lambda))",
)
def exponential_upper_bound(rng: Generator) -> Sides:
    """The upper bound on the sigmoid: its minimum over the slopes is the sigmoid.

    A bound that were below the sigmoid at some slope would have a smaller minimum.
    """
    x = rng.uniform(-4, 4)
    lowest = _largest(lambda lam: -np.exp(lam * x - entropy([lam, 1 - lam])), 1e-4, 1 - 1e-4)
    return Sides(truth=expit(x), printed=-lowest[1])


@equation(
    "exercise 10.30",
    section="10.5",
    latex=r"\ln \sigma(x) = \lambda x - g(\lambda) + \int_\xi^x (x - u) \frac{d^2}{du^2}"
    r" \ln \sigma(u) \, du, \quad \lambda = \sigma(-\xi)",
)
def bound_by_expansion(rng: Generator) -> Sides:
    """The upper bound from an expansion with an exact remainder of second order.

    The remainder is negative, because the second derivative of the log sigmoid is.
    """
    xi, x = rng.uniform(-3, 3), rng.uniform(-4, 4)
    lam = expit(-xi)
    printed = lam * x - entropy([lam, 1 - lam])
    remainder = quad(lambda u: (x - u) * -expit(u) * expit(-u), xi, x, epsabs=1e-13)[0]
    return Sides(
        truth=(log_expit(x), np.sign(remainder)),
        printed=(printed + remainder, -1.0),
    )


@equation(
    "10.138",
    section="10.5",
    latex=r"\ln \sigma(x) = x / 2 - \ln(e^{x/2} + e^{-x/2})",
)
def decomposition_of_the_log_sigmoid(rng: Generator) -> Sides:
    """The log sigmoid as a linear and an even function."""
    x = rng.uniform(-9, 9, 8)
    return Sides(truth=log_expit(x), printed=x / 2 - np.log(np.exp(x / 2) + np.exp(-x / 2)))


@equation(
    "exercise 10.31",
    section="10.5",
    latex=r"\frac{d^2 f}{dx^2} < 0, \quad \frac{d^2 f}{d(x^2)^2} > 0, \quad"
    r" f(x) = -\ln(e^{x/2} + e^{-x/2})",
)
def curvatures_of_the_even_part(rng: Generator) -> Sides:
    """The signs of the second differences of f in x and in the square of x."""
    x, h = rng.uniform(0.3, 8, 6), 1e-2
    in_x = _half_angle(x + h) - 2 * _half_angle(x) + _half_angle(x - h)
    u, roots = x**2, (np.sqrt(x**2 + h), np.sqrt(x**2 - h))
    in_square = _half_angle(roots[0]) - 2 * _half_angle(np.sqrt(u)) + _half_angle(roots[1])
    return Sides(truth=(np.sign(in_x), np.sign(in_square)), printed=(-np.ones(6), np.ones(6)))


@equation(
    "10.140, 10.141",
    section="10.5",
    latex=r"\lambda(\xi) = -\frac{1}{4 \xi} \tanh \left( \frac{\xi}{2} \right)"
    r" = -\frac{1}{2 \xi} \left[ \sigma(\xi) - \frac{1}{2} \right]",
    within=1e-6,
)
def slope_in_the_square(rng: Generator) -> Sides:
    """The slope of f in the square of x at the contact, by central differences."""
    xi, h = rng.uniform(0.3, 9, 6), 1e-4
    slope = (_half_angle(np.sqrt(xi**2 + h)) - _half_angle(np.sqrt(xi**2 - h))) / (2 * h)
    forms = -1 / (4 * xi) * np.tanh(xi / 2), -1 / (2 * xi) * (expit(xi) - 1 / 2)
    return Sides(truth=(slope, slope), printed=forms)


@equation(
    "10.139, 10.142",
    section="10.5",
    latex=r"g(\lambda) = \max_{x^2} \left\{ \lambda x^2 - f(\sqrt{x^2}) \right\}"
    r" = \lambda(\xi) \xi^2 + \ln(e^{\xi/2} + e^{-\xi/2})",
)
def conjugate_in_the_square(rng: Generator) -> Sides:
    """The conjugate of f in the square of x, by a search."""
    xi = rng.uniform(0.3, 6)
    lam = -np.tanh(xi / 2) / (4 * xi)
    truth = _largest(lambda u: lam * u - float(_half_angle(np.sqrt(u))), 0, 120)[1]
    return Sides(truth=truth, printed=lam * xi**2 + np.log(np.exp(xi / 2) + np.exp(-xi / 2)))


@equation(
    "10.143",
    section="10.5",
    latex=r"f(x) \geq \lambda x^2 - \lambda \xi^2 - \ln(e^{\xi/2} + e^{-\xi/2})",
)
def lower_bound_on_the_even_part(rng: Generator) -> Sides:
    """The lower bound on f: its maximum over the contact is f."""
    x = rng.uniform(-6, 6)

    def bound(xi: float) -> float:
        lam = -np.tanh(xi / 2) / (4 * xi)
        return float(lam * x**2 - lam * xi**2 - np.log(np.exp(xi / 2) + np.exp(-xi / 2)))

    return Sides(truth=_half_angle(x), printed=_largest(bound, 1e-3, 20)[1])


def _best_gaussian(x: float, sign: float) -> float:
    """The maximum over xi of the right side of (10.144), with lambda of either sign."""

    def bound(xi: float) -> float:
        lam = sign / (2 * xi) * (expit(xi) - 1 / 2)
        return float(np.log(expit(xi)) + (x - xi) / 2 - lam * (x**2 - xi**2))

    return float(np.exp(_largest(bound, 1e-3, 12)[1]))


@equation(
    "10.144",
    section="10.5",
    latex=r"\sigma(x) \geq \sigma(\xi) \exp \left\{ (x - \xi) / 2 - \lambda(\xi) (x^2 - \xi^2)"
    r" \right\}, \quad \lambda(\xi) = -\frac{1}{2 \xi} \left[ \sigma(\xi) - \frac{1}{2} \right]",
    corrected=r"\sigma(x) \geq \sigma(\xi) \exp \left\{ (x - \xi) / 2 - \lambda(\xi)"
    r" (x^2 - \xi^2) \right\}, \quad \lambda(\xi) = \frac{1}{2 \xi} \left[ \sigma(\xi)"
    r" - \frac{1}{2} \right]",
    cause="sign-of-lambda",
)
def gaussian_lower_bound(rng: Generator) -> Sides:
    """The lower bound on the sigmoid with the printed lambda: its maximum exceeds the sigmoid."""
    x = rng.uniform(-5, 5)
    return Sides(truth=expit(x), printed=_best_gaussian(x, -1), corrected=_best_gaussian(x, 1))


@equation(
    "10.149, 10.150",
    section="10.6.1",
    latex=r"\sigma(z) \geq \sigma(\xi) \exp \left\{ (z - \xi) / 2 - \lambda(\xi) (z^2 - \xi^2)"
    r" \right\}, \quad \lambda(\xi) = \frac{1}{2 \xi} \left[ \sigma(\xi) - \frac{1}{2} \right]",
)
def lower_bound_restated(rng: Generator) -> Sides:
    """The lower bound on the sigmoid as it is repeated: its maximum over xi is the sigmoid."""
    z = rng.uniform(-5, 5)

    def bound(xi: float) -> float:
        lam = 1 / (2 * xi) * (expit(xi) - 1 / 2)
        return float(expit(xi) * np.exp((z - xi) / 2 - lam * (z**2 - xi**2)))

    return Sides(truth=expit(z), printed=_largest(bound, 1e-3, 12)[1])


@equation(
    "10.146",
    section="10.5",
    latex=r"F(\xi) = \int f(a, \xi) p(a) \, da \quad \text{analytically, by completing the square}",
)
def integral_of_the_bound(rng: Generator) -> Sides:
    """The integral of the bound times a Gaussian in closed form, against quadrature."""
    m, v, xi = rng.normal(0, 2), rng.uniform(0.3, 9), rng.uniform(0.2, 6)
    lam = (expit(xi) - 0.5) / (2 * xi)
    a, step = np.linspace(m - 40, m + 40, 16_001, retstep=True)
    bound = expit(xi) * np.exp((a - xi) / 2 - lam * (a**2 - xi**2))
    truth = (bound * norm(m, np.sqrt(v)).pdf(a)).sum() * step
    precision, shift = 1 / v + 2 * lam, m / v + 1 / 2
    log = np.log(expit(xi)) - xi / 2 + lam * xi**2 - np.log(v * precision) / 2
    printed = np.exp(log + shift**2 / (2 * precision) - m**2 / (2 * v))
    return Sides(truth=truth, printed=printed)


@equation(
    "section 10.5, places of contact",
    section="10.5",
    latex=r"\#\{a : \sigma(a) = f(a, \xi)\} = 1",
    corrected=r"\#\{a : \sigma(a) = f(a, \xi)\} = 2: \; a = \pm \xi",
    cause="one-place-of-contact",
)
def places_of_contact(rng: Generator) -> Sides:
    """The number of values of a at which the bound with a given xi is exact."""
    xi = rng.uniform(0.4, 6)
    lam = (expit(xi) - 0.5) / (2 * xi)
    a = np.sort(np.append(np.linspace(-9, 9, 4001), [-xi, xi]))
    gap = expit(a) - expit(xi) * np.exp((a - xi) / 2 - lam * (a**2 - xi**2))
    lowest = (gap[1:-1] <= gap[:-2]) & (gap[1:-1] <= gap[2:]) & (abs(gap[1:-1]) <= 1e-12)
    places = a[1:-1][lowest]
    distinct = 1 + np.count_nonzero(np.diff(places) > 0.05)
    return Sides(truth=distinct, printed=1, corrected=2)
