"""Study `markov_chain`: settings and results."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.chains.markov_chain import MarkovChain

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("chains", "words"), [({"a": [1.0, 0.0]}, "1, 4, 9"), ({"a": [0.5] * 4 + [0.1] * 5}, "sum")]
)
def test_matrices_are_square_and_rows_sum_to_one(
    chains: dict[str, list[float]], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        MarkovChain(chains=chains)


def test_chains_of_two_sizes_side_by_side(run: Run) -> None:
    flip, absorbing = [0.0, 1.0, 1.0, 0.0], [0.5, 0.5, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 1.0]
    found = run(MarkovChain(chains={"flip": flip, "right": absorbing}, draws=8))
    assert np.allclose(found["stationary"].sel(chain="right", closed=1).values, [0, 0, 1])
    assert found["period"].values.tolist() == [[2, 2, 0], [1, 1, 1]]
    assert found["n_step"].sel(chain="flip", state=1, to=1, n=2).item == 1
    assert found["classes"].values.tolist() == [1, 3]
    assert found["stationary_gap"].values.max() < 1e-15


def test_random_chains_are_of_all_kinds(run: Run) -> None:
    found = run(MarkovChain(draws=40))
    for name in ("irreducible", "regular", "aperiodic", "all_self_loops"):
        assert 0 < found[name].values.mean() < 1
