"""Votes of a parliament: attendance, PCA, and probit PCA with absences (FCML 7.7)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.latent._hidden_clusters import second_moment
from bythebook.models.datasets import load
from bythebook.models.latent import groups
from bythebook.models.latent.pca import pca
from bythebook.models.latent.probit_ppca import ProbitPosterior, fit, most_probable
from bythebook.models.standins import PARTIES
from bythebook.models.types import Floats, Ints

MAIN = PARTIES[:3]
FIGURES = ("attendance", "map", "small-parties", "uncertain", "divisions")


@dataclass
class Parliament(Study):
    """Map of MPs by PCA (absences are zeros) and by probit PCA (absences are missing; FCML 7.7)."""

    headline = {
        "own_party": "last(nearest_centre_is_own_party)",
        "attendance_correlation": "mean(last(attendance_correlation, over='model'))",
    }
    quantities = {
        "attendance_correlation": quantity(
            "correlation between the votes cast and the distance from the centre", "model main"
        ),
        "nearest_centre_is_own_party": quantity(
            "share of the members whose nearest party centre is their own", "model"
        ),
        "divisions": quantity("number of divisions"),
        "votes_cast": quantity("votes that a member cast", "member"),
        "member_party": quantity("party of a member", "member"),
        "position": quantity("position of a member on the map", "model member dimension"),
        "distance_from_origin": quantity("distance of a member from the origin", "model member"),
        "party_distance": quantity(
            "distance between the centres of two parties", "model party other"
        ),
        "party_spread": quantity("spread of a party's members", "model party"),
        "bound": quantity("variational lower bound on the log evidence", "iteration", unit="nats"),
        "bound_again": quantity("the bound at the end, term by term", unit="nats"),
        "share_right": quantity("share of the votes that the model predicts"),
        "share_with_majority": quantity("share of the votes that are with the majority"),
        "uncertain_member": quantity("members with the least certain positions", "uncertain"),
        "uncertain_covariance": quantity(
            "posterior covariance of an uncertain member", "uncertain dimension second_dimension"
        ),
        "second_moment": quantity(
            "posterior second moment of a member's position", "member dimension second_dimension"
        ),
        "uncertain_attendance_rank": quantity(
            "rank of an uncertain member by votes cast", "uncertain"
        ),
        "boundary": quantity("mean weights of a division", "division dimension"),
        "boundary_precision": quantity(
            "precision of a division's weights", "division dimension second_dimension"
        ),
        "hidden_vote": quantity("expected hidden variable of a vote", "member division"),
        "division_votes": quantity("votes of a division", "member division"),
        "division_share_right": quantity(
            "share of a shown division's votes that the model predicts", "division"
        ),
        "share_right_by_division": quantity(
            "share of a division's votes that the model predicts", "any_division"
        ),
        "share_in_favour": quantity("share of a division's votes in favour", "any_division"),
        "share_present": quantity("share of the members that voted in a division", "any_division"),
        "uncertain_distance": quantity(
            "distance of an uncertain member from the origin", "model uncertain"
        ),
    }
    axes = {
        "any_division": axis_of("division"),
        "dimension": axis_of("dimension of the map"),
        "division": axis_of("shown division"),
        "iteration": axis_of("iteration"),
        "main": axis_of("main party"),
        "member": axis_of("member"),
        "model": axis_of("model"),
        "other": axis_of("second party"),
        "party": axis_of("party"),
        "second_dimension": axis_of("second dimension of a covariance"),
        "uncertain": axis_of("number of the uncertain member"),
    }

    votes: str = knob("fcml-votes", "one row per division, one column per MP", dataset=True)
    party: str = knob("fcml-votes-party", "the party of each MP", dataset=True)
    iterations: int = knob(40, "iterations of probit PCA; 0 is PCA alone", at_most=1000, at_least=0)
    uncertain: int = knob(20, "MPs to name as least certain", at_least=1, at_most=1000)
    shown: int = knob(4, "divisions to draw", at_least=1, at_most=9)
    show: list[str] = knob(["map"], "figures", choices=FIGURES, distinct=True)

    def problems(self) -> Iterator[str]:
        wanting = [name for name in self.show if name in FIGURES[2:]]
        if wanting and not self.iterations:
            yield f"study.show: {wanting[0]} is of probit PCA; study.iterations=0 has none"

    def run(self, rng: Generator) -> Outcome:
        Y = load(self.votes).matrix.T.copy()  # (MPs, divisions): 1, -1, or 0 for absent
        party = load(self.party).matrix[:, 0].astype(np.int64)
        member, dimension = axis("member", len(Y)), axis("dimension", [1, 2])
        attended = (Y != 0).sum(axis=1)
        maps, further = {"pca": pca(Y).X[:, :2]}, dict[str, float | Quantity]()
        if self.iterations:
            maps["probit"], further = self._probit(Y, attended, member, dimension, rng)
        model, X = axis("model", list(maps)), np.stack(list(maps.values()))
        named, other, main = axis("party", PARTIES), axis("other", PARTIES), axis("main", MAIN)
        norm = np.linalg.norm(X, axis=2)
        if isinstance(least := further.get("uncertain_member"), Quantity):
            further["uncertain_distance"] = over(norm[:, least.values], model, *least.axes)
        related = groups.correlations(norm, attended, party, len(MAIN))
        centres = groups.medians(X, party, len(PARTIES))
        return Outcome(
            divisions=Y.shape[1],
            votes_cast=member.of(attended),
            member_party=member.of(np.array([*PARTIES, "other"])[np.minimum(party, len(PARTIES))]),
            position=over(X, model, member, dimension),
            distance_from_origin=over(norm, model, member),
            attendance_correlation=over(related, model, main),  # of votes cast and that distance
            nearest_centre_is_own_party=model.of(groups.nearest_to_own(X, party, len(MAIN))),
            party_distance=over(groups.distances(centres), model, named, other),
            party_spread=over(groups.spreads(X, party, len(PARTIES)), model, named),
            **further,
        )

    def _probit(
        self, Y: Floats, attended: Ints, member: Axis, dimension: Axis, rng: Generator
    ) -> tuple[Floats, dict[str, float | Quantity]]:
        """The map by probit PCA, its uncertainty, and the boundaries of some divisions."""
        done = fit(Y, 2, rng, max_iter=self.iterations)
        q, observed = done.q, Y != 0
        least = np.argsort(-np.linalg.slogdet(q.Sigma_x)[1])[: self.uncertain]
        rank = np.argsort(np.argsort(attended, kind="stable"))
        right = (most_probable(q) == Y) & observed
        by_division = right.sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
        chosen = groups.contested(Y, by_division, self.shown)
        uncertain, division = axis("uncertain", len(least)), axis("division", chosen + 1)
        second, every = axis("second_dimension", dimension.values), axis("any_division", Y.shape[1])
        mean = q.mu_x @ q.mu_w[chosen].T
        hidden = mean + Y[:, chosen] * norm.pdf(mean) / norm.cdf(Y[:, chosen] * mean)  # as printed
        return q.mu_x, {
            "bound_again": _bound(Y, q),  # at the end, written out
            "bound": axis("iteration", range(1, len(done.bound) + 1)).of(done.bound),
            "share_right": float(right.sum() / observed.sum()),
            "share_with_majority": float(
                np.maximum((Y > 0).sum(0), (Y < 0).sum(0)).sum() / observed.sum()
            ),
            "uncertain_member": uncertain.of(least),  # the least certain first
            "uncertain_covariance": over(q.Sigma_x[least], uncertain, dimension, second),
            "second_moment": over(second_moment(q.mu_x, q.Sigma_x), member, dimension, second),
            "uncertain_attendance_rank": uncertain.of(rank[least]),  # 0 has the fewest votes
            "boundary": over(q.mu_w[chosen], division, dimension),
            "boundary_precision": over(
                np.linalg.inv(q.Sigma_w[chosen]), division, dimension, second
            ),
            "hidden_vote": over(hidden, member, division),  # <q_nm>, where there is a vote
            "division_votes": over(Y[:, chosen], member, division),
            "division_share_right": division.of(by_division[chosen]),
            "share_right_by_division": every.of(by_division),
            "share_in_favour": every.of((Y > 0).sum(axis=0) / np.maximum(observed.sum(axis=0), 1)),
            "share_present": every.of(observed.mean(axis=0)),
        }


def _bound(Y: Floats, q: ProbitPosterior) -> float:
    """The bound of ln P(Y), term by term: votes, and divergences of all factors from N(0, I)."""
    mean = q.mu_x @ q.mu_w.T
    x, w = second_moment(q.mu_x, q.Sigma_x), second_moment(q.mu_w, q.Sigma_w)
    spread = np.einsum("nij,mij->nm", x, w) - mean**2
    votes = (norm.logcdf(Y * mean) - spread / 2)[Y != 0].sum()
    squares = sum(np.einsum("nii->", square) for square in (x, w))
    volumes = sum(np.log(np.linalg.det(Sigma)).sum() for Sigma in (q.Sigma_x, q.Sigma_w))
    return float(votes - (squares - volumes - q.mu_x.size - q.mu_w.size) / 2)
