"""Readers of data files, with checks of file type, size and digest before parsing.

A parser takes the bytes of a file and raises a `ValueError` that gives the reason if they are not
valid. No parser unpickles.
"""

import hashlib
import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bythebook.models.data_sets.kinds import DataError, Graph, Images, Text
from bythebook.models.types import AnyArray, Floats

ANY = ""  # a file that each user makes has no known digest, and any number of rows
LIMIT = 64 * 2**20  # bytes: the largest original file has 50 MB
UNPACKED = 8 * LIMIT  # bytes that compressed content may expand to
_COMPRESSED, _HEAD = 15, 128  # in a MATLAB file of version 5 to 7: a kind of element, its header
T = TypeVar("T")


def checked(path: Path, sha256: str) -> bytes:
    """The bytes of a regular file, after its size and digest were checked."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise DataError(f"data file {path} is not a regular file")
            content = file.read(LIMIT + 1)
    except OSError as error:
        raise DataError(f"data file {path} cannot be read: {error.strerror}") from error
    if len(content) > LIMIT:
        raise DataError(f"data file {path} is too large: more than {LIMIT >> 20} MiB")
    found = hashlib.sha256(content).hexdigest()
    if sha256 not in (ANY, found):
        raise DataError(
            f"data file {path} is damaged or not the right one:"
            f" SHA-256 {found[:12]}..., expected {sha256[:12]}..."
        )
    return content


def _without_waiting(path: str, flags: int) -> int:
    """Open a file without blocking; opening a pipe would wait for a writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def parsed(path: Path, content: bytes, parse: Callable[[bytes], T]) -> T:
    """The parsed content of a file; an error message names the file.

    A parser's assumptions about variables (ranks, types) may fail with any exception.
    """
    try:
        return parse(content)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"data file {path} is damaged: {reason}") from error


def numbers(content: bytes) -> Floats:
    """Rows of numbers with commas between them, no header, (N, D)."""
    if not content.strip():
        raise ValueError("it is empty")
    values = np.loadtxt(io.BytesIO(content), delimiter=",", ndmin=2)
    if not np.isfinite(values).all():
        raise ValueError("not every number in it is finite")
    return values


def places(content: bytes, words: tuple[str, ...]) -> Floats:
    """One word per line, as its index among these words, or their number if unknown, (N, 1)."""
    place = {word: float(i) for i, word in enumerate(words)}
    lines = content.decode().split("\n")
    return np.array([[place.get(line.strip(), len(words))] for line in lines if line.strip()])


def plain_text(content: bytes) -> Text:
    """A text in UTF-8 or ASCII."""
    return Text(content.decode().replace("\r\n", "\n"))


def matlab(content: bytes, *variables: str) -> tuple[Any, ...]:
    """Variables of a MATLAB file, of version 4 to 7, that is known by its digest.

    A truncated file may crash the library without an exception.
    """
    from scipy.io import loadmat  # costs a tenth of a second, and few studies need it

    if _unpacked_matlab(content) > UNPACKED:
        raise ValueError(f"it unpacks to more than {UNPACKED >> 20} MiB")
    try:
        found = loadmat(io.BytesIO(content), variable_names=variables)
    except Exception as error:  # any exception of the library
        raise ValueError(f"it is no MATLAB file ({type(error).__name__})") from error
    missing = [name for name in variables if name not in found]
    if missing:
        raise ValueError(f"it has no variable {missing[0]}")
    return tuple(found[name] for name in variables)


def _unpacked_matlab(content: bytes) -> int:
    """The number of uncompressed bytes of its elements, counted up to the limit."""
    place, total = _HEAD, 0
    while place + 8 <= len(content) and total <= UNPACKED:
        kind, size = struct.unpack_from("<II", content, place)
        if kind == _COMPRESSED:
            packed = zlib.decompressobj()
            rest = content[place + 8 : place + 8 + size]
            while rest and not packed.eof and total <= UNPACKED:
                try:
                    total += len(packed.decompress(rest, LIMIT))
                except zlib.error:  # the reader reports it
                    break
                rest = packed.unconsumed_tail
        place += 8 + size
    return total


def matlab_web(content: bytes) -> Graph:
    """A graph as MLAPP keeps it: sparse G with G[i, j] = 1 for a link from j to i, and names U."""
    G, U = matlab(content, "G", "U")
    to, source = G.nonzero()
    return Graph(tuple(str(name[0]) for name in U[:, 0]), np.column_stack([source, to]).astype(int))


def matlab_letter(content: bytes) -> Images:
    """One grey image A; pixels above the average are the letter, as in the authors' code."""
    (grey_levels,) = matlab(content, "A")
    letter = grey_levels > grey_levels.mean()
    return Images(letter[None].astype(np.float64), np.zeros(0, dtype=np.int64))


def matlab_classes(content: bytes, part: str) -> Floats:
    """Attributes and the class, counted from 1, of a part (Trn, Tst or Vdn) of the oil flow."""
    X, labels = matlab(content, f"Data{part}", f"Data{part}Lbls")
    return np.column_stack([X, 1.0 + labels.argmax(1)]).astype(np.float64)


def pack(pixels: AnyArray, labels: AnyArray) -> bytes:
    """Binary images and their labels as a small file for `packed`, eight pixels per byte."""
    N = len(pixels)
    bits = np.packbits(pixels.reshape(N, -1).astype(bool), axis=1)
    file = io.BytesIO()
    shape = np.array(pixels.shape[1:])
    np.savez_compressed(file, bits=bits, shape=shape, labels=labels.astype(np.uint8))
    return file.getvalue()


def packed(content: bytes) -> Images:
    """Binary images: `bits` (N, bytes), the `shape` of one of them, and `labels` (N,)."""
    bits, shape, labels = archive(content, "bits", "shape", "labels")
    height, width = (int(side) for side in shape)
    if bits.dtype != np.uint8 or bits.shape != (len(labels), -(-height * width // 8)):
        raise ValueError(f"bits of shape {bits.shape} are not {height} x {width} pixels a row")
    pixels = np.unpackbits(bits, axis=1, count=height * width)
    return Images(pixels.reshape(-1, height, width).astype(np.float64), labels.astype(np.int64))


def grey(content: bytes) -> Images:
    """Images with levels of grey: `pixels` (N, height, width) and `labels` (N,)."""
    pixels, labels = archive(content, "pixels", "labels")
    if pixels.ndim != 3 or labels.shape != pixels.shape[:1]:
        raise ValueError(f"pixels of shape {pixels.shape} for {len(labels)} labels")
    return Images(pixels.astype(np.float64), labels.astype(np.int64))


def small_numbers(content: bytes) -> Floats:
    """A table of small whole numbers, `table` (N, D): a quarter of their size as text."""
    (table,) = archive(content, "table")
    if table.ndim != 2:
        raise ValueError(f"a table of shape {table.shape}")
    return table.astype(np.float64)


def archive(content: bytes, *names: str) -> tuple[AnyArray, ...]:
    """Arrays of an npz file."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            size = sum(member.file_size for member in packed.infolist())
        if size <= UNPACKED:  # a member yields at most its stated size
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                return tuple(file[name] for name in names)
    except Exception as error:  # of zip, of zlib or of NumPy
        raise ValueError(f"it is no archive of {', '.join(names)}") from error
    raise ValueError(f"it unpacks to more than {UNPACKED >> 20} MiB")
