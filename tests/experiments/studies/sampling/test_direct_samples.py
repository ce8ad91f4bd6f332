"""Study `direct_samples`: recorded quantities, and detection of a wrong sampler."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.direct_samples import DirectSamples
from bythebook.models.sampling import direct

Run = Callable[..., Outcome]


def test_an_unknown_sampler_is_refused() -> None:
    with pytest.raises(InputError, match=r"study\.samplers"):
        DirectSamples(["poisson"])


def test_only_what_applies_is_recorded(run: Run) -> None:
    pairs = run(DirectSamples(["gaussian pair"], 200, 5))
    assert {"drawn", "density", "distribution"}.isdisjoint(pairs)
    assert pairs["disc_p"].values.shape == (1, 5)
    several = run(DirectSamples(["exponential", "gaussian vector"], 200, 5))
    assert several["point"].values.shape == (1, 200, 2)
    assert "disc_p" not in several


def test_curves_are_those_of_the_first_sample(run: Run) -> None:
    curves = run(DirectSamples(["cauchy", "logistic"], 800, 2))
    y = curves["drawn"].values
    assert (np.diff(y) >= 0).all()
    for k, law in enumerate((stats.cauchy, stats.logistic)):
        assert_allclose(curves["density"].values[k], law.pdf(y[k]), rtol=1e-9)
        assert_allclose(curves["distribution"].values[k], law.cdf(y[k]), rtol=1e-9)


def test_a_wrong_sampler_is_noticed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    right = direct.TRANSFORMS["logistic"]
    wrong = right._replace(of=lambda z, p: 1.1 * right.of(z, p))
    monkeypatch.setitem(direct.TRANSFORMS, "logistic", wrong)
    found = run(DirectSamples(["logistic", "cauchy"], 5000, 20))
    low = (found["uniform_p"].values < 0.01).mean(-1)
    assert low[0] > 0.2 > low[1]
    assert np.median(found["independence_p"].values[1]) > 0.1
