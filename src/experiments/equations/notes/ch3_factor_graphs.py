"""Equations of the notes, 3.2.2: the sum-product algorithm on a factor graph."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "3.8 and after",
    section="3.2.2",
    latex=r"p(\mathbf{x}) = f_a(x_1, x_2) f_b(x_1, x_2) f_c(x_2, x_3) f_d(x_3), \quad"
    r" p(x) = \prod_{s \in \text{ne}(x)} \mu_{f_s \rightarrow x}(x)",
)
def sum_product(rng: Generator) -> Sides:
    """The marginals of (3.8), with f_a and f_b multiplied, which makes the graph a tree."""
    n1, n2, n3 = rng.integers(2, 5, 3)
    fa, fb = rng.uniform(0.1, 2, (2, n1, n2))
    fc, fd = rng.uniform(0.1, 2, (n2, n3)), rng.uniform(0.1, 2, n3)
    fa = fa / np.einsum("ab,ab,bc,c->", fa, fb, fc, fd)
    joint = np.einsum("ab,ab,bc,c->abc", fa, fb, fc, fd)
    fab = fa * fb
    ab_x2, c_x2 = fab.sum(0), (fc * fd).sum(1)
    ab_x1, c_x3 = (fab * c_x2).sum(1), (fc * ab_x2[:, None]).sum(0)
    return Sides(
        truth=(joint.sum((1, 2)), joint.sum((0, 2)), joint.sum((0, 1))),
        printed=(ab_x1, ab_x2 * c_x2, c_x3 * fd),
    )
