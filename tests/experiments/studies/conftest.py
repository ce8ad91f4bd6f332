"""Fixtures of the tests of all studies."""

from collections.abc import Callable
from typing import Any

import pytest

from bythebook.experiments.core.random_streams import make_rng
from bythebook.experiments.core.study import Study


@pytest.fixture
def run() -> Callable[..., Any]:
    """Run a study as the runner would, with a seed."""

    def outcome(study: Study, seed: int = 0) -> Any:
        return study.compute(make_rng(seed))

    return outcome
