"""Votes of a parliament: attendance, PCA, and probit PCA with absences (FCML 7.7)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.datasets import load
from bythebook.models.latent import groups
from bythebook.models.latent.pca import pca
from bythebook.models.latent.probit_ppca import fit, most_probable
from bythebook.models.standins import PARTIES
from bythebook.models.types import Floats, Ints

MAIN = PARTIES[:3]
DIVISIONS = 4  # recorded, from a badly explained one to the median


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
        "share_right": quantity("share of the votes that the model predicts"),
        "share_with_majority": quantity("share of the votes that are with the majority"),
        "uncertain_member": quantity("members with the least certain positions", "uncertain"),
        "uncertain_position": quantity("position of an uncertain member", "uncertain dimension"),
        "uncertain_covariance": quantity(
            "posterior covariance of an uncertain member", "uncertain dimension second_dimension"
        ),
        "uncertain_attendance_rank": quantity(
            "rank of an uncertain member by votes cast", "uncertain"
        ),
        "boundary": quantity("mean weights of a division", "division dimension"),
        "division_votes": quantity("votes of a division", "member division"),
        "division_share_right": quantity(
            "share of a shown division's votes that the model predicts", "division"
        ),
        "uncertain_distance": quantity(
            "distance of an uncertain member from the origin", "model uncertain"
        ),
    }
    axes = {
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

    def run(self, rng: Generator) -> Outcome:
        Y = load(self.votes).matrix.T.copy()  # (MPs, divisions): 1, -1, or 0 for absent
        party = load(self.party).matrix[:, 0].astype(np.int64)
        attended = (Y != 0).sum(axis=1)
        maps, further, coords = {"pca": pca(Y).X[:, :2]}, dict[str, Any](), dict[str, Any]()
        if self.iterations:
            maps["probit"], further, coords = self._probit(Y, attended, rng)
        X = np.stack(list(maps.values()))
        norm = np.linalg.norm(X, axis=2)
        if self.iterations:
            least = further["uncertain_member"][1]
            further["uncertain_distance"] = ("model uncertain", norm[:, least])
        centres = groups.medians(X, party, len(PARTIES))
        names = np.array([*PARTIES, "other"])[np.minimum(party, len(PARTIES))]
        related = groups.correlations(norm, attended, party, len(MAIN))
        return outcome(
            {
                "model": list(maps),
                "member": len(Y),
                "dimension": [1, 2],
                "party": PARTIES,
                "other": PARTIES,
                "main": MAIN,
                **coords,
            },
            divisions=Y.shape[1],
            votes_cast=("member", attended),
            member_party=("member", names),
            position=("model member dimension", X),
            distance_from_origin=("model member", norm),
            attendance_correlation=("model main", related),  # of votes cast and that distance
            nearest_centre_is_own_party=("model", groups.nearest_to_own(X, party, len(MAIN))),
            party_distance=("model party other", groups.distances(centres)),
            party_spread=("model party", groups.spreads(X, party, len(PARTIES))),
            **further,
        )

    def _probit(
        self, Y: Floats, attended: Ints, rng: Generator
    ) -> tuple[Floats, dict[str, Any], dict[str, Any]]:
        """The map by probit PCA, its uncertainty, and the boundaries of some divisions."""
        done = fit(Y, 2, rng, max_iter=self.iterations)
        q, observed = done.q, Y != 0
        least = np.argsort(-np.linalg.slogdet(q.Sigma_x)[1])[: self.uncertain]
        rank = np.argsort(np.argsort(attended, kind="stable"))
        right = (most_probable(q) == Y) & observed
        by_division = right.sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
        chosen = groups.contested(Y, by_division, DIVISIONS)
        majority = np.maximum((Y > 0).sum(0), (Y < 0).sum(0))
        found = {
            "bound": ("iteration", done.bound),
            "share_right": float(right.sum() / observed.sum()),
            "share_with_majority": float(majority.sum() / observed.sum()),
            "uncertain_member": ("uncertain", least),  # the least certain first
            "uncertain_position": ("uncertain dimension", q.mu_x[least]),
            "uncertain_covariance": ("uncertain dimension second_dimension", q.Sigma_x[least]),
            "uncertain_attendance_rank": ("uncertain", rank[least]),  # 0 has the fewest votes
            "boundary": ("division dimension", q.mu_w[chosen]),
            "division_votes": ("member division", Y[:, chosen]),
            "division_share_right": ("division", by_division[chosen]),
        }
        coords = {
            "iteration": np.arange(1, len(done.bound) + 1),
            "uncertain": len(least),
            "division": chosen + 1,
            "second_dimension": [1, 2],
        }
        return q.mu_x, found, coords
