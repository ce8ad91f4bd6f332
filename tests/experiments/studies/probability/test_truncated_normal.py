"""Truncated Gaussians by quadrature against scipy."""

import numpy as np
import pytest
from scipy.stats import truncnorm

from experiments.contract.errors import BadInput
from experiments.contract.study import generator
from experiments.studies.probability.truncated_normal import TruncatedNormal


def test_means_against_scipy() -> None:
    study = TruncatedNormal(mu=0.5, sd=1.0)
    outcome = study.run(generator(study.name, 0))
    expected = truncnorm(-0.5, np.inf, loc=0.5).mean()
    assert outcome.metrics["mean_positive"] == pytest.approx(expected, rel=1e-9)
    assert round(outcome.metrics["mean_negative"], 5) == -0.64108
    wide = truncnorm(-0.25, np.inf, loc=0.5, scale=2).mean()
    assert outcome.metrics["mean_wide"] == pytest.approx(wide, rel=1e-9)
    assert outcome.metrics["printed_formula_right_positive"] is True
    assert outcome.metrics["printed_formula_right_wide"] is False
    assert list(study.draw(outcome)) == ["densities"]
    with pytest.raises(BadInput, match=r"study\.sd"):
        TruncatedNormal(sd=0.0)
