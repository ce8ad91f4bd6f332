"""Equations of MLAPP 17.4, inference in hidden Markov models, against the sum over all paths."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._chains import Chain, joint, pairs, random_chain, states
from bythebook.models.types import Floats


def _filter(chain: Chain) -> tuple[Floats, Floats]:
    """The predict-update cycle (17.44 to 17.47): alpha and Z."""
    alpha, Z, predicted = [], [], chain.pi
    for psi in chain.lik:
        Z.append((predicted * psi).sum())
        alpha.append(predicted * psi / Z[-1])
        predicted = chain.A.T @ alpha[-1]
    return np.array(alpha), np.array(Z)


def _beta(chain: Chain) -> Floats:
    """The backwards messages (17.58) from (17.60)."""
    beta = [np.ones(len(chain.pi))]
    for psi in chain.lik[:0:-1]:
        beta.append(chain.A @ (psi * beta[-1]))
    return np.array(beta[::-1])


def _filtered(chain: Chain) -> Floats:
    """p(z_t | x_1 .. x_t) from all paths."""
    last = np.array([states(table)[-1] for table in chain.prefixes])
    return _normalised(last, 1)


def _normalised(table: Floats, axis: int | tuple[int, ...]) -> Floats:
    return np.asarray(table / table.sum(axis, keepdims=True))


def _unobserved(chain: Chain, steps: int) -> Chain:
    """The chain with further steps, whose observations are missing."""
    return chain._replace(lik=np.vstack([chain.lik, np.ones((steps, len(chain.pi)))]))


@equation(
    "17.42",
    section="17.4.1",
    latex=r"p(z_{t+2}|\mathbf{x}_{1:t}) = \sum_{z_{t+1}} \sum_{z_t} p(z_{t+2}|z_{t+1})"
    r" p(z_{t+1}|z_t) p(z_t|\mathbf{x}_{1:t})",
)
def prediction_of_states(rng: Generator) -> Sides:
    """The state two steps ahead: the squared transition matrix applied to the belief."""
    chain = random_chain(rng, max_length=4)
    printed = _filtered(chain)[-1] @ np.linalg.matrix_power(chain.A, 2)
    return Sides(truth=states(_unobserved(chain, 2).posterior)[-1], printed=printed)


@equation(
    "17.43",
    section="17.4.1",
    latex=r"p(\mathbf{x}_{t+h}|\mathbf{x}_{1:t}) = \sum_{z_{t+h}}"
    r" p(\mathbf{x}_{t+h}|z_{t+h}) p(z_{t+h}|\mathbf{x}_{1:t})",
)
def prediction_of_observations(rng: Generator) -> Sides:
    """A prediction of the states becomes one of the observations."""
    chain, h = random_chain(rng, max_length=4), int(rng.integers(1, 4))
    B = rng.dirichlet(np.ones(int(rng.integers(2, 6))), len(chain.pi))
    missing = _unobserved(chain, h - 1)
    seen = [missing._replace(lik=np.vstack([missing.lik, b])) for b in B.T]
    truth = np.array([joint(*longer).sum() for longer in seen]) / joint(*chain).sum()
    ahead = _filtered(chain)[-1] @ np.linalg.matrix_power(chain.A, h)
    return Sides(truth=truth, printed=ahead @ B)


@equation(
    "17.44 to 17.48",
    section="17.4.2",
    latex=r"\boldsymbol{\alpha}_t \propto \boldsymbol{\psi}_t \odot"
    r" (\boldsymbol{\Psi}^T \boldsymbol{\alpha}_{t-1})",
)
def predict_update_cycle(rng: Generator) -> Sides:
    """The predict-update cycle gives the filtered marginals."""
    chain = random_chain(rng)
    return Sides(truth=_filtered(chain), printed=_filter(chain)[0])


@equation(
    "17.49",
    section="17.4.2",
    latex=r"\log p(\mathbf{x}_{1:T}) = \sum_{t=1}^T \log p(\mathbf{x}_t|\mathbf{x}_{1:t-1})"
    r" = \sum_{t=1}^T \log Z_t",
)
def log_evidence(rng: Generator) -> Sides:
    """The log evidence is the sum of the logarithms of the filter's normalisers."""
    chain = random_chain(rng)
    return Sides(truth=np.log(joint(*chain).sum()), printed=np.log(_filter(chain)[1]).sum())


@equation(
    "17.51, 17.58 to 17.60",
    section="17.4.3",
    latex=r"\beta_t(j) = p(\mathbf{x}_{t+1:T}|z_t = j), \quad"
    r" \boldsymbol{\beta}_{t-1} = \boldsymbol{\Psi} (\boldsymbol{\psi}_t \odot"
    r" \boldsymbol{\beta}_t), \quad \beta_T(i) = 1",
)
def backwards_messages(rng: Generator) -> Sides:
    """The backwards messages are the likelihoods of the future evidence."""
    chain = random_chain(rng)
    return Sides(truth=chain.future, printed=_beta(chain))


