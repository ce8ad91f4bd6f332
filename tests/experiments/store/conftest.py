"""Jobs for tests of records."""

import pytest

from bythebook.experiments.config.job import Job
from bythebook.experiments.studies.regression.polynomial_order import PolynomialOrder


@pytest.fixture
def job() -> Job:
    return Job(PolynomialOrder(orders=[1, 2, 3]))


@pytest.fixture
def cells() -> list[Job]:
    """Jobs with small and with large arrays alternately."""
    orders = [list(range(1, 4)), list(range(1, 12))]
    return [Job(PolynomialOrder(orders=orders[n % 2]), seed=n) for n in range(6)]
