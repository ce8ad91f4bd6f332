"""Names of files and anchors: what a configuration says, in characters that any address takes."""

import re
from collections.abc import Iterable

_ACRONYMS = {"em", "gmm", "hmm", "lds", "map", "ml", "pca"}


def slug(text: str) -> str:
    """Letters, digits, dots, hyphens, underscores and slashes; everything else becomes a hyphen."""
    parts = (re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-.") for part in text.split("/"))
    return "/".join(part or "unnamed" for part in parts)


def slugs(texts: Iterable[str]) -> list[str]:
    """A slug for each text, no two alike, not even where upper and lower case are one."""
    taken: set[str] = set()
    found = []
    for text in texts:
        plain = candidate = slug(text)
        number = 2
        while candidate.lower() in taken:
            candidate, number = f"{plain}-{number}", number + 1
        taken.add(candidate.lower())
        found.append(candidate)
    return found


def humanised(name: str) -> str:
    """`hmm_em_starts` as people write it: HMM EM starts."""
    return " ".join(part.upper() if part in _ACRONYMS else part for part in name.split("_"))
