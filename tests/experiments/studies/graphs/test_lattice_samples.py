"""Study `lattice_samples`: invalid settings, and results without links and with strong ones."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.lattice_samples import LatticeSamples

Run = Callable[..., Outcome]


def test_couplings_come_in_their_order() -> None:
    with pytest.raises(InputError, match="not in their order"):
        LatticeSamples(couplings=[1.0, 0.5])


def test_no_links_and_strong_ones(run: Run) -> None:
    found = run(
        LatticeSamples(
            states=4, size=16, couplings=[0.0, 9.0], sweeps=40, starts=["uniform", "halves"]
        )
    )
    assert found["largest_region"].sel(coupling=0.0).values.max() < 0.5
    assert found["largest_region"].sel(coupling=9.0, start="uniform").values.min() > 0.99
    assert found["equal_links"].sel(coupling=0.0).values.mean() == pytest.approx(0.25, abs=0.02)


def test_regions_are_counted_by_their_sizes(run: Run) -> None:
    found = run(LatticeSamples(states=3, size=8, couplings=[0.5], sweeps=40, chains=1))
    sizes = found["region_size"].sel(coupling=0.5).values
    one = {"coupling": 0.5, "start": "random", "chain": 0}
    assert sizes.max() / 64 == found["largest_region"].sel(**one).item
    kinds, count = np.unique(sizes, return_counts=True)
    assert (count // kinds).sum() == found["regions"].sel(**one).item