@equation(
    "17.50, 17.53",
    section="17.4.3",
    latex=r"\gamma_t(j) \propto \alpha_t(j) \beta_t(j)",
)
def smoothed_marginals(rng: Generator) -> Sides:
    """The smoothed marginals are proportional to the products of both messages."""
    chain = random_chain(rng)
    printed = _normalised(_filter(chain)[0] * _beta(chain), 1)
    return Sides(truth=states(chain.posterior), printed=printed)


@equation(
    "17.61, 17.64 to 17.67",
    section="17.4.3",
    latex=r"\xi_{t,t+1}(i, j) \propto \alpha_t(i) \phi_{t+1}(j) \beta_{t+1}(j) \psi(i, j), \quad"
    r" N_{ij} = \sum_{t=1}^{T-1} p(z_t = i, z_{t+1} = j|\mathbf{x}_{1:T})",
)
def two_slice_marginals(rng: Generator) -> Sides:
    """The smoothed two-slice marginals, and the expected number of transitions."""
    chain = random_chain(rng)
    T, K = chain.lik.shape
    arriving = (chain.lik * _beta(chain))[1:, None, :]
    xi = _normalised(chain.A * (_filter(chain)[0][:-1, :, None] * arriving), (1, 2))
    z, counts = np.indices((K,) * T), np.zeros((K, K))
    for i, j in np.ndindex(K, K):  # counted on every path
        moves = sum((z[t] == i) & (z[t + 1] == j) for t in range(T - 1))
        counts[i, j] = (moves * chain.posterior).sum()
    return Sides(truth=(pairs(chain.posterior), counts), printed=(xi, xi.sum(0)))


@equation(
    "17.63",
    section="17.4.3",
    latex=r"\xi_{t,t+1}(i, j) \propto p(z_t|\mathbf{x}_{1:t}) p(z_{t+1}|z_t, \mathbf{x}_{t+1:T})",
    corrected=r"\xi_{t,t+1}(i, j) \propto"
    r" p(z_t|\mathbf{x}_{1:T}) p(z_{t+1}|z_t, \mathbf{x}_{t+1:T})",
    cause="pairs-from-the-filtered-marginal",
)
def two_slice_from_the_past(rng: Generator) -> Sides:
    """The first factor of the two-slice marginals is the smoothed marginal."""
    chain = random_chain(rng)
    T, K = chain.lik.shape
    t = int(rng.integers(T - 1))
    ahead = [states(joint(chain.A[i], chain.A, chain.lik[t + 1 :]))[0] for i in range(K)]
    given = _normalised(np.array(ahead), 1)  # p(z_{t+1} | z_t, x_{t+1} .. x_T)
    return Sides(
        truth=pairs(chain.posterior)[t],
        printed=_normalised(_filtered(chain)[t][:, None] * given, (0, 1)),
        corrected=_normalised(states(chain.posterior)[t][:, None] * given, (0, 1)),
    )


@equation(
    "17.84, 17.85, 17.90, 17.91",
    section="17.4.5",
    latex=r"p(\mathbf{z}_{1:T}|\mathbf{x}_{1:T}) = p(z_T|\mathbf{x}_{1:T}) \prod_{t=T-1}^1"
    r" p(z_t|z_{t+1}, \mathbf{x}_{1:t}), \quad p(z_t = i|z_{t+1} = j, \mathbf{x}_{1:t})"
    r" \propto \frac{\phi_{t+1}(j) \psi(i, j) \alpha_t(i)}{\alpha_{t+1}(j)}",
)
def posterior_from_right_to_left(rng: Generator) -> Sides:
    """The distributions from which a path is sampled backwards multiply to the posterior."""
    chain = random_chain(rng)
    T, K = chain.lik.shape
    alpha, z = _filter(chain)[0], np.indices((K,) * T)
    path = alpha[-1][z[-1]]
    for t in range(T - 1):
        weight = chain.lik[t + 1] * chain.A * alpha[t][:, None] / alpha[t + 1]
        path = path * _normalised(weight, 0)[z[t], z[t + 1]]
    return Sides(truth=chain.posterior, printed=path)


@equation(
    "exercise 17.2",
    section="17",
    latex=r"\gamma_t(i) \propto \frac{\alpha_t(i) r_t(i)}{\Pi_t(i)}, \quad"
    r" r_t(i) = p(S_t = i|\mathbf{x}_{t+1:T}), \quad \Pi_t(i) = p(S_t = i)",
)
def two_filter_smoothing(rng: Generator) -> Sides:
    """Filters in both directions and the prior of each step give the smoothed marginals.

    The backwards filter is that of the chain with time-reversed transitions.
    """
    chain = random_chain(rng)
    T = len(chain.lik)
    prior = np.array([chain.pi @ np.linalg.matrix_power(chain.A, t) for t in range(T)])
    r = [prior[-1]]
    for t in range(T - 2, -1, -1):
        updated = _normalised(r[-1] * chain.lik[t + 1], 0)
        reverse = prior[t][:, None] * chain.A / prior[t + 1]
        r.append(reverse @ updated)
    printed = _normalised(_filter(chain)[0] * np.array(r[::-1]) / prior, 1)
    return Sides(truth=states(chain.posterior), printed=printed)
