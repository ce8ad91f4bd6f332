"""A record: its arrays are what was written, wherever they are kept."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.contract.errors import BadInput
from experiments.contract.exact_json import dumps
from experiments.contract.outcome import Outcome, axis, differences
from experiments.records.record import KEPT, Record, digest

OUTCOME = Outcome(curve=axis("x", np.linspace(0, 1, 400)).of(np.sqrt(np.arange(400.0))), a=1)


def packed(allow_pickle: bool = False) -> tuple[dict[str, Any], list[bytes]]:
    stated, large = OUTCOME.to_json()
    arrays = {}
    for name, array in large.items():
        stream = io.BytesIO()
        kept = array.astype(object) if allow_pickle else array
        np.lib.format.write_array(stream, kept, allow_pickle=allow_pickle)
        arrays[f"{KEPT}{name}"] = stream.getvalue()
    digests = {name: digest(content) for name, content in arrays.items()}
    digests["outcome"] = digest(dumps(stated).encode())
    return {"outcome": stated, "digests": digests}, list(arrays.values())


def test_packed_arrays_are_read_to_the_last_bit() -> None:
    content, arrays = packed()
    assert len(arrays) == 2
    assert differences(Record(Path("a-1"), content, arrays).outcome, OUTCOME) == []


def test_other_arrays_are_refused() -> None:
    content, arrays = packed()
    for changed in (arrays[::-1], [arrays[0], arrays[1][:-1] + b"?"]):
        with pytest.raises(BadInput, match="is not what was written"):
            _ = Record(Path("a-1"), content, changed).outcome


def test_no_pickle_is_opened() -> None:
    content, arrays = packed(allow_pickle=True)
    with pytest.raises(BadInput, match="arrays cannot be read"):
        _ = Record(Path("a-1"), content, arrays).outcome
