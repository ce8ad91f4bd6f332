"""Names of studies, topics and figures as people write them."""

_ACRONYMS = ("em", "gmm", "hmm", "knn", "lds", "map", "mcmc", "ml", "pca", "ppca", "svm")
_PEOPLE = ("bayes", "bayesian", "bernoulli", "fisher", "gaussian", "laplace", "newton", "poisson")
_SPELT = {name: name.upper() for name in _ACRONYMS} | {name: name.capitalize() for name in _PEOPLE}
_SPELT |= {"kmeans": "K-means", "olympics": "Olympics", "metropolis": "Metropolis"}


def humanised(name: str) -> str:
    """`hmm_em_starts` as people write it: HMM EM starts."""
    return " ".join(_SPELT.get(part, part) for part in name.split("_"))
