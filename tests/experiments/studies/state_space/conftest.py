"""What the tests of state-space studies share."""

import pytest

from experiments.contract.outcome import Outcome
from experiments.contract.streams import generator


@pytest.fixture(scope="module")
def outcome(request: pytest.FixtureRequest) -> Outcome:
    """What the small study of a test module finds, run once for all of its tests."""
    study = request.module.SMALL
    found: Outcome = study.run(generator(0))
    return found
