"""Probabilistic PCA by variational Bayes: the bound and the latent clusters (FCML 7.5)."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.special import digamma
from scipy.stats import gamma

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.latent._hidden_clusters import HiddenClusters, confusion
from models.em import held
from models.latent.variational_ppca import bound, fit
from models.regression.curves import quadrature


@dataclass
class VariationalPca(HiddenClusters, Study):
    """The bound and the posterior means, with the f of the text and with the corrected one."""

    headline = {
        "mean_precision": "mean(precision['corrected'])",
        "median_iterations": "median(iterations)",
        "neighbours_of_another_cluster": "mean(neighbours_of_another_cluster)",
    }

    latent: int = knob(2, "latent dimensions D", at_least=1, at_most=20)
    a: float = knob(1.0, "shape of the prior of the precision tau", above=0)
    b: float = knob(1.0, "rate of the prior of the precision tau", above=0)
    tol: float = knob(1e-3, "stop when the bound gains no more", above=0)

    def run(self, rng: Generator) -> Outcome:
        Y = self.objects(rng)
        Y = Y - Y.mean(axis=1, keepdims=True)
        seen = np.ones_like(Y)
        solve = partial(fit, Y, seen, self.latent, a=self.a, b=self.b, tol=self.tol)
        fits = [solve(rng), solve(rng, as_printed=True)]
        q, longest = fits[0].q, max(done.bound.shape[1] for done in fits)
        scales = [0.98, 1.0, 1.02]  # f, and a little beside it
        nearby = [bound(q._replace(f=q.f * c), seen, self.a, self.b) for c in scales]
        rule = quadrature(0.0, 1.0, 400)  # <log tau>: the closed form, and over its quantiles
        log_tau = np.log(gamma.ppf(rule.x, q.e[0], scale=1 / q.f[0]))
        f, repetition = axis("f", ["corrected", "printed"]), axis("repetition", len(Y))
        thing, iteration = axis("object", Y.shape[1]), axis("iteration", range(1, longest + 1))
        return Outcome(
            points=over(Y[0], thing, axis("variable", Y.shape[2])),
            posterior_means=over(q.mu_x[0], thing, axis("latent", self.latent)),
            bound=over([held(done.bound, longest) for done in fits], f, repetition, iteration),
            iterations=repetition.of(fits[0].iterations),
            precision=over([done.q.tau for done in fits], f, repetition),
            bound_at_scaled_f=over(nearby, axis("scale", scales), repetition),
            neighbours_of_another_cluster=repetition.of(confusion(q.mu_x, self.labels)),
            expected_log_precision=axis("by", ["closed form", "quadrature"]).of(
                [digamma(q.e[0]) - np.log(q.f[0]), rule.weight @ log_tau]
            ),
        )
