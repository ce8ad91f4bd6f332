"""Study `polytree_messages`: invalid settings, and three nodes."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.graphs.polytree_messages import PolytreeMessages

Run = Callable[..., Outcome]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="fewer than study"):
        PolytreeMessages(variables=4, observed=4)


def test_small_graphs(run: Run) -> None:
    found = run(PolytreeMessages(variables=4, observed=1, draws=10))
    for name in ("belief_error", "product_error", "prior_error", "down_message_error"):
        assert found[name].values.max() < 1e-12
    assert found["undivided_links"].sel(paths="one path").values.max() == 0
    assert found["undivided_links"].sel(paths="loops").values.min() >= 3
    assert found["echo_error"].values.max() > 1e-3
