"""Equations of PRML 10.2, the variational mixture of Gaussians."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import digamma, gammaln, multigammaln, softmax
from scipy.stats import dirichlet, entropy, multivariate_normal, norm, wishart

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.approximation import variational_mixture as model
from bythebook.models.approximation.variational_mixture import Prior, VariationalMixture
from bythebook.models.clustering.gaussian_mixture_starts import weighted_moments
from bythebook.models.clustering.mixture import posterior
from bythebook.models.types import Floats


class _Case(NamedTuple):
    """Points, a prior, responsibilities, and the factors before and after an update."""

    X: Floats  # (N, D)
    prior: Prior
    r: Floats  # (1, N, K) the best for `before`
    before: VariationalMixture
    after: VariationalMixture


def _case(rng: Generator) -> _Case:
    D, K, N = int(rng.integers(1, 4)), int(rng.integers(2, 5)), int(rng.integers(20, 60))
    X, root = rng.normal(size=(N, D)) * rng.uniform(0.5, 2, D), rng.normal(size=(D, D))
    alpha0, beta0 = rng.uniform(0.2, 3, 2)
    nu0 = D + rng.uniform(0.5, 4)
    prior = Prior(alpha0, beta0, rng.normal(size=D), root @ root.T + np.eye(D), nu0)
    before = _updated(X, rng.dirichlet(np.ones(K), (1, N)), prior)
    r = posterior(model.log_rho(X, before))[0]
    return _Case(X, prior, r, before, _updated(X, r, prior))


def _updated(X: Floats, r: Floats, prior: Prior) -> VariationalMixture:
    return model.factors(weighted_moments(X, r), X.mean(0), prior)


def _moments(X: Floats, r: Floats) -> tuple[Floats, Floats, Floats]:
    """N_k, the means and the covariances S_k (10.51 to 10.53)."""
    N = r.sum(0)
    mean = r.T @ X / N[:, None]
    off = X[:, None] - mean
    return N, mean, np.einsum("nk,nkd,nke->kde", r, off, off) / N[:, None, None]


def _log_det(q: VariationalMixture) -> Floats:
    """The expectation of ln |Lambda_k| (10.65)."""
    D = q.m.shape[-1]
    W, i = np.linalg.inv(q.W_inv[0]), np.arange(1, D + 1)
    halves = digamma((q.nu[0, :, None] + 1 - i) / 2).sum(1)
    return np.asarray(halves + D * np.log(2) + np.linalg.slogdet(W)[1])


def _log_mixing(q: VariationalMixture) -> Floats:
    """The expectation of ln pi_k (10.66)."""
    return np.asarray(digamma(q.alpha[0]) - digamma(q.alpha.sum()))


def _log_B(W: Floats, nu: float) -> float:
    """The normaliser of the Wishart distribution (B.79)."""
    D = len(W)
    log_det = np.linalg.slogdet(W)[1]
    return float(-nu / 2 * log_det - nu * D / 2 * np.log(2) - multigammaln(nu / 2, D))


def _terms(X: Floats, r: Floats, q: VariationalMixture, prior: Prior) -> Floats:
    """The seven terms of the bound (10.71 to 10.77), those of q with their sign in (10.70)."""
    D, K = X.shape[1], r.shape[1]
    N, mean, S = _moments(X, r)
    W = np.linalg.inv(q.W_inv[0])
    W0 = np.asarray(np.linalg.inv(prior.W0_inv), dtype=np.float64)
    beta, m, nu, log_det, log_pi = q.beta[0], q.m[0], q.nu[0], _log_det(q), _log_mixing(q)
    off, from_prior = mean - m, m - prior.m0
    square = np.einsum("kd,kde,ke->k", off, W, off)
    spread = np.trace(S @ W, axis1=1, axis2=2)
    moved = np.einsum("kd,kde,ke->k", from_prior, W, from_prior)
    data = log_det - D / beta - nu * spread - nu * square - D * np.log(2 * np.pi)
    prior_terms = D * np.log(prior.beta0 / (2 * np.pi)) + log_det - D * prior.beta0 / beta
    traces = np.trace(prior.W0_inv @ W, axis1=1, axis2=2)
    entropies = [
        -_log_B(W[k], nu[k]) - (nu[k] - D - 1) / 2 * log_det[k] + nu[k] * D / 2 for k in range(K)
    ]
    start = np.full(K, prior.alpha0)
    return np.array(
        [
            (N * data).sum() / 2,  # 10.71
            (r * log_pi).sum(),  # 10.72
            _log_C(start) + (prior.alpha0 - 1) * log_pi.sum(),  # 10.73
            (prior_terms - prior.beta0 * nu * moved).sum() / 2  # 10.74
            + K * _log_B(W0, prior.nu0)
            + (prior.nu0 - D - 1) / 2 * log_det.sum()
            - (nu * traces).sum() / 2,
            -(r * np.log(r)).sum(),  # 10.75
            -((q.alpha[0] - 1) * log_pi).sum() - _log_C(q.alpha[0]),  # 10.76
            -(log_det / 2 + D / 2 * np.log(beta / (2 * np.pi)) - D / 2 - entropies).sum(),  # 10.77
        ]
    )


def _log_C(alpha: Floats) -> float:
    """The normaliser of the Dirichlet distribution (B.23)."""
    return float(gammaln(alpha.sum()) - gammaln(alpha).sum())


@equation(
    "10.58, 10.60 to 10.63",
    section="10.2.1",
    latex=r"\alpha_k = \alpha_0 + N_k, \quad \beta_k = \beta_0 + N_k, \quad"
    r" \mathbf{m}_k = \frac{1}{\beta_k} (\beta_0 \mathbf{m}_0 + N_k \bar{\mathbf{x}}_k), \quad"
    r" \mathbf{W}_k^{-1} = \mathbf{W}_0^{-1} + N_k \mathbf{S}_k"
    r" + \frac{\beta_0 N_k}{\beta_0 + N_k} (\bar{\mathbf{x}}_k - \mathbf{m}_0)"
    r" (\bar{\mathbf{x}}_k - \mathbf{m}_0)^T, \quad \nu_k = \nu_0 + N_k",
)
def mixture_updates(rng: Generator) -> Sides:
    """The update of the factors of the mixing coefficients, the means and the precisions.

    The model computes sums about the mean of all points instead of the covariances.
    """
    X, prior, r, _, q = _case(rng)
    N, mean, S = _moments(X, r[0])
    beta = prior.beta0 + N
    off = mean - prior.m0
    pull = (prior.beta0 * N / (prior.beta0 + N))[:, None, None] * off[:, :, None] * off[:, None, :]
    m = (prior.beta0 * prior.m0 + N[:, None] * mean) / beta[:, None]
    W_inv = prior.W0_inv + N[:, None, None] * S + pull
    return Sides(
        truth=(q.alpha[0], q.beta[0], q.m[0], q.W_inv[0], q.nu[0]),
        printed=(prior.alpha0 + N, beta, m, W_inv, prior.nu0 + N),
    )


@equation(
    "10.64, 10.67",
    section="10.2.1",
    latex=r"r_{nk} \propto \tilde{\pi}_k \tilde{\Lambda}_k^{1/2} \exp \left\{ -\frac{D}{2 \beta_k}"
    r" - \frac{\nu_k}{2} (\mathbf{x}_n - \mathbf{m}_k)^T \mathbf{W}_k (\mathbf{x}_n - \mathbf{m}_k)"
    r" \right\}",
)
def mixture_responsibilities(rng: Generator) -> Sides:
    """The responsibilities of the variational E-step."""
    X, _, r, q, _ = _case(rng)
    off, D = X[:, None] - q.m[0], X.shape[1]
    square = np.einsum("nkd,kde,nke->nk", off, np.linalg.inv(q.W_inv[0]), off)
    exponent = -D / (2 * q.beta[0]) - q.nu[0] / 2 * square
    return Sides(truth=r[0], printed=softmax(_log_mixing(q) + _log_det(q) / 2 + exponent, axis=1))


@equation(
    "10.65",
    section="10.2.1",
    latex=r"\mathbb{E}[\ln |\mathbf{\Lambda}_k|] = \sum_{i=1}^D \psi \left(\frac{\nu_k + 1 - i}{2}"
    r" \right) + D \ln 2 + \ln |\mathbf{W}_k|",
    within=1e-7,
)
def expected_log_precision(rng: Generator) -> Sides:
    """The expected logarithm of the determinant of a precision matrix.

    It is -2 times the slope of the normaliser's logarithm in the degrees of freedom.
    """
    q, h = _case(rng).after, 1e-5
    W, one = np.linalg.inv(q.W_inv[0]), np.eye(q.m.shape[-1])
    slopes = [
        (wishart(nu + h, W[k]).logpdf(one) - wishart(nu - h, W[k]).logpdf(one)) / (2 * h)
        for k, nu in enumerate(q.nu[0])
    ]
    return Sides(truth=-2 * np.array(slopes), printed=_log_det(q))


@equation(
    "10.66",
    section="10.2.1",
    latex=r"\mathbb{E}[\ln \pi_k] = \psi(\alpha_k) - \psi(\hat{\alpha}), \quad"
    r" \hat{\alpha} = \sum_k \alpha_k",
    within=1e-7,
)
def expected_log_coefficient(rng: Generator) -> Sides:
    """The expected logarithm of a mixing coefficient.

    The slope of the log density in its count is the logarithm minus its expectation.
    """
    q, h = _case(rng).after, 1e-5
    K = len(q.alpha[0])
    at = rng.dirichlet(np.full(K, 5.0))
    slopes = [
        (dirichlet(q.alpha[0] + e).logpdf(at) - dirichlet(q.alpha[0] - e).logpdf(at)) / (2 * h)
        for e in h * np.eye(K)
    ]
    return Sides(truth=np.log(at) - slopes, printed=_log_mixing(q))


@equation(
    "10.69",
    section="10.2.1",
    latex=r"\mathbb{E}[\pi_k] = \frac{\alpha_k + N_k}{K \alpha_0 + N}",
    corrected=r"\mathbb{E}[\pi_k] = \frac{\alpha_0 + N_k}{K \alpha_0 + N}",
    cause="points-counted-twice",
)
def expected_mixing(rng: Generator) -> Sides:
    """The expected mixing coefficients, where the printed form counts N_k twice."""
    X, prior, r, _, q = _case(rng)
    N, K = r[0].sum(0), r.shape[2]
    below = K * prior.alpha0 + len(X)
    return Sides(
        truth=dirichlet(q.alpha[0]).mean(),
        printed=(q.alpha[0] + N) / below,
        corrected=(prior.alpha0 + N) / below,
    )


@equation(
    "10.58, 10.60 to 10.63, N_k = 0",
    section="10.2.1",
    latex=r"N_k = 0: \quad \alpha_k = \alpha_0, \quad \beta_k = \beta_0, \quad"
    r" \mathbf{m}_k = \mathbf{m}_0, \quad \mathbf{W}_k = \mathbf{W}_0, \quad \nu_k = \nu_0",
)
def empty_component(rng: Generator) -> Sides:
    """The factors of a component without points are those of the prior."""
    X, prior, r, _, _ = _case(rng)
    empty = rng.integers(r.shape[2])
    q = _updated(X, np.where(np.arange(r.shape[2]) == empty, 0, r), prior)
    return Sides(
        truth=tuple(part[0, empty] for part in q),
        printed=(prior.alpha0, prior.beta0, prior.m0, prior.W0_inv, prior.nu0),
    )


@equation(
    "10.69, limits",
    section="10.2.1",
    latex=r"\alpha_0 \rightarrow 0: \; \mathbb{E}[\pi_k] \rightarrow \frac{N_k}{N}, \quad"
    r" \alpha_0 \rightarrow \infty: \; \mathbb{E}[\pi_k] \rightarrow \frac{1}{K}",
    within=1e-7,
)
def mixing_limits(rng: Generator) -> Sides:
    """The expected mixing coefficients under a broad and under a tight prior."""
    K = rng.integers(2, 8)
    N = rng.uniform(0, 100, K)
    broad, tight = (dirichlet(alpha0 + N).mean() for alpha0 in (1e-8, 1e11))
    return Sides(truth=(broad, tight), printed=(N / N.sum(), np.full(K, 1 / K)))


@equation(
    "10.70 to 10.77",
    section="10.2.2",
    latex=r"\mathcal{L} = \mathbb{E}[\ln p(\mathbf{X}|\mathbf{Z}, \mathbf{\mu}, \mathbf{\Lambda})]"
    r" + \mathbb{E}[\ln p(\mathbf{Z}|\mathbf{\pi})] + \mathbb{E}[\ln p(\mathbf{\pi})]"
    r" + \mathbb{E}[\ln p(\mathbf{\mu}, \mathbf{\Lambda})] - \mathbb{E}[\ln q(\mathbf{Z})]"
    r" - \mathbb{E}[\ln q(\mathbf{\pi})] - \mathbb{E}[\ln q(\mathbf{\mu}, \mathbf{\Lambda})]",
)
def bound_terms(rng: Generator) -> Sides:
    """The seven terms of the lower bound add up to the bound that the fits maximise.

    The model's form has the sums of the responsibilities before normalisation, and divergences from
    the priors.
    """
    X, prior, r, q, _ = _case(rng)
    bound = posterior(model.log_rho(X, q))[1].sum(1) - model.kl_to_prior(q, prior)
    return Sides(truth=bound[0], printed=_terms(X, r[0], q, prior).sum())


@equation(
    "10.71 to 10.74",
    section="10.2.2",
    latex=r"\mathbb{E}[\ln p(\mathbf{X}|\mathbf{Z}, \mathbf{\mu}, \mathbf{\Lambda})] = \frac{1}{2}"
    r" \sum_{k=1}^K N_k \left\{ \ln \tilde{\Lambda}_k - \frac{D}{\beta_k} - \nu_k"
    r" \mathrm{Tr}(\mathbf{S}_k \mathbf{W}_k) - \nu_k (\bar{\mathbf{x}}_k - \mathbf{m}_k)^T"
    r" \mathbf{W}_k (\bar{\mathbf{x}}_k - \mathbf{m}_k) - D \ln(2 \pi) \right\}, \quad"
    r" \mathbb{E}[\ln p(\mathbf{Z}|\mathbf{\pi})] = \sum_{n=1}^N \sum_{k=1}^K r_{nk}"
    r" \ln \tilde{\pi}_k, \quad \mathbb{E}[\ln p(\mathbf{\pi})] = \ln C(\mathbf{\alpha}_0)"
    r" + (\alpha_0 - 1) \sum_{k=1}^K \ln \tilde{\pi}_k, \quad"
    r" \mathbb{E}[\ln p(\mathbf{\mu}, \mathbf{\Lambda})] = \frac{1}{2} \sum_{k=1}^K \left\{"
    r" D \ln \left( \frac{\beta_0}{2 \pi} \right) + \ln \tilde{\Lambda}_k"
    r" - \frac{D \beta_0}{\beta_k} - \beta_0 \nu_k (\mathbf{m}_k - \mathbf{m}_0)^T \mathbf{W}_k"
    r" (\mathbf{m}_k - \mathbf{m}_0) \right\} + K \ln B(\mathbf{W}_0, \nu_0)"
    r" + \frac{\nu_0 - D - 1}{2} \sum_{k=1}^K \ln \tilde{\Lambda}_k - \frac{1}{2} \sum_{k=1}^K"
    r" \nu_k \mathrm{Tr}(\mathbf{W}_0^{-1} \mathbf{W}_k)",
    within=1e-7,
)
def bound_expectations(rng: Generator) -> Sides:
    """The terms of the bound with ln p are expectations of SciPy's log densities.

    The densities are linear in Lambda and ln |Lambda|, or in ln pi. So an expectation is the value
    at the mean, plus the difference between the expected logarithm and that of the mean.
    """
    X, prior, r, _, q = _case(rng)
    D, K, alpha = X.shape[1], r.shape[2], q.alpha[0]
    pi, flat = alpha / alpha.sum(), dirichlet(np.full(K, prior.alpha0))
    log_pi = _expected_log(alpha) - _expected_log(alpha.sum())
    points = components = 0.0
    for k in range(K):
        W, nu, m, beta = np.linalg.inv(q.W_inv[0, k]), q.nu[0, k], q.m[0, k], q.beta[0, k]
        mean = nu * W
        # |Lambda| is |W| times independent chi-squared variables; those of the mean are nu.
        excess = (_expected_log((nu - np.arange(D)) / 2) + np.log(2 / nu)).sum()
        density = multivariate_normal(m, np.linalg.inv(mean)).logpdf(X)
        points += r[0, :, k] @ (density + excess / 2 - D / (2 * beta))
        density = multivariate_normal(prior.m0, np.linalg.inv(prior.beta0 * mean)).logpdf(m)
        components += density + excess / 2 - D * prior.beta0 / (2 * beta)
        density = wishart(prior.nu0, np.linalg.inv(prior.W0_inv)).logpdf(mean)
        components += density + (prior.nu0 - D - 1) / 2 * excess
    coefficients = flat.logpdf(pi) + (prior.alpha0 - 1) * (log_pi - np.log(pi)).sum()
    truth = [points, (r[0] @ log_pi).sum(), coefficients, components]
    return Sides(truth=truth, printed=_terms(X, r[0], q, prior)[:4])


def _expected_log(a: Floats, h: float = 1e-5) -> Floats:
    """The expected logarithm of a gamma variable of shape a: the slope of its log moments."""
    return np.asarray((gammaln(a + h) - gammaln(a - h)) / (2 * h))


@equation(
    "10.75 to 10.77",
    section="10.2.2",
    latex=r"\mathbb{E}[\ln q(\mathbf{Z})] = \sum_{n=1}^N \sum_{k=1}^K r_{nk} \ln r_{nk}, \quad"
    r" \mathbb{E}[\ln q(\mathbf{\pi})] = \sum_{k=1}^K (\alpha_k - 1) \ln \tilde{\pi}_k"
    r" + \ln C(\mathbf{\alpha}), \quad \mathbb{E}[\ln q(\mathbf{\mu}, \mathbf{\Lambda})]"
    r" = \sum_{k=1}^K \left\{ \frac{1}{2} \ln \tilde{\Lambda}_k + \frac{D}{2} \ln \left("
    r" \frac{\beta_k}{2 \pi} \right) - \frac{D}{2} - H[q(\mathbf{\Lambda}_k)] \right\}",
)
def bound_entropies(rng: Generator) -> Sides:
    """The terms of the bound with ln q are the negative entropies of the factors."""
    X, prior, r, _, q = _case(rng)
    D = X.shape[1]
    W, means = np.linalg.inv(q.W_inv[0]), D * (1 + np.log(2 * np.pi / q.beta[0])) / 2
    precisions = sum(wishart(q.nu[0, k], W[k]).entropy() for k in range(len(W)))
    # Given Lambda_k, the mean is Gaussian with precision beta_k Lambda_k.
    truth = [
        entropy(r[0], axis=1).sum(),
        dirichlet(q.alpha[0]).entropy(),
        precisions + (means - _log_det(q) / 2).sum(),
    ]
    return Sides(truth=truth, printed=_terms(X, r[0], q, prior)[4:])


@equation(
    "exercise 10.18",
    section="10.2.2",
    latex=r"\frac{\partial \mathcal{L}}{\partial \alpha_k} = \frac{\partial \mathcal{L}}{\partial"
    r" \beta_k} = \frac{\partial \mathcal{L}}{\partial \mathbf{m}_k} = \frac{\partial \mathcal{L}}"
    r"{\partial \nu_k} = 0",
    within=1e-5,
)
def bound_is_stationary(rng: Generator) -> Sides:
    """The updates are the parameters that maximise the lower bound.

    The maximum in each parameter is that of the parabola through three values of the bound.
    """
    X, prior, r, _, q = _case(rng)

    def maxima(name: str, h: float = 1e-3) -> Floats:
        value = getattr(q, name)
        found = value.copy()
        for place in np.ndindex(value.shape):
            step = h * (abs(value[place]) if name != "m" else 1.0)
            bounds = []
            for shift in (-step, 0.0, step):
                moved = value.copy()
                moved[place] += shift
                bounds.append(_terms(X, r[0], q._replace(**{name: moved}), prior).sum())
            low, middle, high = bounds
            curvature = high - 2 * middle + low
            found[place] -= step * (high - low) / (2 * curvature) if curvature < 0 else np.nan
        return np.asarray(found)

    names = ("alpha", "beta", "m", "nu")
    return Sides(truth=tuple(map(maxima, names)), printed=tuple(getattr(q, n) for n in names))


@equation(
    "10.83, exercise 10.23",
    section="10.2.4",
    latex=r"\pi_k = \frac{1}{N} \sum_{n=1}^N r_{nk}",
    within=1e-6,
)
def point_mixing(rng: Generator) -> Sides:
    """The mixing coefficients that maximise the lower bound, if they are parameters.

    The search is over all coefficients; of the bound, (10.72) depends on them.
    """
    K, N = rng.integers(2, 6), rng.integers(5, 60)
    r = rng.dirichlet(rng.uniform(0.3, 3, K), N)

    def loss(logits: Floats) -> tuple[float, Floats]:
        pi = softmax(logits)
        return -(r * np.log(pi)).sum() / N, pi - r.sum(0) / N

    best = minimize(loss, np.zeros(K), jac=True, method="BFGS", options={"gtol": 1e-9})
    return Sides(truth=softmax(best.x), printed=r.sum(0) / N)


@equation(
    "exercise 10.22",
    section="10.2.4",
    latex=r"\mathcal{L}_{K!} = \mathcal{L} + \ln K!",
)
def copies(rng: Generator) -> Sides:
    """A mixture of K! copies of a factor that hardly overlap raises the lower bound by ln K!.

    The copies exchange K far means. The difference is the mean of ln q minus that of the mixture.
    """
    K = int(rng.integers(2, 4))
    centres = 50.0 * np.arange(K) + rng.uniform(-9, 9, K)
    z = rng.normal(centres, 1, (40, K))
    orders = [centres[list(p)] for p in _permutations(K)]
    log_q = np.array([norm(m, 1).logpdf(z).sum(1) for m in orders])  # the first is that of z
    mixed = np.logaddexp.reduce(log_q, axis=0) - np.log(len(orders))
    return Sides(truth=np.mean(log_q[0] - mixed), printed=gammaln(K + 1))


def _permutations(K: int) -> list[tuple[int, ...]]:
    if K == 1:
        return [(0,)]
    return [(*p[:i], K - 1, *p[i:]) for p in _permutations(K - 1) for i in range(K - 1, -1, -1)]
