"""Study `discrete_network`: rules, a simulation, and a loop over a joint table."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.discrete_network import DiscreteNetwork

Run = Callable[..., Outcome]
PAIR = {"x": ["a", "b"], "y": ["1", "2", "3"]}
TABLES = {"x": [0.3, 0.7], "y | x": [0.2, 0.5, 0.3, 0.6, 0.1, 0.3]}


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"variables": {"x": ["a", "a"], "y": ["1"]}}, "different ones"),
        ({"variables": {"x y": ["a", "b"]}}, "letters, digits"),
        ({"factors": {"x": [0.3, 0.7]}}, "tables of all variables"),
        ({"factors": {"x": [1.0], "y | x": TABLES["y | x"]}}, "1 numbers; allowed: 2"),
        ({"factors": {"x": [1.3, -0.3], "y | x": TABLES["y | x"]}}, "none below zero"),
        ({"factors": TABLES | {"y | x": [0.3] * 6}}, "the sum is off by 0.1"),
        ({"factors": TABLES | {"x": [0.1, 0.8]}}, "the sum is off by 0.1"),
        ({"factors": TABLES | {"z": [1.0]}}, "each of x, y once"),
        ({"queries": ["x, x"]}, "each of x, y once"),
        ({"queries": ["| x"]}, "each of x, y once"),
        ({"maximise": ["x | y"]}, "no bar, 6 other"),
        ({"maximise": ["z"]}, "each of x, y once"),
    ],
)
def test_knobs_that_make_no_sense_are_refused(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        DiscreteNetwork(**({"variables": PAIR, "factors": TABLES} | changed))  # type: ignore[arg-type]


def test_shares_of_many_simulated_pairs(run: Run) -> None:
    p = run(DiscreteNetwork(PAIR, TABLES, queries=["x, y", "x | y", "y"]))["p"]
    rng = np.random.default_rng(1)
    x = (rng.uniform(size=200_000) > 0.3).astype(int)
    rows = np.reshape(TABLES["y | x"], (2, 3))
    y = (rng.uniform(size=x.size)[:, None] > np.cumsum(rows, axis=1)[x]).sum(1)
    assert_allclose(p.sel(event="x=a, y=2").item, np.mean((x == 0) & (y == 1)), atol=0.005)
    assert_allclose(p.sel(event="y=1").item, np.mean(y == 0), atol=0.005)
    assert_allclose(p.sel(event="x=b | y=1").item, np.mean(x[y == 0]), atol=0.01)


def test_a_joint_table_by_a_loop(run: Run) -> None:
    p = np.random.default_rng(2).random((2, 2, 2))
    states = {name: ["0", "1"] for name in "abc"}
    study = DiscreteNetwork(states, {"a, b, c": p.ravel().tolist()}, queries=["a, c", "b | a, c"])
    found, p = run(study), p / p.sum()
    for a, b, c in product(range(2), repeat=3):
        pair = p[a, 0, c] + p[a, 1, c]
        assert_allclose(found["p"].sel(event=f"a={a}, c={c}").item, pair)
        assert_allclose(found["p"].sel(event=f"b={b} | a={a}, c={c}").item, p[a, b, c] / pair)


def test_without_knobs_the_coin_is_reported(run: Run) -> None:
    found = run(DiscreteNetwork())
    assert_allclose(found["p"].sel(event="report=heads").item, 0.4)
    assert found["p"].coord("event").tolist()[:2] == ["coin=tails", "coin=heads"]
    assert set(found) == {"p"}


def test_estimates_of_drawn_tables_with_zeros(run: Run) -> None:
    study = DiscreteNetwork(
        variables=PAIR,
        factors={"x": [], "y | x": []},
        queries=["x, y"],
        maximise=["x, y", "x"],
        draws=30,
        forbidden=0.4,
    )
    found = run(study)
    p = found["p"].values.reshape(2, 3)  # of the first draw
    first = {"draw": 0, "asked": "x, y"}
    assert_allclose(found["probability"].sel(estimate="map", **first).item, p.max())
    top = "{} {}".format("ab"[p.argmax() // 3], p.argmax() % 3 + 1)
    assert found["setting"].sel(estimate="map", **first).item == top
    assert found["setting"].sel(estimate="mpe", draw=0, asked="x").item == top[0]
    modes = "{} {}".format("ab"[p.sum(1).argmax()], p.sum(0).argmax() + 1)
    assert found["setting"].sel(estimate="mpm", **first).item == modes
    wrong = 2 - p.sum(1).max() - p.sum(0).max()
    assert_allclose(found["wrong"].sel(estimate="mpm", **first).item, wrong)
    assert found["free_width"].values.tolist() == [1, 1]
    rng = np.random.default_rng(3)
    zeros = [np.mean(one.table == 0) for _ in range(200) for one in study._factors(rng)]
    assert 0.1 < np.mean(zeros) < 0.4  # one in each row stays
