"""Equations of Ghahramani's section 4.2, hidden Markov models, against the sum over all paths."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._chains import pairs, random_chain, states
from bythebook.models.chains import hmm
from bythebook.models.chains.baum_welch import CategoricalHMM, baum_welch


@equation(
    "section 4.2, the transition matrix from column to row",
    section="4.2",
    latex=r"A_{ij} = P(s_t = i|s_{t-1} = j, \theta), \quad P(\mathbf{y}_{1:T}|\theta) ="
    r" \sum_{s_{1:T}} \prod_{t=1}^T P(s_t|s_{t-1}, \theta) P(\mathbf{y}_t|s_t, \theta)",
)
def likelihood_from_columns(rng: Generator) -> Sides:
    """Transitions read from column to row give the likelihood of all paths."""
    chain = random_chain(rng)
    A = chain.A.T  # columns that sum to one
    alpha = chain.pi * chain.lik[0]
    for lik in chain.lik[1:]:
        alpha = lik * (A @ alpha)
    z, truth = np.indices((len(A),) * len(chain.lik)), 0.0
    for path in z.reshape(len(chain.lik), -1).T:
        weight = chain.pi[path[0]] * chain.lik[0, path[0]]
        for t in range(1, len(path)):
            weight *= A[path[t], path[t - 1]] * chain.lik[t, path[t]]
        truth += weight
    return Sides(truth=truth, printed=alpha.sum())


@equation(
    "section 4.2, the forward-backward algorithm",
    section="4.2",
    latex=r"Q(s_t) = \sum_{s_{1:T} \setminus s_t} P(s_{1:T}|\mathbf{y}_{1:T}, \theta), \quad"
    r" Q(s_t, s_{t+1}) = \sum_{s_{1:T} \setminus \{s_t, s_{t+1}\}}"
    r" P(s_{1:T}|\mathbf{y}_{1:T}, \theta)",
)
def marginals_of_both_sweeps(rng: Generator) -> Sides:
    """The two sweeps of the forward-backward algorithm give the marginals of one and two states."""
    chain = random_chain(rng)
    found = hmm.smoother(chain.pi, chain.A, np.log(chain.lik))
    printed = pairs(chain.posterior)
    return Sides(
        truth=(found.smoothed, hmm.pairwise_marginals(chain.A, found)),
        printed=(states(chain.posterior), printed),
    )


@equation(
    "section 4.2, the M step",
    section="4.2",
    latex=r"\pi_i \propto Q(s_1 = i), \quad A_{ij} \propto \sum_{t=2}^T Q(s_t = i, s_{t-1} = j),"
    r" \quad E_{li} \propto \sum_{t=1}^T Q(s_t = i) [y_t = l]",
)
def normalised_expected_counts(rng: Generator) -> Sides:
    """The M step adds up and normalises expected counts of transitions and emissions."""
    chain, L = random_chain(rng), int(rng.integers(2, 5))
    E, y = rng.dirichlet(np.ones(L), len(chain.pi)), rng.integers(L, size=len(chain.lik))
    chain = chain._replace(lik=E.T[y])
    model = CategoricalHMM(chain.pi[None], chain.A[None], E[None])
    new = baum_welch(model, y, tol=-np.inf, max_iter=1).theta
    Q, moves = states(chain.posterior), pairs(chain.posterior).sum(0).T  # from column to row
    emissions = np.array([Q[y == symbol].sum(0) for symbol in range(L)])
    return Sides(
        truth=(new.pi[0], new.A[0].T, new.B[0].T),
        printed=(Q[0], moves / moves.sum(0), emissions / emissions.sum(0)),
    )
