"""Study `dirichlet_process`: settings and results."""

from collections.abc import Callable

import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.clustering.dirichlet_process import DirichletProcess

Run = Callable[..., Outcome]


def test_sizes_ascend() -> None:
    with pytest.raises(InputError, match="allowed: ascending"):
        DirichletProcess(fitted_n=[30, 10])


def test_more_points_use_more_components(run: Run) -> None:
    found = run(DirichletProcess(n=[5, 50], draws=50, fitted_n=[4, 20], repetitions=5, sweeps=12))
    prior = found["prior_clusters"].values.mean(-1)
    assert (prior[:, 1] > prior[:, 0]).all()
    few, many = found["sampled_clusters"].values.mean(1)
    assert few < many
    assert found["exact_count_probability"].values.sum() == pytest.approx(1)
    assert found["drawn_count_probability"].values.sum() == pytest.approx(1)
