"""Equations of PRML 13.2, hidden Markov models, against the sum over all paths."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._chains import Chain, joint, pairs, random_chain, states
from bythebook.models.types import Floats


def _alpha(chain: Chain) -> Floats:
    """The forward recursion (13.36) from (13.37)."""
    alpha = [chain.pi * chain.lik[0]]
    for lik in chain.lik[1:]:
        alpha.append(lik * (alpha[-1] @ chain.A))
    return np.array(alpha)


def _beta(chain: Chain, lik: Floats) -> Floats:
    """The backward recursion (13.38) with the emission densities `lik` of steps 2, 3, ..."""
    beta = [np.ones(len(chain.pi))]
    for density in lik[::-1]:
        beta.append(chain.A @ (density * beta[-1]))
    return np.array(beta[::-1])


def _scaled(chain: Chain) -> tuple[Floats, Floats, Floats]:
    """The scaled messages (13.59) and (13.62), and the scale factors c."""
    c, alpha, predicted = [], [], chain.pi
    for lik in chain.lik:
        c.append((lik * predicted).sum())
        alpha.append(lik * predicted / c[-1])
        predicted = alpha[-1] @ chain.A
    beta = [np.ones(len(chain.pi))]
    for lik, scale in zip(chain.lik[:0:-1], c[:0:-1], strict=True):
        beta.append(chain.A @ (lik * beta[-1]) / scale)
    return np.array(alpha), np.array(beta[::-1]), np.array(c)


def _evidence(chain: Chain) -> Floats:
    """p(x_1 .. x_n) for n = 1 .. N, summed over all paths."""
    return np.array([table.sum() for table in chain.prefixes])


@equation(
    "13.34, 13.36, 13.37",
    section="13.2.2",
    latex=r"\alpha(\mathbf{z}_n) = p(\mathbf{x}_n|\mathbf{z}_n) \sum_{\mathbf{z}_{n-1}}"
    r" \alpha(\mathbf{z}_{n-1}) p(\mathbf{z}_n|\mathbf{z}_{n-1})",
)
def forward_recursion(rng: Generator) -> Sides:
    """The forward messages are the probabilities of the data so far and the state."""
    chain = random_chain(rng)
    truth = np.array([states(table)[-1] for table in chain.prefixes])
    return Sides(truth=truth, printed=_alpha(chain))


@equation(
    "13.35, 13.38",
    section="13.2.2",
    latex=r"\beta(\mathbf{z}_n) = \sum_{\mathbf{z}_{n+1}} \beta(\mathbf{z}_{n+1})"
    r" p(\mathbf{x}_{n+1}|\mathbf{z}_{n+1}) p(\mathbf{z}_{n+1}|\mathbf{z}_n)",
)
def backward_recursion(rng: Generator) -> Sides:
    """The backward messages are the probabilities of the data to come, given the state."""
    chain = random_chain(rng)
    return Sides(truth=chain.future, printed=_beta(chain, chain.lik[1:]))


@equation(
    "Figure 13.13",
    section="13.2.2",
    latex=r"\beta(\mathbf{z}_n) = \sum_{\mathbf{z}_{n+1}} \beta(\mathbf{z}_{n+1})"
    r" p(\mathbf{x}_n|\mathbf{z}_{n+1}) p(\mathbf{z}_{n+1}|\mathbf{z}_n)",
    corrected=r"\beta(\mathbf{z}_n) = \sum_{\mathbf{z}_{n+1}} \beta(\mathbf{z}_{n+1})"
    r" p(\mathbf{x}_{n+1}|\mathbf{z}_{n+1}) p(\mathbf{z}_{n+1}|\mathbf{z}_n)",
    cause="backward-weights-of-a-step-earlier",
)
def backward_weights_of_the_caption(rng: Generator) -> Sides:
    """The weights of the backward messages contain the emission density of the next step."""
    chain = random_chain(rng)
    return Sides(
        truth=chain.future,
        printed=_beta(chain, chain.lik[:-1]),
        corrected=_beta(chain, chain.lik[1:]),
    )


@equation(
    "13.33",
    section="13.2.2",
    latex=r"\gamma(\mathbf{z}_n) = \frac{\alpha(\mathbf{z}_n) \beta(\mathbf{z}_n)}{p(\mathbf{X})}",
)
def state_marginals(rng: Generator) -> Sides:
    """The product of both messages is the posterior marginal of a state."""
    chain = random_chain(rng)
    product = _alpha(chain) * _beta(chain, chain.lik[1:])
    return Sides(truth=states(chain.posterior), printed=product / _alpha(chain)[-1].sum())


@equation(
    "13.41, 13.42",
    section="13.2.2",
    latex=r"p(\mathbf{X}) = \sum_{\mathbf{z}_n} \alpha(\mathbf{z}_n) \beta(\mathbf{z}_n),"
    r" \quad p(\mathbf{X}) = \sum_{\mathbf{z}_N} \alpha(\mathbf{z}_N)",
)
def likelihood_at_every_step(rng: Generator) -> Sides:
    """The sum of the products of the messages is the likelihood, at any step."""
    chain = random_chain(rng)
    alpha = _alpha(chain)
    printed = np.append((alpha * _beta(chain, chain.lik[1:])).sum(1), alpha[-1].sum())
    return Sides(truth=np.full(len(printed), joint(*chain).sum()), printed=printed)


@equation(
    "13.43",
    section="13.2.2",
    latex=r"\xi(\mathbf{z}_{n-1}, \mathbf{z}_n) = \frac{\alpha(\mathbf{z}_{n-1})"
    r" p(\mathbf{x}_n|\mathbf{z}_n) p(\mathbf{z}_n|\mathbf{z}_{n-1}) \beta(\mathbf{z}_n)}"
    r"{p(\mathbf{X})}",
)
def pair_marginals(rng: Generator) -> Sides:
    """The posterior marginals of two successive states follow from both messages."""
    chain = random_chain(rng)
    alpha = _alpha(chain)
    arriving = chain.lik * _beta(chain, chain.lik[1:])
    printed = alpha[:-1, :, None] * chain.A * arriving[1:, None, :] / alpha[-1].sum()
    return Sides(truth=pairs(chain.posterior), printed=printed)


@equation(
    "13.40",
    section="13.2.2",
    latex=r"\mu_k = \frac{\sum_{n=1}^n \alpha(z_{nk}) \beta(z_{nk}) \mathbf{x}_n}"
    r"{\sum_{n=1}^n \alpha(z_{nk}) \beta(z_{nk})}",
    corrected=r"\mu_k = \frac{\sum_{n=1}^N \alpha(z_{nk}) \beta(z_{nk}) \mathbf{x}_n}"
    r"{\sum_{n=1}^N \alpha(z_{nk}) \beta(z_{nk})}",
    cause="means-summed-to-n",
)
def means_of_the_m_step(rng: Generator) -> Sides:
    """The M step's means of Gaussian emissions are weighted sums over all data.

    The printed sum is taken over a part of the data. The best mean is the vertex of the expected
    log likelihood of data and states, a parabola, from all paths.
    """
    chain = random_chain(rng)
    T, K = chain.lik.shape
    x, mu = rng.normal(size=(T,)), rng.normal(size=(K,))
    chain = chain._replace(lik=np.exp(-((x[:, None] - mu) ** 2) / 2))
    z, weight = np.indices((K,) * T), chain.posterior

    def expected(shift: float, k: int) -> float:
        moved = mu + shift * (np.arange(K) == k)
        loss = sum((x[t] - moved[z[t]]) ** 2 for t in range(T))
        return float((weight * loss).sum())

    curves = [[expected(shift, k) for shift in (-1.0, 0.0, 1.0)] for k in range(K)]
    truth = [mu[k] + (a - c) / (a - 2 * b + c) / 2 for k, (a, b, c) in enumerate(curves)]
    product = _alpha(chain) * _beta(chain, chain.lik[1:])
    n = int(rng.integers(1, T))
    return Sides(
        truth=truth,
        printed=product[:n].T @ x[:n] / product[:n].sum(0),
        corrected=product.T @ x / product.sum(0),
    )


@equation(
    "13.44",
    section="13.2.2",
    latex=r"p(\mathbf{x}_{N+1}|\mathbf{X}) = \frac{1}{p(\mathbf{X})} \sum_{\mathbf{z}_{N+1}}"
    r" p(\mathbf{x}_{N+1}|\mathbf{z}_{N+1}) \sum_{\mathbf{z}_N}"
    r" p(\mathbf{z}_{N+1}|\mathbf{z}_N) \alpha(\mathbf{z}_N)",
)
def predictive_distribution(rng: Generator) -> Sides:
    """The predictive distribution of the next datum follows from the last forward message."""
    chain = random_chain(rng)
    K, L = len(chain.pi), int(rng.integers(2, 5))
    B = rng.dirichlet(np.ones(L), K)
    longer = [joint(chain.pi, chain.A, np.vstack([chain.lik, b])).sum() for b in B.T]
    alpha = _alpha(chain)[-1]
    return Sides(
        truth=np.array(longer) / joint(*chain).sum(),
        printed=B.T @ (chain.A.T @ alpha) / alpha.sum(),
    )


@equation(
    "section 13.2.2, equal rows of A",
    section="13.2.2",
    latex=r"p(\mathbf{z}_n|\mathbf{z}_{n-1}) = p(\mathbf{z}_n) \;\Rightarrow\;"
    r" \gamma(z_{nk}) = \frac{\pi_k p(\mathbf{x}_n|z_{nk})}{\sum_j \pi_j p(\mathbf{x}_n|z_{nj})}",
)
def mixture_as_a_chain(rng: Generator) -> Sides:
    """With transitions that do not depend on the previous state the model is a mixture."""
    chain = random_chain(rng)
    product = chain.pi * chain.lik
    forgetful = chain._replace(A=np.tile(chain.pi, (len(chain.pi), 1)))
    return Sides(truth=states(forgetful.posterior), printed=product / product.sum(1, keepdims=True))


@equation(
    "13.57, 13.59, 13.63",
    section="13.2.4",
    latex=r"p(\mathbf{x}_1, \ldots, \mathbf{x}_n) = \prod_{m=1}^n c_m, \quad"
    r" c_n \hat{\alpha}(\mathbf{z}_n) = p(\mathbf{x}_n|\mathbf{z}_n) \sum_{\mathbf{z}_{n-1}}"
    r" \hat{\alpha}(\mathbf{z}_{n-1}) p(\mathbf{z}_n|\mathbf{z}_{n-1})",
)
def product_of_scale_factors(rng: Generator) -> Sides:
    """The product of the scale factors is the probability of the data so far."""
    chain = random_chain(rng)
    return Sides(truth=_evidence(chain), printed=_scaled(chain)[2].cumprod())


@equation(
    "13.55, 13.58",
    section="13.2.4",
    latex=r"\hat{\alpha}(\mathbf{z}_n) = p(\mathbf{z}_n|\mathbf{x}_1, \ldots, \mathbf{x}_n),"
    r" \quad \alpha(\mathbf{z}_n) = \Big( \prod_{m=1}^n c_m \Big) \hat{\alpha}(\mathbf{z}_n)",
)
def scaled_forward_messages(rng: Generator) -> Sides:
    """The scaled forward message is the distribution of the state given the data so far."""
    chain = random_chain(rng)
    together = np.array([states(table)[-1] for table in chain.prefixes])
    alpha, _, c = _scaled(chain)
    return Sides(
        truth=(together / _evidence(chain)[:, None], together),
        printed=(alpha, c.cumprod()[:, None] * alpha),
    )


@equation(
    "13.60 to 13.62",
    section="13.2.4",
    latex=r"c_{n+1} \hat{\beta}(\mathbf{z}_n) = \sum_{\mathbf{z}_{n+1}}"
    r" \hat{\beta}(\mathbf{z}_{n+1}) p(\mathbf{x}_{n+1}|\mathbf{z}_{n+1})"
    r" p(\mathbf{z}_{n+1}|\mathbf{z}_n), \quad \hat{\beta}(\mathbf{z}_n) ="
    r" \frac{p(\mathbf{x}_{n+1}, \ldots, \mathbf{x}_N|\mathbf{z}_n)}"
    r"{p(\mathbf{x}_{n+1}, \ldots, \mathbf{x}_N|\mathbf{x}_1, \ldots, \mathbf{x}_n)}",
)
def scaled_backward_messages(rng: Generator) -> Sides:
    """The scaled backward message is a ratio of conditional probabilities of the data to come."""
    chain = random_chain(rng)
    so_far = _evidence(chain)
    return Sides(truth=chain.future / (so_far[-1] / so_far)[:, None], printed=_scaled(chain)[1])


@equation(
    "13.64",
    section="13.2.4",
    latex=r"\gamma(\mathbf{z}_n) = \hat{\alpha}(\mathbf{z}_n) \hat{\beta}(\mathbf{z}_n)",
)
def marginals_of_scaled_messages(rng: Generator) -> Sides:
    """The product of the scaled messages is the posterior marginal of a state."""
    chain = random_chain(rng)
    alpha, beta, _ = _scaled(chain)
    return Sides(truth=states(chain.posterior), printed=alpha * beta)


@equation(
    "13.65",
    section="13.2.4",
    latex=r"\xi(\mathbf{z}_{n-1}, \mathbf{z}_n) = c_n \hat{\alpha}(\mathbf{z}_{n-1})"
    r" p(\mathbf{x}_n|\mathbf{z}_n) p(\mathbf{z}_n|\mathbf{z}_{n-1}) \hat{\beta}(\mathbf{z}_n)",
    corrected=r"\xi(\mathbf{z}_{n-1}, \mathbf{z}_n) = c_n^{-1} \hat{\alpha}(\mathbf{z}_{n-1})"
    r" p(\mathbf{x}_n|\mathbf{z}_n) p(\mathbf{z}_n|\mathbf{z}_{n-1}) \hat{\beta}(\mathbf{z}_n)",
    cause="scale-factor-of-pairs",
)
def pairs_of_scaled_messages(rng: Generator) -> Sides:
    """The marginals of two successive states divide by the scale factor."""
    chain = random_chain(rng)
    alpha, beta, c = _scaled(chain)
    product = alpha[:-1, :, None] * chain.A * (chain.lik * beta)[1:, None, :]
    scale = c[1:, None, None]
    return Sides(truth=pairs(chain.posterior), printed=scale * product, corrected=product / scale)
