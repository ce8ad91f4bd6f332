"""Outcomes survive JSON and npz to the last bit."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.contract.exact_json import dumps, loads
from experiments.contract.legacy import Outcome, Series, differences


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_floats_survive_json_to_the_last_bit(value: float) -> None:
    text = dumps({"x": value})
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not strict JSON"))
    back = loads(text)["x"]
    assert np.float64(back).tobytes() == np.float64(value).tobytes() or math.isnan(value)
    assert math.isnan(back) == math.isnan(value)


def test_numpy_values_become_plain_ones() -> None:
    outcome = Outcome(
        {"a": np.float64(1.5), "b": np.int64(2), "c": np.bool_(True)},
        {"curve": [1.0, 2.0], "steps": Series([3, 5], np.array([0.1, 0.2]))},
        {"table": {"x": np.arange(2), "y": [0.5, None]}},
    )
    assert [type(v) for v in outcome.metrics.values()] == [float, int, bool]
    assert outcome.series["curve"] == Series([0, 1], [1.0, 2.0])
    assert outcome.tables["table"] == {"x": [0, 1], "y": [0.5, None]}


def test_tables_and_series_must_be_rectangular() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        Outcome(tables={"t": {"x": [1, 2], "y": [1]}})
    with pytest.raises(ValueError, match="2 steps and 1 values"):
        Outcome(series={"s": Series([1, 2], [1.0])})


def test_differences_sees_one_bit() -> None:
    a = Outcome({"m": 0.1, "n": 1}, arrays={"x": np.array([1.0, 2.0])})
    b = Outcome({"m": math.nextafter(0.1, 1), "n": 1}, arrays={"x": np.array([1.0, 2.0])})
    c = Outcome({"m": 0.1}, arrays={"x": np.array([1.0, math.nextafter(2.0, 3)])})
    assert differences(a, a) == []
    assert differences(a, b) == ["metrics/m"]
    assert differences(a, c) == ["metrics/n", "arrays/x"]
