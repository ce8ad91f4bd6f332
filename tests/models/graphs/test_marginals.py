"""Every algorithm against sums over all configurations, under one signature."""

import numpy as np
import pytest
from graph_tables import visited
from numpy.testing import assert_allclose

from bythebook.models.graphs.factors import (
    BOOLEAN,
    MAX_PRODUCT,
    MIN_SUM,
    SUM_PRODUCT,
    Factor,
    Semiring,
    clamp,
)
from bythebook.models.graphs.marginals import METHODS
from bythebook.models.types import Floats

RNG = np.random.default_rng(1)
MOVE = RNG.dirichlet(np.ones(3), 3)
HMM = [
    Factor(("u",), RNG.dirichlet(np.ones(3))),
    Factor(("u", "v"), MOVE),
    Factor(("v", "w"), MOVE),
    *(Factor((z, x), RNG.dirichlet(np.ones(3), 3)) for z, x in ("ua", "vb", "wc")),
]
SEEN = {"a": 2, "b": 0, "c": 1}
LOOP = [Factor(pair, RNG.uniform(0.1, 1, (3, 3))) for pair in (("a", "b"), ("b", "c"), ("c", "a"))]
LOOPY = ["Shafer-Shenoy", "Hugin", "cutset conditioning"]


def shared(table: Floats) -> Floats:
    return np.asarray(table / table.sum())


@pytest.mark.parametrize("method", [name for name in METHODS if "echoed" not in name])
def test_every_algorithm_gives_the_posteriors(method: str) -> None:
    assert METHODS[method].suits(HMM, SEEN)
    found = METHODS[method].run(HMM, SEEN, SUM_PRODUCT, np.random.default_rng(0))
    assert found.marginals.keys() == set("uvwabc")
    for name, table in found.marginals.items():
        assert_allclose(shared(table), shared(visited(clamp(HMM, SEEN), name)), atol=1e-12)


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.any_ring])
@pytest.mark.parametrize("ring", [SUM_PRODUCT, MAX_PRODUCT, MIN_SUM, BOOLEAN])
def test_any_semiring(method: str, ring: Semiring) -> None:
    tables = HMM if method == "two passes" else LOOP
    if ring is BOOLEAN:
        tables = [Factor(t.variables, t.table > 0.4) for t in tables]
    found = METHODS[method].run(tables, {}, ring, np.random.default_rng(0))
    for name, table in found.marginals.items():
        assert_allclose(table, visited(tables, name, ring), rtol=1e-12)


@pytest.mark.parametrize("method", LOOPY)
@pytest.mark.parametrize("given", [{}, {"b": 2}])
def test_graphs_with_loops(method: str, given: dict[str, int]) -> None:
    tables = [*LOOP, Factor(("c", "d"), LOOP[0].table), Factor(("d", "a"), LOOP[1].table)]
    for seed in range(4):  # the order in which cutsets are tried
        found = METHODS[method].run(tables, given, SUM_PRODUCT, np.random.default_rng(seed))
        for name in "abcd":
            right = visited(clamp(tables, given), name)
            assert_allclose(shared(found.marginals[name]), shared(right), atol=1e-12)


def test_messages_are_counted() -> None:
    """Nine variables' links of six factors, and three of the evidence."""
    counts = {
        name: METHODS[name].run(HMM, SEEN, SUM_PRODUCT, np.random.default_rng(0))[1:]
        for name in METHODS
    }
    assert counts["two passes"] == counts["one by one, waiting"] == (2 * 14, 1, 0)
    assert counts["one by one, from ones"][0] > 2 * 14
    assert counts["lambda and pi"] == (2 * 5, 1, 0)
    assert counts["lambda and pi, echoed"] == (2 * 5 * 30, 30, 0)


def test_an_algorithm_refuses_a_graph_that_it_does_not_suit() -> None:
    suited = {name for name, method in METHODS.items() if method.suits(LOOP, {})}
    assert suited == {"enumeration", "elimination", *LOOPY}
    assert not METHODS["forward-backward"].suits(HMM, {"a": 2, "b": 0})
    assert not METHODS["collect and divide"].suits([Factor(tuple("abc"), np.ones((2, 2, 2)))], {})
    for method in ("two passes", "collect and distribute", "lambda and pi"):
        with pytest.raises(ValueError, match=r"without loops|not a tree|singly connected"):
            METHODS[method].run(LOOP, {}, SUM_PRODUCT, np.random.default_rng(0))
    other = [*HMM[:2], Factor(("v", "w"), MOVE[::-1]), *HMM[3:]]
    with pytest.raises(ValueError, match="equal at all steps"):
        METHODS["forward-backward"].run(other, SEEN, SUM_PRODUCT, np.random.default_rng(0))
