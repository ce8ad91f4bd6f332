"""Registry of the authors' original files: location, digest and stand-in of each.

None of them is part of the package.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from bythebook.models import standins
from bythebook.models.data_sets import files, generated
from bythebook.models.data_sets.kinds import (
    CLASSES,
    GRAPH,
    IMAGES,
    ORIGINAL,
    POINTS,
    STANDIN,
    TABLE,
    TEXT,
    Content,
    DataError,
    DataSet,
    Graph,
    Images,
    Table,
    Text,
)
from bythebook.models.types import Floats

Values = Floats | Images | Graph | Text  # an array becomes a table once its columns have names


@dataclass(frozen=True)
class Original:
    """Metadata of a file that its authors published."""

    path: str
    sha256: str
    shape: tuple[int, ...]
    standin: Callable[[int], Values]  # a draw of the same shape, or smaller than a large original
    origin: str
    kinds: tuple[str, ...] = (TABLE,)
    parse: Callable[[bytes], Values] = files.numbers
    targets: tuple[str, str] | None = None  # path and SHA-256 of a second file, the last column t
    labelled: bool = False  # the last column is t, in the same file


def _oil_flow(number: int, part: str, words: str) -> Original:
    return Original(
        "prml/oilFlow3Class.mat",
        "438abaf3c12f16e6181caddfb96020bdc4a1947e078471d36e48cb9253a0bd7a",
        (1000, 13),
        partial(generated.oil_flow, number),
        f"the authors' file oilFlow3Class, PRML appendix A: the {words} set, twelve measurements"
        " on a pipe and the class: 1 mixed, 2 in rings, 3 in layers",
        (TABLE, CLASSES),
        partial(files.matlab_classes, part=part),
        labelled=True,
    )


ORIGINALS = {
    "fcml-coin-1000": Original(
        "fcml/coin_data/big_data.csv",
        "1f48a743f3db298335f2e2ddb8aa5d0c9f0536e3b36aac2c7345e6a6c67d2fec",
        (1000, 1),
        standins.coin_tosses,
        "the authors' file coin_data, FCML 3.3.5: a thousand tosses, head = 1",
    ),
    "fcml-kmeans": Original(
        "fcml/kmeansdata/X.csv",
        "1fed3fcee4e98e7eab7dfafb7bb50aa166fbb6b99f9568a860fe0f7e3673c8cd",
        (100, 2),
        standins.three_clusters,
        "the authors' file kmeansdata, FCML chapter 6",
        (TABLE, POINTS),
    ),
    "fcml-logistic": Original(
        "fcml/logregdata/X.csv",
        "163c035166a9a8444938d0b8e03ef6a8a00f5b94d6d40826a8043644366bbb40",
        (40, 3),
        standins.two_classes,
        "the authors' files logregdata, FCML chapter 4: two attributes and a binary response",
        (TABLE, CLASSES),
        targets=(
            "fcml/logregdata/t.csv",
            "0230598088d250304f3cc0c9857e4519a4338df58ff804ec62a17959ed7fac65",
        ),
    ),
    "fcml-rings": Original(
        "fcml/kmeansnonlindata/X.csv",
        "61d92ec3208d2351f6bb307798b26c12c1e38359945733e9436274897fffe02f",
        (1492, 2),
        standins.ring_around_disc,
        "the authors' file kmeansnonlindata, FCML 6.2.2",
        (TABLE, POINTS),
    ),
    "fcml-votes": Original(
        "fcml/parliament1997/X.csv",
        "be76eced30029c50f8d0f3c1c89a092bc3766e7e851e77e7dc5a2e33376b071b",
        (1273, 678),
        lambda draw: standins.legislature(draw).votes,
        "the authors' file parliament1997: a row a division, a column an MP; 0 is absent",
    ),
    "fcml-votes-party": Original(
        "fcml/parliament1997/party.csv",
        "24eee2c7e3751f6c642cafabcce17fae21f1dee86f3d3cc4c3331f9521501029",
        (678, 1),
        lambda draw: standins.legislature(draw).party,
        "the authors' file parliament1997: the party of each MP, a place in PARTIES",
        parse=lambda content: files.places(content, standins.PARTIES),
    ),
    "fcml-three-classes": Original(
        "fcml/bc_data/X.csv",
        "debea2d72cd7c347613f03330a6c97b17bbf4c72a6aec555e034b8b8c7a6a378",
        (90, 3),
        standins.three_gaussian_classes,
        "the authors' files bc_data, FCML 5.2.1.3: two attributes and the class",
        (TABLE, CLASSES),
        targets=(
            "fcml/bc_data/t.csv",
            "1440f45ee4e2f211c5bbae04ecf7a9f75b6527137253637f2b6dd3d37a26853d",
        ),
    ),
    "fcml-disc-train": Original(
        "fcml/SVMdata2/X.csv",
        "b06ba25ed3a88513144cb0c7430f4d9cfe674405b223dd85c431af19e3412c63",
        (41, 3),
        standins.disc_train,
        "the authors' files SVMdata2, FCML 5.3.2.6: two attributes, +1 inside and -1 outside",
        (TABLE, CLASSES),
        targets=(
            "fcml/SVMdata2/t.csv",
            "726f51a94864f5203123e27012e0b4fb5e267e89b167543f1fa6d178bf045151",
        ),
    ),
    "fcml-disc-test": Original(
        "fcml/SVMtest/testX.csv",
        "e30e13407ce01040f1c19f3471ef086dc47f83a081c66dbb379a2f18bdb9b5b8",
        (1000, 3),
        standins.disc_test,
        "the authors' files SVMtest, FCML 5.4.3: two attributes, +1 inside and -1 outside",
        (TABLE, CLASSES),
        targets=(
            "fcml/SVMtest/testt.csv",
            "563775c1ab2991e9ccff26755f9e0421759a2708b670123b8fb6ee6018966f98",
        ),
    ),
    "newsgroups": Original(
        "newsgroups/bag-of-words.csv",
        files.ANY,
        (0, 5),
        standins.newsgroups,
        "a bag of words of the 20 newsgroups, FCML 5.2.1.6: rows of test (0 or 1), class (1 to 20),"
        " document, word and count, without a header",
    ),
    "mlapp-darwin": Original(
        "mlapp/darwin.txt",
        "db7192f66369ace86dd4cb2d63494f1ff5955031efb92f99f82e96a13e132ad4",
        (1266117,),
        generated.text,
        "the authors' file darwin.txt, MLAPP 17.2.2: Darwin's On the Origin of Species, sixth"
        " edition, as Project Gutenberg has it, its preface included",
        (TEXT,),
        files.plain_text,
    ),
    "mlapp-harvard500": Original(
        "mlapp/harvard500.mat",
        "1772a17686fefa3e4caf4aa9988df2e40f69e952dba22db15c84528ee836be0f",
        (500, 2636),
        generated.web,
        "the authors' file harvard500, MLAPP 17.2.4: a crawl of 500 pages from www.harvard.edu",
        (GRAPH,),
        files.matlab_web,
    ),
    "mlapp-letter-a": Original(
        "mlapp/letterA.mat",
        "70fca1e54e2dc055cdbf27d3784a164034f0be1255c5f241cc1e5e911a5cdb63",
        (1, 128, 128),
        generated.letter_a,
        "the authors' file letterA, MLAPP chapter 19: a letter, 1 where brighter than average",
        (IMAGES,),
        files.matlab_letter,
    ),
    "prml-oil-flow": _oil_flow(0, "Trn", "training"),
    "prml-oil-flow-test": _oil_flow(1, "Tst", "test"),
    "prml-oil-flow-validation": _oil_flow(2, "Vdn", "validation"),
}


def load_original(name: str, directory: Path | None, draw: int) -> DataSet:
    """The authors' file if it exists below this folder, else a draw of its stand-in."""
    entry = ORIGINALS[name]
    path = directory / entry.path if directory is not None else None
    if path is None or not _exists(path):
        content = _content(entry, entry.standin(draw))
        digest = hashlib.sha256(content.as_bytes).hexdigest()
        return DataSet(name, content, STANDIN, f"generated in place of {entry.origin}", digest)
    raw = files.checked(path, entry.sha256)
    values = files.parsed(path, raw, entry.parse)
    digest = entry.sha256 or hashlib.sha256(raw).hexdigest()
    if entry.targets is not None and directory is not None and isinstance(values, np.ndarray):
        second, expected = entry.targets
        t = files.checked(directory / second, expected)
        values = np.column_stack([values, files.parsed(directory / second, t, files.numbers)])
        digest = hashlib.sha256(f"{entry.sha256} {expected}".encode()).hexdigest()
    content = _content(entry, values)
    expected_shape = entry.shape if entry.sha256 else (content.shape[0], *entry.shape[1:])
    if content.shape != expected_shape:
        raise DataError(f"{name}: shape {content.shape}, expected {entry.shape}")
    return DataSet(name, content, ORIGINAL, entry.origin, digest)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # an unreadable folder differs from a missing file
        raise DataError(f"data file {path} cannot be read: {error.strerror}") from error


def _content(entry: Original, values: Values) -> Content:
    if not isinstance(values, np.ndarray):
        return values
    columns = {f"x{i + 1}": column.copy() for i, column in enumerate(values.T)}
    if entry.targets is not None or entry.labelled:
        columns["t"] = columns.pop(f"x{len(columns)}")
    return Table(columns)
