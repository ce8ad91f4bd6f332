r"""Messages along a chain of nodes with potentials between neighbours (PRML 8.4.1).

    p(x) = 1/Z psi_{1,2}(x_1, x_2) ... psi_{N-1,N}(x_{N-1}, x_N)                           8.49
    mu_alpha(x_n) = sum over x_{n-1} of psi_{n-1,n}(x_{n-1}, x_n) mu_alpha(x_{n-1})        8.55
    mu_beta(x_n) = sum over x_{n+1} of psi_{n,n+1}(x_n, x_{n+1}) mu_beta(x_{n+1})          8.57

Potentials are an array (..., N - 1, K, K); messages are (..., N, K).
"""

import numpy as np

from bythebook.models.types import Floats


def forward(psi: Floats) -> Floats:
    """mu_alpha of every node; the first has no message and is ones (8.56)."""
    messages = [np.ones(psi.shape[:-3] + psi.shape[-1:])]
    for n in range(psi.shape[-3]):
        messages.append(np.einsum("...k,...kl->...l", messages[-1], psi[..., n, :, :]))
    return np.stack(messages, -2)


def backward(psi: Floats) -> Floats:
    """mu_beta of every node; the last has no message and is ones."""
    turned = np.swapaxes(psi[..., ::-1, :, :], -1, -2)
    return forward(turned)[..., ::-1, :]


def marginals(psi: Floats) -> Floats:
    """p(x_n) of every node (8.54)."""
    product = forward(psi) * backward(psi)
    return np.asarray(product / product.sum(-1, keepdims=True))


def neighbours(psi: Floats) -> Floats:
    """p(x_{n-1}, x_n) of every link (8.58)."""
    alpha, beta = forward(psi), backward(psi)
    product = alpha[..., :-1, :, None] * psi * beta[..., 1:, None, :]
    return np.asarray(product / product.sum((-1, -2), keepdims=True))


def all_configurations(psi: Floats) -> Floats:
    """The unnormalised joint table of a single chain, one axis per node (8.49)."""
    N, K = psi.shape[-3] + 1, psi.shape[-1]
    joint = np.ones([K] * N)
    for n in range(N - 1):
        joint *= psi[n].reshape([K if k in (n, n + 1) else 1 for k in range(N)])
    return joint


def clamped(psi: Floats, node: int, state: int) -> Floats:
    """The potentials, one of them multiplied by the indicator of an observed state."""
    seen = np.arange(psi.shape[-1]) == state
    new = psi.copy()
    if node < psi.shape[-3]:
        new[..., node, :, :] *= seen[:, None]
    else:
        new[..., node - 1, :, :] *= seen
    return new
