"""Study `image_labels`: invalid settings, and results without links and with much noise."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.image_labels import ImageLabels

Run = Callable[..., Outcome]


def test_strengths_come_in_their_order() -> None:
    with pytest.raises(InputError, match="not in their order"):
        ImageLabels(strengths=[1.0, 0.0])


def test_without_links_all_methods_agree(run: Run) -> None:
    found = run(
        ImageLabels(
            labels=2,
            rows=12,
            columns=10,
            noise=0.1,
            strengths=[0.0],
            methods=["alone", "modes", "gibbs", "mean field", "messages"],
            draws=2,
        )
    )
    assert found["wrong"].values.max() < 0.02
    assert "patch_right" not in found


def test_pairs_of_dots(run: Run) -> None:
    found = run(
        ImageLabels(
            task="stereo",
            labels=6,
            rows=16,
            columns=20,
            noise=0.05,
            strengths=[0.1, 0.2],
            edges=["quadratic", "truncated"],
            draws=2,
        )
    )
    assert found["true_step"].values.tolist() == [3.0, 3.0]
    first = found["round_wrong"].sel(rounds=0).values
    alone = found["wrong"].sel(method="alone", strength=0.2).values
    assert np.array_equal(first, alone)
    assert found["patch_right"].dims == ("texture", "draw")
