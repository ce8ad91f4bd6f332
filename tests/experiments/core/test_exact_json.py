"""JSON that preserves every bit of a float."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.core.exact_json import dumps, loads


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_floats_are_restored_bit_for_bit(value: float) -> None:
    text = dumps({"x": value})
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not strict JSON"))
    back = loads(text)["x"]
    assert np.float64(back).tobytes() == np.float64(value).tobytes() or math.isnan(value)
    assert math.isnan(back) == math.isnan(value)
