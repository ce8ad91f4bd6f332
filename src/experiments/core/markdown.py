"""Escaping of text for Markdown: no link, image, HTML or formula results from it."""

import re


def escape_markdown(text: str) -> str:
    """The text as plain words on one line, also inside a table; addresses are not linked."""
    plain = " ".join(text.split())
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = re.sub(r"([\\`*_\[\]|#~!])", r"\\\1", plain).replace("$", "&#36;")
    plain = plain.replace("://", "&#58;//").replace("@", "&#64;")
    plain = re.sub(r"(?i)(www|mailto)([.:])", lambda m: f"{m[1]}&#{ord(m[2])};", plain)
    return re.sub(r"^(\d*)([-+.)])(?= )", r"\1\\\2", plain)  # would begin a list


def inline_code(text: str) -> str:
    """The text as inline code, delimited by more backticks than it contains in a row."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{ticks}{space}{' '.join(text.split())}{space}{ticks}"
