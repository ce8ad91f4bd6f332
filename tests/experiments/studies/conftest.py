"""What the tests of all studies share."""

from collections.abc import Callable
from typing import Any

import pytest

from experiments.contract.streams import generator
from experiments.contract.study import Study


@pytest.fixture
def run() -> Callable[..., Any]:
    """Run a study as the runner would, with a seed."""

    def outcome(study: Study, seed: int = 0) -> Any:
        return study.run(generator(seed))

    return outcome
