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
    found = run(ImageRestoration(size=12, beta=0.0, draws=2, small=3))
    noisy, *others = found["agreement"].values
    assert all(np.array_equal(noisy, other) for other in others)
    assert found["half_sweeps"].values.tolist() == [2, 2]
    assert found["unlinked_is_noisy"].values.all()


def test_strong_links_make_one_colour_of_it(run: Run) -> None:
    found = run(ImageRestoration(size=12, beta=50.0, eta=0.1, draws=1, small=0))
    assert abs(found["picture"].sel(image="cut").values.sum()) == 144
    assert found["energy"].sel(method="cut").values <= found["energy"].sel(method="modes").values


def test_energies_are_local_and_the_bias_has_its_sign(run: Run) -> None:
    found = run(ImageRestoration(size=8, h=0.3, draws=1, small=4))
    assert found["local_error"].values.max() < 1e-9
    assert found["far_difference"].values.max() < 1e-9
    assert found["flip_gain"].values.max() <= 1e-9
    assert found["messages_excess"].values.min() >= -1e-4
    even, biased = found["prior_up"].values
    assert np.abs(even - 0.5).max() < 1e-12
    assert biased.max() < 0.5
