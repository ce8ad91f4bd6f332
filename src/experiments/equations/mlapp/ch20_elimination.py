"""Equations of MLAPP 20.3: variable elimination in the student network."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats

# The scopes of the potentials of C, D, I, G, S, L, J and H (20.41).
SCOPES = ("c", "dc", "i", "gid", "si", "lg", "jls", "hgj")


def _potentials(rng: Generator) -> list[Floats]:
    """Conditional tables of (20.39): the first variable of each scope, given the others."""
    states = dict(zip("cdigsljh", rng.integers(2, 4, 8), strict=True))
    return [
        np.moveaxis(rng.dirichlet(np.ones(states[s[0]]), [states[n] for n in s[1:]]), -1, 0)
        for s in SCOPES
    ]


def _marginal(potentials: list[Floats]) -> Floats:
    """p(J), from the sum over all configurations (20.42)."""
    return np.asarray(np.einsum(f"{','.join(SCOPES)}->j", *potentials))


@equation(
    "20.43 to 20.48, table 20.1",
    section="20.3",
    latex=r"p(J) = \sum_{L,S} \psi_J(J, L, S) \sum_G \psi_L(L, G) \sum_H \psi_H(H, G, J)"
    r" \sum_I \psi_S(S, I) \psi_I(I) \sum_D \psi_G(G, I, D) \sum_C \psi_C(C) \psi_D(D, C)",
)
def student_elimination(rng: Generator) -> Sides:
    """The marginal of J by elimination in the order C, D, I, H, G, S, L."""
    potentials = _potentials(rng)
    C, D, I, G, S, L, J, H = potentials
    tau1 = (D * C).sum(1)
    tau2 = (G * tau1).sum(2)
    tau3 = np.einsum("si,i,gi->gs", S, I, tau2)
    tau4 = H.sum(0)
    tau5 = np.einsum("lg,gj,gs->jls", L, tau4, tau3)
    tau6 = (J * tau5).sum(2)
    return Sides(truth=_marginal(potentials), printed=tau6.sum(1))


@equation(
    "table 20.3",
    section="20.3.2",
    latex=r"p(J) = \sum_D \sum_C \psi_D(D, C) \sum_H \sum_L \sum_S \psi_J(J, L, S) \sum_I \psi_I(I)"
    r" \psi_S(S, I) \sum_G \psi_G(G, I, D) \psi_L(L,) \psi_H(H, G, J)",
    corrected=r"p(J) = \sum_D \sum_C \psi_C(C) \psi_D(D, C) \sum_H \sum_L \sum_S \psi_J(J, L, S)"
    r" \sum_I \psi_I(I) \psi_S(S, I) \sum_G \psi_G(G, I, D) \psi_L(L, G) \psi_H(H, G, J)",
    cause="prior-of-coherence-lost",
)
def reordered_elimination(rng: Generator) -> Sides:
    """The marginal of J by elimination in the order G, I, S, L, H, C, D, normalised.

    The rows of the table lack the potential of C. The missing argument of the potential of L is
    filled in.
    """
    potentials = _potentials(rng)
    C, D, I, G, S, L, J, H = potentials
    tau1 = np.einsum("gid,lg,hgj->idljh", G, L, H)
    tau2 = np.einsum("i,si,idljh->dlsjh", I, S, tau1)
    tau3 = np.einsum("jls,dlsjh->dljh", J, tau2)
    tau5 = tau3.sum((1, 3))  # over L, which gives tau4, and over H
    printed = np.einsum("dc,dj->dj", D, tau5).sum(0)
    corrected = np.einsum("c,dc,dj->dj", C, D, tau5).sum(0)
    return Sides(
        truth=_marginal(potentials),
        printed=printed / printed.sum(),
        corrected=corrected / corrected.sum(),
    )
