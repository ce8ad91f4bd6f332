"""Study `image_restoration`: invalid settings, and results without noise or links."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.image_restoration import ImageRestoration

Run = Callable[..., Outcome]


def test_strengths_are_bounded() -> None:
    with pytest.raises(InputError, match="above 100"):
        ImageRestoration(beta=1e6)


def test_without_links_nothing_changes(run: Run) -> None:
    found = run(ImageRestoration(size=12, beta=0.0, draws=2))
    noisy, *others = found["agreement"].values
    assert all(np.array_equal(noisy, other) for other in others)
    assert found["largest_rise"].values.tolist() == [0, 0]


def test_strong_links_make_one_colour_of_it(run: Run) -> None:
    found = run(ImageRestoration(size=12, beta=50.0, eta=0.1, draws=1))
    assert abs(found["picture"].sel(image="cut").values.sum()) == 144
    assert found["energy"].sel(method="cut").values <= found["energy"].sel(method="modes").values
