"""The expansion of overrides in Hydra's grammar into cells that are created on demand."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.config.hydra_compose import hydra_composer, parse_overrides
from bythebook.experiments.sweeps.grid import GridBlock, SweepGrid, expand_sweep


def test_a_grid_is_the_product_with_the_last_knob_fastest(
    grid: SweepGrid, knobs: dict[str, list[str]]
) -> None:
    expected = itertools.product("ab", *knobs.values())
    assert [tuple(cell.swept.values()) for cell in grid] == list(expected)
    assert [cell.job.seed for cell in grid] == [0, 1, 2] * 4
    with pytest.raises(IndexError):
        grid[len(grid)]


def test_a_cell_is_created_on_demand_and_its_key_computed_once(
    grid: SweepGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    template: Any = grid.blocks[0].template
    assert template.n_jobs == 0
    key = grid[1].job.key
    assert template.n_jobs == 1
    monkeypatch.setattr(
        "bythebook.experiments.config.job.dumps", lambda *_: pytest.fail("computed again")
    )
    assert grid[1].job.key == key


@given(st.lists(st.integers(1, 4), max_size=4))
def test_a_block_is_the_product_of_its_axes(sizes: list[int]) -> None:
    axes: Any = [[(f"k{a}", str(i), i) for i in range(size)] for a, size in enumerate(sizes)]
    block = GridBlock(None, {}, axes)  # type: ignore[arg-type]
    assert len(block) == math.prod(sizes)
    found = [tuple(value for _, _, value in block.combination(i)) for i in range(len(block))]
    assert found == list(itertools.product(*map(range, sizes)))


@pytest.mark.parametrize(
    ("words", "swept"),
    [
        ("seed=0,1", {"seed": ["0", "1"]}),
        ("seed=range(1,4)", {"seed": ["1", "2", "3"]}),
        ("seed=choice(5,3)", {"seed": ["5", "3"]}),
        ("study.orders=[1],[1,2] seed=0", {"study.orders": ["[1]", "[1,2]"]}),
        ("seed=0,1 limits.timeout=1,2", {"seed": list("0101"), "limits.timeout": list("1122")}),
        ("seed=4", {}),
    ],
)
def test_overrides_in_hydras_grammar(words: str, swept: dict[str, list[str]]) -> None:
    typed = ["study=polynomial_order", *words.split()]
    with hydra_composer(parse_overrides(typed), []) as compose:
        grid, _ = expand_sweep(typed, compose)
    found = [cell.swept for cell in grid]
    assert {knob: [cell[knob] for cell in found] for knob in swept} == swept
    assert set(found[0]) == set(swept)
    for cell in grid:
        assert str(cell.job.seed) == cell.swept.get("seed", str(cell.job.seed))


def test_quotes_are_removed_and_lists_are_parsed() -> None:
    typed = ["study=polynomial_order", "study.data='olympics-100m-men',\"olympics-100m-women\""]
    with hydra_composer(parse_overrides(typed), []) as compose:
        grid, _ = expand_sweep([*typed, "study.folds=[5],[9,5]"], compose)
    knobs = [cell.job.config["knobs"] for cell in grid]
    assert {knob["data"] for knob in knobs} == {"olympics-100m-men", "olympics-100m-women"}
    assert [knob["folds"] for knob in knobs[:2]] == [[5], [9, 5]]


def test_results_may_have_former_names() -> None:
    typed = ["experiment=fcml/table-1.1,fcml/fig-1.15"]
    with hydra_composer(parse_overrides(typed), []) as compose:
        grid, _ = expand_sweep(typed, compose)
    assert [cell.swept["experiment"] for cell in grid] == ["fcml/tab-1.1", "fcml/fig-1.15"]
    assert [cell.job.experiment for cell in grid] == ["fcml/tab-1.1", "fcml/fig-1.15"]


INVALID_SWEEPS = {
    "seed=a,b": "seed=a is not allowed; allowed: int, >= 0",
    "seed=1,true": "seed=true is not allowed; allowed: int, >= 0",
    "seed=range(0,-1)": "study=ridge_path seed=range(0,-1): the sweep has no runs; allowed",
    "seed=range(0,3,0)": "'seed=range(0,3,0)': range() arg 3 must not be zero",
    "study.orders=[1],[a]": 'study.orders=["a"]: a is not allowed; allowed: list[int]',
    "seed=range(0,1000000000)": "the sweep has 1,000,000,000 runs; allowed: 1,000,000 (set max",
    "seed=range(0,inf)": "the sweep has infinitely many runs",
    "seed=range(0.0,nan)": "'seed=range(0.0,nan)': ",
    "seed=interval(0,1)": "'seed=interval(0,1)' is not a list of values; allowed: a,b,c",
}


@pytest.mark.parametrize("typed", INVALID_SWEEPS)
def test_invalid_sweeps_are_rejected_before_any_run(
    typed: str, outputs: Path, refused: Callable[..., str]
) -> None:
    assert refused("run", "study=ridge_path", "-m", typed).startswith(INVALID_SWEEPS[typed])
    assert not list(outputs.iterdir())
