"""The evidence of a hidden Markov model by a recursion in logarithms, without scale factors."""

import numpy as np
from scipy.special import logsumexp

from bythebook.models.types import Floats


def evidence_in_logs(pi: Floats, A: Floats, log_lik: Floats) -> Floats:
    """Ln p(x), (...), with sums of exponentials."""
    with np.errstate(divide="ignore"):
        log_alpha, log_A = np.log(pi) + log_lik[..., 0, :], np.log(A)
    for t in range(1, log_lik.shape[-2]):
        log_alpha = log_lik[..., t, :] + logsumexp(log_alpha[..., None] + log_A, axis=-2)
    return np.asarray(logsumexp(log_alpha, axis=-1))
