"""Names of studies, topics and figures as text for readers."""

_ACRONYMS = ("em", "gmm", "hmm", "knn", "lds", "map", "mcmc", "ml", "pca", "ppca", "svm")
_PEOPLE = ("bayes", "bayesian", "bernoulli", "fisher", "gaussian", "laplace", "newton", "poisson")
_SPELT = {name: name.upper() for name in _ACRONYMS} | {name: name.capitalize() for name in _PEOPLE}
_SPELT |= {"kmeans": "K-means", "olympics": "Olympics", "metropolis": "Metropolis"}


def display_name(name: str) -> str:
    """A name as text: "HMM EM starts" for hmm_em_starts."""
    return " ".join(_SPELT.get(part, part) for part in name.split("_"))
