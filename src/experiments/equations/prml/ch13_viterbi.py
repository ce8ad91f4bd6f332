"""Equations of PRML 13.2.5, the Viterbi algorithm, against all paths."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._chains import Chain, joint, random_chain
from bythebook.models.types import Floats, Ints


def _messages(chain: Chain, step: Floats) -> tuple[Floats, Ints]:
    """Omega by (13.68) from (13.69), and the best previous states.

    `step` (T, K, K) has the term that is added to omega(z_n) before the maximum over z_n.
    """
    omega, origin = [np.log(chain.pi) + np.log(chain.lik[0])], []
    for lik, term in zip(chain.lik[1:], step[1:], strict=True):
        arriving = term + omega[-1][:, None]  # (z_n, z_{n+1})
        origin.append(arriving.argmax(0))
        omega.append(np.log(lik) + arriving.max(0))
    return np.array(omega), np.array(origin)


def _transitions(chain: Chain) -> Floats:
    return np.broadcast_to(np.log(chain.A), (len(chain.lik), *chain.A.shape))


def _largest(chain: Chain) -> Floats:
    """The largest p(x_1 .. x_n, z_1 .. z_n) of the paths that end in z_n, (T, K)."""
    return np.array([table.max(tuple(range(table.ndim - 1))) for table in chain.prefixes])


@equation(
    "13.68, 13.69",
    section="13.2.5",
    latex=r"\omega(\mathbf{z}_{n+1}) = \ln p(\mathbf{x}_{n+1}|\mathbf{z}_{n+1}) +"
    r" \max_{\mathbf{z}_n} \{ \ln p(\mathbf{x}_{n+1}|\mathbf{z}_n) + \omega(\mathbf{z}_n) \}",
    corrected=r"\omega(\mathbf{z}_{n+1}) = \ln p(\mathbf{x}_{n+1}|\mathbf{z}_{n+1}) +"
    r" \max_{\mathbf{z}_n} \{ \ln p(\mathbf{z}_{n+1}|\mathbf{z}_n) + \omega(\mathbf{z}_n) \}",
    cause="viterbi-without-transitions",
)
def viterbi_recursion(rng: Generator) -> Sides:
    """The recursion of the Viterbi algorithm adds the logarithms of the transitions."""
    chain = random_chain(rng)
    emissions = np.log(chain.lik)[:, :, None]  # of x_{n+1} in the state z_n
    return Sides(
        truth=np.log(_largest(chain)),
        printed=_messages(chain, emissions)[0],
        corrected=_messages(chain, _transitions(chain))[0],
    )


@equation(
    "13.70",
    section="13.2.5",
    latex=r"\omega(\mathbf{z}_n) = \max_{\mathbf{z}_1, \ldots, \mathbf{z}_{n-1}}"
    r" p(\mathbf{x}_1, \ldots, \mathbf{x}_n, \mathbf{z}_1, \ldots, \mathbf{z}_n)",
    corrected=r"\omega(\mathbf{z}_n) = \max_{\mathbf{z}_1, \ldots, \mathbf{z}_{n-1}}"
    r" \ln p(\mathbf{x}_1, \ldots, \mathbf{x}_n, \mathbf{z}_1, \ldots, \mathbf{z}_n)",
    cause="viterbi-without-logarithm",
)
def value_of_viterbi_messages(rng: Generator) -> Sides:
    """The messages of the Viterbi algorithm are logarithms of joint probabilities."""
    chain = random_chain(rng)
    largest = _largest(chain)
    return Sides(
        truth=_messages(chain, _transitions(chain))[0],
        printed=largest,
        corrected=np.log(largest),
    )


@equation(
    "13.71",
    section="13.2.5",
    latex=r"k_n^{\max} = \psi(k_{n+1}^{\max})",
)
def backtracking(rng: Generator) -> Sides:
    """The best previous states lead back from the best last state along the most probable path."""
    chain = random_chain(rng)
    omega, origin = _messages(chain, _transitions(chain))
    path = [int(omega[-1].argmax())]
    for back in origin[::-1]:
        path.append(int(back[path[-1]]))
    table = joint(*chain)
    return Sides(truth=np.unravel_index(table.argmax(), table.shape), printed=tuple(path[::-1]))
