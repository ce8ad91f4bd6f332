"""Records: arrays are restored exactly, and corrupt ones refused."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.exact_json import dumps
from bythebook.experiments.core.outcome import Outcome, axis, diff_outcomes
from bythebook.experiments.store.record import ARRAY_PREFIX, Record, sha256_hex

OUTCOME = Outcome(curve=axis("x", np.linspace(0, 1, 400)).of(np.sqrt(np.arange(400.0))), a=1)


def packed(allow_pickle: bool = False) -> tuple[dict[str, Any], list[bytes]]:
    encoded, large = OUTCOME.to_json()
    arrays = {}
    for name, array in large.items():
        stream = io.BytesIO()
        written = array.astype(object) if allow_pickle else array
        np.lib.format.write_array(stream, written, allow_pickle=allow_pickle)
        arrays[f"{ARRAY_PREFIX}{name}"] = stream.getvalue()
    digests = {name: sha256_hex(content) for name, content in arrays.items()}
    digests["outcome"] = sha256_hex(dumps(encoded).encode())
    return {"outcome": encoded, "digests": digests}, list(arrays.values())


def test_packed_arrays_are_restored_bit_for_bit() -> None:
    content, arrays = packed()
    assert len(arrays) == 2
    assert diff_outcomes(Record(Path("a-1"), content, arrays).outcome, OUTCOME) == []


def test_changed_arrays_are_refused() -> None:
    content, arrays = packed()
    for changed in (arrays[::-1], [arrays[0], arrays[1][:-1] + b"?"]):
        with pytest.raises(InputError, match=r"checksum of .* does not match"):
            _ = Record(Path("a-1"), content, changed).outcome


def test_arrays_are_never_unpickled() -> None:
    content, arrays = packed(allow_pickle=True)
    with pytest.raises(InputError, match="arrays could not be read"):
        _ = Record(Path("a-1"), content, arrays).outcome
