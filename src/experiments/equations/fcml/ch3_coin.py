"""Equations of FCML 3.1 to 3.4 and 3.10: a coin of unknown bias with a beta prior."""

from math import comb

from numpy.random import Generator
from scipy import stats
from scipy.integrate import quad
from scipy.special import gamma

from bythebook.experiments.core.equations import Sides, equation


def _prior(rng: Generator) -> tuple[float, float]:
    """The parameters of a beta density without poles."""
    return rng.uniform(1.2, 9), rng.uniform(1.2, 9)


def _tosses(rng: Generator) -> tuple[int, int]:
    """A number of tosses, and of heads among them."""
    N = int(rng.integers(3, 20))
    return N, int(rng.integers(1, N))


def _beta(r: float, alpha: float, beta: float) -> float:
    """Equation 3.4."""
    factor = gamma(alpha + beta) / (gamma(alpha) * gamma(beta))
    return float(factor * r ** (alpha - 1) * (1 - r) ** (beta - 1))


def _posterior(r: float, alpha: float, beta: float, N: int, y: int) -> float:
    """The density of r after y heads in N tosses: likelihood times prior over their integral."""

    def joint(r: float) -> float:
        return float(stats.binom.pmf(y, N, r) * stats.beta.pdf(r, alpha, beta))

    return joint(r) / float(quad(joint, 0, 1, epsabs=0, epsrel=1e-12)[0])


@equation(
    "3.6",
    section="3.2",
    latex=r"p(r|y_N) = \frac{\Gamma(\alpha + \beta + N)}{\Gamma(\alpha + y_N) \Gamma(\beta + N"
    r" - y_N)} r^{\alpha + y_N - 1} (1 - r)^{\beta + N - y_N}",
    corrected=r"p(r|y_N) = \frac{\Gamma(\alpha + \beta + N)}{\Gamma(\alpha + y_N) \Gamma(\beta + N"
    r" - y_N)} r^{\alpha + y_N - 1} (1 - r)^{\beta + N - y_N - 1}",
    cause="3.2-exponent-of-the-posterior",
)
def coin_posterior(rng: Generator) -> Sides:
    """The posterior density of r, against likelihood times prior over their integral."""
    (alpha, beta), (N, y), r = _prior(rng), _tosses(rng), rng.uniform(0.2, 0.8)
    factor = gamma(alpha + beta + N) / (gamma(alpha + y) * gamma(beta + N - y))
    printed = factor * r ** (alpha + y - 1) * (1 - r) ** (beta + N - y)
    corrected = factor * r ** (alpha + y - 1) * (1 - r) ** (beta + N - y - 1)
    truth = _posterior(r, alpha, beta, N, y)
    return Sides(truth=truth, printed=printed, corrected=corrected)


@equation(
    "exercise 3.5",
    section="3.3.1",
    latex=r"\mathbf{E}_{p(r)}\{R\} = \frac{\alpha}{\alpha + \beta}",
)
def beta_mean(rng: Generator) -> Sides:
    """The mean of a beta variable, by quadrature."""
    alpha, beta = _prior(rng)
    mean = quad(lambda r: r * stats.beta.pdf(r, alpha, beta), 0, 1, epsabs=0, epsrel=1e-12)[0]
    return Sides(truth=mean, printed=alpha / (alpha + beta))


@equation(
    "3.7, exercise 3.6",
    section="3.3.1",
    latex=r"\text{var}\{R\} = \frac{\alpha \beta}{(\alpha + \beta)^2 (\alpha + \beta + 1)}",
)
def beta_variance(rng: Generator) -> Sides:
    """The variance of a beta variable, by quadrature."""
    alpha, beta = _prior(rng)
    first, second = (
        quad(lambda r, k=k: r**k * stats.beta.pdf(r, alpha, beta), 0, 1, epsabs=0, epsrel=1e-13)[0]
        for k in (1, 2)
    )
    printed = alpha * beta / ((alpha + beta) ** 2 * (alpha + beta + 1))
    return Sides(truth=second - first**2, printed=printed)


@equation(
    "3.9, 3.10",
    section="3.3.1",
    latex=r"\mathbf{E}\{P(Y_{new} \leq 6 | r)\} = 1 - \sum_{y=7}^{10} \binom{N}{y}"
    r" \frac{\Gamma(\delta + \gamma)}{\Gamma(\delta) \Gamma(\gamma)} \frac{\Gamma(\delta + y)"
    r" \Gamma(\gamma + N - y)}{\Gamma(\delta + \gamma + N)}",
)
def averaged_win(rng: Generator) -> Sides:
    """The probability of winning averaged over the posterior of r, by quadrature.

    The number of tosses of a game and of heads that win vary.
    """
    delta, c = _prior(rng)
    N = int(rng.integers(2, 15))
    most = int(rng.integers(0, N))

    def integrand(r: float) -> float:
        return float(stats.binom.cdf(most, N, r) * stats.beta.pdf(r, delta, c))

    lost = sum(
        comb(N, y)
        * gamma(delta + c) / (gamma(delta) * gamma(c))
        * gamma(delta + y) * gamma(c + N - y) / gamma(delta + c + N)
        for y in range(most + 1, N + 1)
    )  # fmt: skip
    truth = quad(integrand, 0, 1, epsabs=0, epsrel=1e-12)[0]
    return Sides(truth=truth, printed=1 - lost)


@equation(
    "3.13, 3.14",
    section="3.4",
    latex=r"p(y_N | \alpha, \beta) = \binom{N}{y_N} \frac{\Gamma(\alpha + \beta)}{\Gamma(\alpha)"
    r" \Gamma(\beta)} \frac{\Gamma(\alpha + y_N) \Gamma(\beta + N - y_N)}{\Gamma(\alpha + \beta"
    r" + N)}",
)
def coin_evidence(rng: Generator) -> Sides:
    """The marginal likelihood is the integral of the likelihood against the prior."""
    (alpha, beta), (N, y) = _prior(rng), _tosses(rng)

    def joint(r: float) -> float:
        return float(stats.binom.pmf(y, N, r) * stats.beta.pdf(r, alpha, beta))

    ratio = gamma(alpha + y) * gamma(beta + N - y) / gamma(alpha + beta + N)
    printed = comb(N, y) * gamma(alpha + beta) / (gamma(alpha) * gamma(beta)) * ratio
    return Sides(truth=quad(joint, 0, 1, epsabs=0, epsrel=1e-12)[0], printed=printed)


@equation(
    "exercises 3.1 to 3.4",
    section="3.10",
    latex=r"p(r) = k r^{k-1}: \quad p(r) = B(k, 1), \quad p(r|y_N) = B(y_N + k, N - y_N + 1),"
    r" \quad k = 1, 2, 3",
)
def power_priors(rng: Generator) -> Sides:
    """The priors 1, 2r and 3r^2 are beta densities, and so are their posteriors."""
    k, (N, y), r = int(rng.integers(1, 4)), _tosses(rng), rng.uniform(0.05, 0.95)

    def joint(r: float) -> float:
        return float(k * r ** (k - 1) * stats.binom.pmf(y, N, r))

    posterior = joint(r) / quad(joint, 0, 1, epsabs=0, epsrel=1e-12)[0]
    printed = _beta(r, k, 1), _beta(r, y + k, N - y + 1)
    return Sides(truth=(k * r ** (k - 1), posterior), printed=printed)
