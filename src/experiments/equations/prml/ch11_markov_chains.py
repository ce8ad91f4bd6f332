"""Equations of PRML 11.2, random walks and Markov chains."""

import math
from itertools import product

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.chains import transition_kernels as made
from bythebook.models.types import Floats

MOVES = {0: 0.5, 1: 0.25, -1: 0.25}  # 11.34 to 11.36


def _walk_moments(moves: int) -> tuple[float, float]:
    """E z and E z^2 after some moves from 0, summed over all paths."""
    mean = square = 0.0
    for path in product(MOVES, repeat=moves):
        weight, place = math.prod(MOVES[m] for m in path), sum(path)
        mean, square = mean + weight * place, square + weight * place**2
    return float(mean), float(square)


@equation(
    "11.34 to 11.36, the expected state",
    section="11.2",
    latex=r"\mathbb{E}[z^{(\tau)}] = 0",
)
def expected_state_of_a_walk(rng: Generator) -> Sides:
    """The expected state of the symmetric random walk is zero."""
    return Sides(truth=_walk_moments(int(rng.integers(1, 8)))[0], printed=0.0)


@equation(
    "section 11.2, the expected square",
    section="11.2",
    latex=r"\mathbb{E}[(z^{(\tau)})^2] = \tau / 2, \quad z^{(1)} = 0",
    corrected=r"\mathbb{E}[(z^{(\tau)})^2] = (\tau - 1) / 2, \quad z^{(1)} = 0",
    cause="walk-starts-at-one",
)
def expected_square_of_a_walk(rng: Generator) -> Sides:
    """The expected square of a walk that starts at step 1 grows with the number of its moves."""
    tau = int(rng.integers(2, 9))
    return Sides(truth=_walk_moments(tau - 1)[1], printed=tau / 2, corrected=(tau - 1) / 2)


@equation(
    "exercise 11.10",
    section="11.2",
    latex=r"\mathbb{E}[(z^{(\tau)})^2] = \mathbb{E}[(z^{(\tau-1)})^2] + 1/2",
)
def growth_of_the_square(rng: Generator) -> Sides:
    """The expected square of the walk grows by one half at each step."""
    moves = int(rng.integers(1, 8))
    return Sides(truth=_walk_moments(moves)[1], printed=_walk_moments(moves - 1)[1] + 1 / 2)


@equation(
    "section 11.2, the distance",
    section="11.2",
    latex=r"\sqrt{\mathbb{E}[(z^{(\tau)})^2]} \propto \sqrt{\tau}",
)
def distance_of_a_walk(rng: Generator) -> Sides:
    """The root mean square distance is proportional to the square root of the number of moves."""
    first, second = (int(n) for n in rng.integers(1, 9, 2))
    ratio = np.sqrt(_walk_moments(first)[1] / _walk_moments(second)[1])
    return Sides(truth=ratio, printed=np.sqrt(first / second))


def _target(rng: Generator) -> tuple[Floats, Floats]:
    """A target over a few states, and proposals that are not symmetric."""
    K = int(rng.integers(2, 6))
    return rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), (3, K))


def _metropolis_hastings(p: Floats, q: Floats) -> Floats:
    """T(z, z') of a proposal q(z'|z), accepted by (11.44); the rest stays."""
    K = len(p)
    T = np.zeros((K, K))
    for i, j in product(range(K), repeat=2):
        if i != j:
            T[i, j] = q[i, j] * min(1, p[j] * q[j, i] / (p[i] * q[i, j]))
    return T + np.diag(1 - T.sum(1))


def _flows(p: Floats, T: Floats) -> Floats:
    return np.asarray(p[:, None] * T)


@equation(
    "11.40, 11.41",
    section="11.2.1",
    latex=r"p(\mathbf{z}) T(\mathbf{z}, \mathbf{z}') = p(\mathbf{z}') T(\mathbf{z}', \mathbf{z})"
    r" \;\Rightarrow\; \sum_{\mathbf{z}'} p(\mathbf{z}') T(\mathbf{z}', \mathbf{z})"
    r" = p(\mathbf{z})",
)
def detailed_balance_gives_invariance(rng: Generator) -> Sides:
    """A chain with detailed balance leaves its distribution invariant.

    The chain comes from symmetric flows between each two states.
    """
    K = int(rng.integers(2, 7))
    flow = rng.uniform(size=(K, K))
    flow = flow + flow.T
    p = flow.sum(1) / flow.sum()
    return Sides(truth=p, printed=p @ (flow / flow.sum(1, keepdims=True)))


