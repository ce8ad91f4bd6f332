"""Fixtures of the tests of state-space studies."""

import pytest

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.random_streams import make_rng


@pytest.fixture(scope="module")
def outcome(request: pytest.FixtureRequest) -> Outcome:
    """The outcome of the small study of a test module, run once for all of its tests."""
    study = request.module.SMALL
    found: Outcome = study.run(make_rng(0))
    return found
