"""Up- and downstream in a -> c <- b, c -> d, c -> e <- f, by hand and by sums over the joint."""

import numpy as np
from numpy.testing import assert_allclose

from bythebook.models.graphs.evidence import Evidence, side
from bythebook.models.graphs.factors import Factor

LINKS = [("a", "c"), ("b", "c"), ("c", "d"), ("c", "e"), ("f", "e")]
RNG = np.random.default_rng(1)
A, B, F = (RNG.dirichlet(np.ones(2)) for _ in range(3))
C, E = (RNG.dirichlet(np.ones(2), (2, 2)) for _ in range(2))  # c given a, b; e given c, f
D = RNG.dirichlet(np.ones(2), 2)
JOINT = Factor(tuple("abcdef"), np.einsum("a,b,f,abc,cd,cfe->abcdef", A, B, F, C, D, E))
SEEN = Evidence(JOINT, LINKS, {"a": 0, "d": 1, "e": 1, "f": 0})


def test_sides_of_nodes_and_links() -> None:
    assert side(LINKS, "c", [("c", "e")]) == set("abcd")
    assert SEEN.above("c") == {"a": 0}
    assert SEEN.below("c") == {"d": 1, "e": 1, "f": 0}
    assert SEEN.before("c", "e") == {"a": 0, "d": 1}
    assert SEEN.behind("c", "e") == {"e": 1, "f": 0}
    assert SEEN.below("d") == {"d": 1}
    assert SEEN.above("d") == {"a": 0, "e": 1, "f": 0}


def test_parts_are_sums_over_the_joint() -> None:
    up = np.einsum("b,bc->c", B, C[0])
    down = D[:, 1] * F[0] * E[:, 0, 1]
    assert_allclose(SEEN.posterior("c", SEEN.above("c")), up)
    assert_allclose(SEEN.likelihood("c", SEEN.below("c")), down)
    assert_allclose(SEEN.product("c"), up * down / (up * down).sum())
    assert_allclose(SEEN.posterior("d", SEEN.given), [0, 1])
    for name in "abcdef":
        assert np.abs(SEEN.dependence(name)).max() < 1e-15
    assert np.abs(SEEN.likelihood_gap("c", ["d", "e"])).max() < 1e-15
    assert np.abs(SEEN.likelihood_gap("c", ["d"])).max() > 1e-3  # a child is missing
