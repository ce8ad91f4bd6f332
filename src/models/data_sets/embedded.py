"""The data sets that are part of the package, one file each in `src/models/data/`.

Most are small tables that a book prints, or well-known sets that it names. The public sets at the
end are from no book: they replace data that may not be distributed, and their grade is stand-in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bythebook.models.data_sets import files
from bythebook.models.data_sets.kinds import (
    BOOK,
    CLASSES,
    IMAGES,
    POINTS,
    REGRESSION,
    STANDIN,
    TABLE,
    DataError,
    DataSet,
    Images,
    Table,
)


def _with_header(content: bytes) -> Table:
    header, _, body = content.decode().partition("\n")
    return Table(dict(zip(header.split(","), files.numbers(body.encode()).T.copy(), strict=True)))


def _pen_strokes(content: bytes) -> Table:
    table = files.small_numbers(content)
    names = [f"{c}{i + 1}" for i in range(8) for c in "xy"]
    return Table(dict(zip([*names, "digit"], table.T.copy(), strict=True)))


@dataclass(frozen=True)
class Embedded:
    """Metadata of a file that is part of the package."""

    sha256: str
    rows: int
    origin: str
    kinds: tuple[str, ...] = (TABLE,)
    suffix: str = "csv"
    parse: Callable[[bytes], Table | Images] = _with_header
    grade: str = BOOK
    licence: str = ""


EMBEDDED = {
    "coin-tosses": Embedded(
        "08bb53303141fa3f699985d2441f92ec1d7f8c2b08887cfbd4117fdbeb24b05a",
        30,
        "FCML 3.1.1 and 3.3.1: ten tosses by each of three customers, head = 1",
    ),
    "curve-fitting": Embedded(
        "406b41834528353022fc30026d96474cf6e2169331c81e35eb54d4a49f81d613",
        10,
        "PRML chapter 1: ten noisy points of sin(2 pi x), x = 0, 1/9, ..., 1, from the book's site",
        (TABLE, REGRESSION),
    ),
    "fcml-toy-regression": Embedded(
        "21a4a50c3ac651170ff475d89d914557192a4cc4bdf2624e2e8732da02a5de1f",
        3,
        "FCML Table 1.1",
        (TABLE, REGRESSION),
    ),
    "old-faithful": Embedded(
        "1eb750d82b66d29f653d3ae1c7ff6444b3375c9141073f57c9939eb6adeaf73b",
        272,
        "PRML appendix A: eruption and waiting time in minutes (the 272-row set, R's `faithful`)",
        (TABLE, REGRESSION, POINTS),
    ),
    "olympics-100m-men": Embedded(
        "84fbd11f0200a29eb8bde3e74ad29a090b664ee083eee44a42be8ceff38d35cf",
        27,
        "FCML Table 1.2: winning times in seconds, 1896-2008 with the games of 1906",
        (TABLE, REGRESSION),
    ),
    "olympics-100m-women": Embedded(
        "f61599c149ce051deddf80be8626edc88c94f865980df836a5441d81e543d261",
        19,
        "FCML Table 1.3: winning times in seconds, 1928-2008",
        (TABLE, REGRESSION),
    ),
    "nile": Embedded(
        "30c6cb6b0ee6858642dc8667f5ec99c8223ef623acf6f50a966f728edccf1599",
        100,
        "annual flow of the Nile at Aswan in 10^8 cubic metres, 1871-1970 (Cobb 1978, R's `Nile`)",
        (TABLE, REGRESSION),
        grade=STANDIN,
        licence="public domain",
    ),
    "optical-digits": Embedded(
        "82393b63ff69dea89fa95eeef924870ebc186df1f35d7c46a617cb6112d8f2bc",
        1797,
        "E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI 1998,"
        " doi 10.24432/C50P49: the test set, 8 x 8 pixels of 0 to 16",
        (IMAGES,),
        "npz",
        files.grey,
        STANDIN,
        "CC BY 4.0",
    ),
    "optical-digits-binary": Embedded(
        "72dbb42c9e0425b60a2bc1806d8031cd2c2e9ece0f66854043ebd6d0c9674449",
        1797,
        "E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI 1998,"
        " doi 10.24432/C50P49: the test set, 8 x 8 pixels, changed: 1 where the grey is above 8",
        (IMAGES,),
        "npz",
        files.packed,
        STANDIN,
        "CC BY 4.0",
    ),
    "pen-digits": Embedded(
        "e232ee9207edb738b10210bc0d76f90632e5dc545097b20296b51f5bda5580bd",
        10992,
        "E. Alpaydin and F. Alimoglu, Pen-Based Recognition of Handwritten Digits, UCI 1996,"
        " doi 10.24432/C5MG6K: eight points of the pen, x and y of 0 to 100, and the digit; both"
        " parts of the set, in the order of the KEEL repository",
        (TABLE, CLASSES),
        "npz",
        _pen_strokes,
        STANDIN,
        "CC BY 4.0",
    ),
}


def load_embedded(name: str, folder: Path) -> DataSet:
    """A data set of the package, read from its file in this folder."""
    entry = EMBEDDED[name]
    path = folder / f"{name}.{entry.suffix}"
    content = files.parsed(path, files.checked(path, entry.sha256), entry.parse)
    if content.shape[0] != entry.rows:
        raise DataError(f"{name}: {content.shape[0]} rows, expected {entry.rows}")
    return DataSet(name, content, entry.grade, entry.origin, entry.sha256, entry.licence)
