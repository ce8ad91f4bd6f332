r"""A Gaussian truncated at the origin (FCML comment 7.3).

N+(x | mu, s2) = N(x | mu, s2) / Phi(mu / s)       x > 0
N-(x | mu, s2) = N(x | mu, s2) / Phi(-mu / s)      x < 0

<x>+ = mu + s phi(mu / s) / Phi(mu / s),           <x>- = mu - s phi(mu / s) / Phi(-mu / s)
"""

import numpy as np
from scipy.special import erfcx

from bythebook.models.types import Floats


def hazard(t: Floats | float) -> Floats:
    """The ratio phi(t) / Phi(t), elementwise; no underflow for very negative t."""
    return np.asarray(np.sqrt(2 / np.pi) / erfcx(-t / np.sqrt(2)))
