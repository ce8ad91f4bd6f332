"""Study `page_rank`: settings and results."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.chains.page_rank import PageRank

Run = Callable[..., Outcome]


def test_one_web_and_links_of_two_pages() -> None:
    with pytest.raises(InputError, match="one of the two"):
        PageRank()
    with pytest.raises(InputError, match="from one page"):
        PageRank(links=["1 0"])


def test_a_pair_that_leads_to_each_other(run: Run) -> None:
    found = run(PageRank(links=["1 2", "2 1"], surfers=3, surf_steps=[100, 10], webs=3))
    assert np.allclose(found["rank"].values, 0.5)
    assert found["power_error"].values.max() < 1e-15
    assert found["surfer_error"].coord("visits").tolist() == [10, 100]
    assert found["delta_share"].item == 0.5
    assert (found["solutions"].sel(p=0.85).values == 1).all()


def test_the_generated_web_has_500_pages(run: Run) -> None:
    found = run(PageRank(data="mlapp-harvard500", iterations=5))
    assert found["rank"].values.shape == (1, 500)
    assert "iterate" not in found
