"""Equations of Ghahramani 11.5: expectation propagation with a product of marginals."""

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs.factors import Factor
from bythebook.models.graphs.propagation import factor_graph, send
from bythebook.models.types import Floats


def _normalised(table: Floats) -> Floats:
    return np.asarray(table / table.sum())


@equation(
    "70",
    section="11.5",
    latex=r"\min_{\tilde{f}_i(\theta)} \text{KL} \left( f_i(\theta)"
    r" \prod_{j \neq i} \tilde{f}_j(\theta) \, \| \, \tilde{f}_i(\theta)"
    r" \prod_{j \neq i} \tilde{f}_j(\theta) \right)",
    within=1e-4,
)
def propagation_step(rng: Generator) -> Sides:
    """The term of a factor over two variables, as a product, against the two messages.

    The minimum is found numerically; the other terms are the messages that arrive.
    """
    table = rng.uniform(0.1, 2, rng.integers(2, 4, 2).tolist())
    rest = [_normalised(rng.uniform(0.2, 1, size)) for size in table.shape]
    target = _normalised(table * np.multiply.outer(rest[0], rest[1]))

    def term(theta: Floats) -> list[Floats]:
        return [np.exp(part) for part in (theta[: len(table)], theta[len(table) :])]

    def divergence(theta: Floats) -> float:
        one, other = (t * r for t, r in zip(term(theta), rest, strict=True))
        q = _normalised(np.multiply.outer(one, other))
        return float((target * np.log(target / q)).sum())

    start = np.zeros(sum(table.shape))
    best = minimize(divergence, start, method="BFGS", options={"gtol": 1e-8})
    graph = factor_graph(
        [Factor(("x", "y"), table), Factor(("x",), rest[0]), Factor(("y",), rest[1])]
    )
    messages = {("x", 0): rest[0], ("y", 0): rest[1]}
    truth = (send(graph, messages, (0, "x")), send(graph, messages, (0, "y")))  # type: ignore[arg-type]
    return Sides(
        truth=tuple(_normalised(message) for message in truth),
        printed=tuple(_normalised(one) for one in term(best.x)),
    )