@equation(
    "11.42, 11.43",
    section="11.2.1",
    latex=r"T = \sum_{k=1}^K \alpha_k B_k, \; T = B_1 \ldots B_K \;:\;"
    r" \sum_{\mathbf{z}'} p(\mathbf{z}') T(\mathbf{z}', \mathbf{z}) = p(\mathbf{z})",
)
def invariance_of_combined_transitions(rng: Generator) -> Sides:
    """A mixture and a composition of base transitions keep the invariant distribution."""
    p, q = _target(rng)
    B = [_metropolis_hastings(p, one) for one in q]
    mixture = sum(share * one for share, one in zip(rng.dirichlet(np.ones(3)), B, strict=True))
    return Sides(truth=(p, p), printed=(p @ mixture, p @ (B[0] @ B[1] @ B[2])))


@equation(
    "11.42, detailed balance",
    section="11.2.1",
    latex=r"p(\mathbf{z}) T(\mathbf{z}, \mathbf{z}') = p(\mathbf{z}') T(\mathbf{z}', \mathbf{z}),"
    r" \quad T = \sum_{k=1}^K \alpha_k B_k \; \text{or} \; B_1 \ldots B_K B_K \ldots B_1",
)
def balance_of_combined_transitions(rng: Generator) -> Sides:
    """A mixture, and a composition applied forwards and backwards, keep detailed balance."""
    p, q = _target(rng)
    B = [_metropolis_hastings(p, one) for one in q]
    mixture = sum(share * one for share, one in zip(rng.dirichlet(np.ones(3)), B, strict=True))
    flows = [_flows(p, T) for T in (mixture, B[0] @ B[1] @ B[2] @ B[2] @ B[1] @ B[0])]
    return Sides(truth=(flows[0].T, flows[1].T), printed=tuple(flows))


@equation(
    "11.44",
    section="11.2.2",
    latex=r"A_k(\mathbf{z}^*, \mathbf{z}^{(\tau)}) = \min \left( 1,"
    r" \frac{\tilde{p}(\mathbf{z}^*) q_k(\mathbf{z}^{(\tau)}|\mathbf{z}^*)}"
    r"{\tilde{p}(\mathbf{z}^{(\tau)}) q_k(\mathbf{z}^*|\mathbf{z}^{(\tau)})} \right)",
)
def acceptance_of_metropolis_hastings(rng: Generator) -> Sides:
    """With the printed acceptance probability the model's flows are balanced and p is invariant."""
    p, (q, *_) = _target(rng)
    T = made.with_rejections(q, made.hastings_acceptance(p, q))
    printed = _metropolis_hastings(p, q)
    return Sides(truth=(T, _flows(p, T).T, p), printed=(printed, _flows(p, printed), p @ printed))


@equation(
    "11.45",
    section="11.2.2",
    latex=r"p(\mathbf{z}) q_k(\mathbf{z}|\mathbf{z}') A_k(\mathbf{z}', \mathbf{z}) ="
    r" p(\mathbf{z}') q_k(\mathbf{z}'|\mathbf{z}) A_k(\mathbf{z}, \mathbf{z}')",
    corrected=r"p(\mathbf{z}) q_k(\mathbf{z}'|\mathbf{z}) A_k(\mathbf{z}', \mathbf{z}) ="
    r" p(\mathbf{z}') q_k(\mathbf{z}|\mathbf{z}') A_k(\mathbf{z}, \mathbf{z}')",
    cause="proposal-the-other-way-round",
)
def balance_of_metropolis_hastings(rng: Generator) -> Sides:
    """Both sides of detailed balance are the smaller of the two proposed flows."""
    p, (q, *_) = _target(rng)
    there = p[:, None] * q  # from z = i to z' = j
    accept = np.minimum(1, there.T / there)
    backwards = p[:, None] * q.T * accept
    return Sides(
        truth=(np.minimum(there, there.T),) * 2,
        printed=(backwards, backwards.T),
        corrected=(there * accept, (there * accept).T),
    )


@equation(
    "exercise 11.11",
    section="11.3",
    latex=r"p(\mathbf{z}) p(z'_k|\mathbf{z}_{\setminus k}) ="
    r" p(\mathbf{z}') p(z_k|\mathbf{z}'_{\setminus k}), \quad"
    r" \mathbf{z}'_{\setminus k} = \mathbf{z}_{\setminus k}",
)
def balance_of_gibbs_sampling(rng: Generator) -> Sides:
    """A Gibbs step that draws one variable, fixed or at random, satisfies detailed balance."""
    shape = int(rng.integers(2, 4)), int(rng.integers(2, 5))
    p = rng.dirichlet(np.ones(shape[0] * shape[1]))
    one, two = (made.conditional(p, shape, variable) for variable in (0, 1))
    share = rng.uniform()
    flows = [_flows(p, T) for T in (one, two, share * one + (1 - share) * two)]
    return Sides(truth=tuple(flow.T for flow in flows), printed=tuple(flows))
