"""Names of files and anchors: what a configuration says, in characters that any address takes."""

import re
from collections.abc import Iterable

_ACRONYMS = ("em", "gmm", "hmm", "knn", "lds", "map", "mcmc", "ml", "pca", "ppca", "svm")
_PEOPLE = ("bayes", "bayesian", "bernoulli", "fisher", "gaussian", "laplace", "newton", "poisson")
_SPELT = {name: name.upper() for name in _ACRONYMS} | {name: name.capitalize() for name in _PEOPLE}
_SPELT |= {"kmeans": "K-means", "olympics": "Olympics", "metropolis": "Metropolis"}


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
    return " ".join(_SPELT.get(part, part) for part in name.split("_"))
