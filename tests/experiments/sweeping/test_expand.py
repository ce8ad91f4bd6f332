"""A sweep's overrides become cells: Hydra's grammar, made when they are asked for."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.configuration.compose import composer, parsed
from experiments.sweeping.expand import Block, Grid, cells


def test_a_grid_is_the_product_with_the_last_knob_fastest(
    grid: Grid, knobs: dict[str, list[str]]
) -> None:
    expected = itertools.product("ab", *knobs.values())
    assert [tuple(cell.swept.values()) for cell in grid] == list(expected)
    assert [cell.job.seed for cell in grid] == [0, 1, 2] * 4
    with pytest.raises(IndexError):
        grid[len(grid)]


def test_a_cell_is_made_when_asked_for_and_its_key_computed_once(
    grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    template: Any = grid.blocks[0].template
    assert template.made == 0
    key = grid[1].job.key
    assert template.made == 1
    monkeypatch.setattr(
        "experiments.configuration.jobs.dumps", lambda *_: pytest.fail("computed again")
    )
    assert grid[1].job.key == key


@given(st.lists(st.integers(1, 4), max_size=4))
def test_a_block_is_the_product_of_its_axes(sizes: list[int]) -> None:
    axes: Any = [[(f"k{a}", str(i), i) for i in range(size)] for a, size in enumerate(sizes)]
    block = Block(None, {}, axes)  # type: ignore[arg-type]
    assert len(block) == math.prod(sizes)
    found = [tuple(value for _, _, value in block.point(i)) for i in range(len(block))]
    assert found == list(itertools.product(*map(range, sizes)))


@pytest.mark.parametrize(
    ("words", "swept"),
    [
        ("seed=0,1", {"seed": ["0", "1"]}),
        ("seed=range(1,4)", {"seed": ["1", "2", "3"]}),
        ("seed=choice(5,3)", {"seed": ["5", "3"]}),
        ("study.orders=[1],[1,2] seed=0", {"study.orders": ["[1]", "[1,2]"]}),
        ("seed=0,1 limit.seconds=1,2", {"seed": list("0101"), "limit.seconds": list("1122")}),
        ("seed=4", {}),
    ],
)
def test_hydras_grammar(words: str, swept: dict[str, list[str]]) -> None:
    typed = ["study=polynomial_order", *words.split()]
    with composer(parsed(typed), []) as compose:
        grid, _ = cells(typed, compose)
    found = [cell.swept for cell in grid]
    assert {knob: [cell[knob] for cell in found] for knob in swept} == swept
    assert set(found[0]) == set(swept)
    for cell in grid:
        assert str(cell.job.seed) == cell.swept.get("seed", str(cell.job.seed))


def test_quotes_are_off_and_lists_are_lists() -> None:
    typed = ["study=polynomial_order", "study.data='olympics-100m-men',\"olympics-100m-women\""]
    with composer(parsed(typed), []) as compose:
        grid, _ = cells([*typed, "study.methods=['loo'],[kfold,loo]"], compose)
    knobs = [cell.job.science["knobs"] for cell in grid]
    assert {knob["data"] for knob in knobs} == {"olympics-100m-men", "olympics-100m-women"}
    assert [knob["methods"] for knob in knobs[:2]] == [["loo"], ["kfold", "loo"]]


SWEEPS = {
    "seed=a,b": "seed=a is not allowed; allowed: int, >= 0",
    "seed=1,true": "seed=true is not allowed; allowed: int, >= 0",
    "seed=range(0,-1)": "study=ridge_path seed=range(0,-1): the sweep has no cells",
    "seed=range(0,3,0)": "'seed=range(0,3,0)': range() arg 3 must not be zero",
    "study.orders=[1],[a]": 'study.orders=["a"]: a is not allowed; allowed: list[int]',
    "seed=range(0,1000000000)": "the sweep would have 1,000,000,000 cells; allowed: 1,000,000",
    "seed=range(0,inf)": "the sweep would have endlessly many cells",
    "seed=range(0.0,nan)": "'seed=range(0.0,nan)': ",
    "seed=interval(0,1)": "'seed=interval(0,1)' is not a list of values; allowed: a,b,c",
}


@pytest.mark.parametrize("typed", SWEEPS)
def test_sweeps(typed: str, outputs: Path, refused: Callable[..., str]) -> None:
    assert refused("run", "study=ridge_path", "-m", typed).startswith(SWEEPS[typed])
    assert not list(outputs.iterdir())
