"""Restoration as knobs: what is refused, and what must come out without noise or links."""

from collections.abc import Callable

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.outcome import Outcome
from experiments.studies.graphs.image_restoration import ImageRestoration

Run = Callable[..., Outcome]


def test_strengths_are_bounded() -> None:
    with pytest.raises(BadInput, match="above 100"):
        ImageRestoration(beta=1e6)


def test_without_links_nothing_changes(run: Run) -> None:
    found = run(ImageRestoration(size=12, beta=0.0, draws=2, small=3))
    noisy, modes, cut = found["agreement"].values
    assert np.array_equal(noisy, modes)
    assert np.array_equal(noisy, cut)
    assert found["half_sweeps"].values.tolist() == [2, 2]
    assert found["unlinked_is_noisy"].values.all()


def test_strong_links_make_one_colour_of_it(run: Run) -> None:
    found = run(ImageRestoration(size=12, beta=50.0, eta=0.1, draws=1, small=0))
    assert abs(found["picture"].at(image="cut").values.sum()) == 144
    assert found["energy"].at(method="cut").values <= found["energy"].at(method="modes").values
