"""Study `direct_samples`: recorded quantities, and detection of a wrong sampler."""

from collections.abc import Callable

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.sampling.direct_samples import DirectSamples
from bythebook.models.sampling import direct

Run = Callable[..., Outcome]


def test_an_unknown_sampler_is_refused() -> None:
    with pytest.raises(InputError, match=r"study\.samplers"):
        DirectSamples(["poisson"])


def test_only_what_applies_is_recorded(run: Run) -> None:
    pairs = run(DirectSamples(["gaussian pair", "gaussian pair as printed"], 200, 5))
    assert not {"integral", "parameter"} & set(pairs)
    assert pairs["defined"].sel(sampler="gaussian pair as printed").values.max() < 0.5
    one = run(DirectSamples(["exponential", "gaussian vector"], 200, 5))
    assert one["moment_score"].values.shape == (5, 9)
    assert one["integral"].values.shape == one["distribution"].values.shape == (1, 9)
    assert one["parameter"].values.shape == (2, 5, 2)
    assert "disc_p" not in one


def test_a_wrong_sampler_is_noticed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    right = direct.TRANSFORMS["logistic"]
    wrong = right._replace(of=lambda z, p: 1.1 * right.of(z, p))
    monkeypatch.setitem(direct.TRANSFORMS, "logistic", wrong)
    found = run(DirectSamples(["logistic", "cauchy"], 5000, 20))
    low = (found["uniform_p"].values < 0.01).mean(-1)
    assert low[0] > 0.2 > low[1]
    assert np.median(found["density_gap"].values[0]) > 0.01
    assert np.median(found["independence_p"].values[1]) > 0.1
