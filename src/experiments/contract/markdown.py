"""Text in Markdown that stays text: no link, no image, no HTML, no mathematics."""

import re


def words(text: str) -> str:
    """Words that stay words, on one line and in a table; an address in them is not a link."""
    plain = " ".join(text.split())
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = re.sub(r"([\\`*_\[\]|#~!])", r"\\\1", plain).replace("$", "&#36;")
    plain = plain.replace("://", "&#58;//").replace("@", "&#64;")
    plain = re.sub(r"(?i)(www|mailto)([.:])", lambda m: f"{m[1]}&#{ord(m[2])};", plain)
    return re.sub(r"^(\d*)([-+.)])(?= )", r"\1\\\2", plain)  # would begin a list


def code(text: str) -> str:
    """An expression as code, with as many ticks around it as it takes."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{ticks}{space}{' '.join(text.split())}{space}{ticks}"
