r"""Transitions of Markov chains, by name, for any target and many chains at once.

    metropolis s          z* ~ N(z, s^2 I), kept with min(1, p(z*) / p(z))               PRML 11.33
    gibbs                 each component in turn from its conditional                PRML 11.46-48
    over-relaxed a        z_i' = mu_i + a (z_i - mu_i) + sigma_i (1 - a^2)^(1/2) nu      PRML 11.50
    slice w               each component in turn: u ~ U(0, p(z)), an interval of width w at random
                          round z, stepped out by w until both ends leave {p > u}, and drawn from
                          uniformly, shrunk to every point outside                     PRML 11.4
    unextended slice w    the same without stepping out
    hamiltonian e L       momenta r ~ N(0, I), a whole number L of leapfrog steps of a size within
                          a tenth of e or, as often, of -e, kept with min(1, exp(H - H*))
                                                                                PRML 11.64-67
    unadjusted e L        the same, always kept, except divergent trajectories
    flow t                the exact dynamics of a Gaussian over a time t, with the same test

A family takes one number, or set of numbers, for each chain, so that kernels of a family run in one
batch; Hamiltonian kernels with different L do not.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bythebook.models.sampling.targets import Rng, Target
from bythebook.models.types import Bools, Floats, Ints


class Move(NamedTuple):
    """One step of C chains."""

    z: Floats  # (C, D)
    height: Floats  # (C,) log p there, stored by kernels that use it
    accepted: Bools | bool  # (C,), or one value for all
    evaluations: Ints | int  # (C,) of the density, or of its gradient
    lowered: Bools | bool  # (C,) H of the candidate is below H; False for kernels without H


class Kernel(NamedTuple):
    """A family, and the numbers of a name: `hamiltonian 0.5 8` is (0.5, 8)."""

    family: str
    numbers: tuple[float, ...]

    @property
    def cost(self) -> int:
        """Evaluations of a step, roughly: ten for slices."""
        leaps = int(self.numbers[1]) if len(self.numbers) == 2 else 1
        return 10 if "slice" in self.family else leaps


class Walk(NamedTuple):
    """S steps of C chains, and their costs over all steps."""

    path: Floats  # (S + 1, C, D), the start being the first
    accepted: Floats  # (C,) share of the steps
    evaluations: Floats  # (C,) to a step
    lowered: Floats  # (C,) share of the steps


Step = Callable[[Target, Floats, Floats, Floats, Rng], Move]  # state, height, numbers


def named(name: str) -> Kernel:
    """The kernel of a name."""
    words = name.split()
    family = " ".join(word for word in words if word.replace("-", "").isalpha())
    if family not in FAMILIES:
        raise ValueError(f"{name}; allowed: {', '.join(FAMILIES)}, with their numbers")
    _, bounds = FAMILIES[family]
    try:
        numbers = tuple(float(word) for word in words[len(family.split()) :])
    except ValueError:
        raise ValueError(f"{name}; allowed: {family} and numbers") from None
    if len(numbers) != len(bounds) or not all(
        low < x < high for x, (low, high) in zip(numbers, bounds, strict=True)
    ):
        needed = ", ".join(f"one between {low:g} and {high:g}" for low, high in bounds)
        raise ValueError(f"{name}; allowed: {family} with {needed or 'no number'}")
    if len(numbers) == 2 and not numbers[1].is_integer():
        raise ValueError(f"{name}; allowed: {family} with a whole number of leapfrog steps")
    return Kernel(family, numbers)


def needs(kernel: Kernel, target: Target) -> str:
    """The functions that a kernel needs and a target lacks; empty if it can run."""
    if kernel.family in ("gibbs", "over-relaxed") and target.resample is None:
        return "conditional distributions"
    if kernel.family in ("hamiltonian", "unadjusted") and target.gradient is None:
        return "a gradient"
    gaussian = len(target.deviations) > 0
    return "" if gaussian or kernel.family not in ("flow", "over-relaxed") else "a Gaussian"


def walk(target: Target, kernels: Sequence[Kernel], starts: Floats, steps: int, rng: Rng) -> Walk:
    """Chains from the starts (C, D), with one kernel per chain, all of one family and cost."""
    if len(kernels) != len(starts):
        raise ValueError(f"{len(kernels)} kernels for {len(starts)} starts; allowed: as many")
    if len({(kernel.family, kernel.cost) for kernel in kernels}) > 1:
        raise ValueError("the kernels differ in family or cost; allowed: one family and one cost")
    step, _ = FAMILIES[kernels[0].family]
    numbers = np.array([kernel.numbers for kernel in kernels]).reshape(len(kernels), -1)
    path = np.empty((steps + 1, *starts.shape))
    accepted, lowered = np.zeros(len(starts)), np.zeros(len(starts))
    evaluations = np.zeros(len(starts))
    path[0], height = starts, target.log_p(starts)
    for s in range(steps):
        move = step(target, path[s], height, numbers, rng)
        path[s + 1], height = move.z, move.height
        accepted += move.accepted
        evaluations += move.evaluations
        lowered += move.lowered
    return Walk(path, accepted / steps, evaluations / steps, lowered / steps)


def metropolis(target: Target, z: Floats, height: Floats, numbers: Floats, rng: Rng) -> Move:
    """A Gaussian proposal round the state."""
    proposal = rng.standard_normal(z.shape)
    proposal *= numbers[:, :1]
    proposal += z
    level = target.log_p(proposal)
    accept = -rng.standard_exponential(len(z)) <= level - height  # PRML 11.33, in logs
    z, height = np.where(accept[:, None], proposal, z), np.where(accept, level, height)
    return _made(z, height)._replace(accepted=accept)


def gibbs(target: Target, z: Floats, height: Floats, numbers: Floats, rng: Rng) -> Move:
    """Each component in turn given the others; over-relaxed if there is a number for it."""
    assert target.resample is not None  # `needs` has checked it
    alpha = numbers[:, 0] if numbers.shape[1] else np.zeros(len(z))
    z = z.copy()
    for i in range(z.shape[1]):
        z[:, i] = target.resample(z, i, alpha, rng)
    return _made(z, height)


def hamiltonian(target: Target, z: Floats, height: Floats, numbers: Floats, rng: Rng) -> Move:
    """Leapfrog steps with new momenta, forwards or backwards, and the test of (11.67)."""
    move, change = _leap(target, z, height, numbers, rng)
    accept = rng.standard_exponential(len(z)) >= change  # PRML 11.67, in logs
    end = np.where(accept[:, None], move.z, z)
    return move._replace(z=end, height=np.where(accept, move.height, height), accepted=accept)


def unadjusted(target: Target, z: Floats, height: Floats, numbers: Floats, rng: Rng) -> Move:
    """Leapfrog steps with new momenta, without a test, unless they diverge."""
    move, change = _leap(target, z, height, numbers, rng)
    there = change < FLOWN
    end = np.where(there[:, None], move.z, z)
    return move._replace(z=end, height=np.where(there, move.height, height))


def leapfrog(
    force: Callable[[Floats], Floats], z: Floats, r: Floats, size: Floats | float, steps: int
) -> tuple[Floats, Floats]:
    """Positions and momenta (..., D) after some steps, with half steps combined (PRML 11.64-66)."""
    half, z, r = size / 2, np.array(z), np.array(r)
    r += half * force(z)
    for left in range(steps - 1, -1, -1):
        z += size * r
        r += (size if left else half) * force(z)
    return z, r


def _leap(
    target: Target, z: Floats, height: Floats, numbers: Floats, rng: Rng
) -> tuple[Move, Floats]:
    """The end of leapfrog steps, and the increase of H."""
    assert target.gradient is not None  # `needs` has checked it
    r = rng.standard_normal(z.shape)
    size = numbers[:, :1] * rng.uniform(0.9, 1.1, (len(z), 1))
    size *= np.where(rng.random((len(z), 1)) < 0.5, 1.0, -1.0)
    leaps = int(numbers[0, 1])
    with np.errstate(over="ignore", invalid="ignore"):  # a step that is too large diverges
        end, left = leapfrog(target.gradient, z, r, size, leaps)
        level = target.log_p(end)
        change = (left**2 - r**2).sum(-1) / 2 - level + height
    change = np.where(np.isfinite(change), change, np.inf)
    return _made(end, level)._replace(evaluations=leaps, lowered=change < 0), change


def flow(target: Target, z: Floats, height: Floats, numbers: Floats, rng: Rng) -> Move:
    """A turn in the plane of each principal position and its momentum, with the test of (11.67)."""
    angle = numbers[:, :1] / target.deviations
    y = z @ target.directions / target.deviations
    r = rng.standard_normal(z.shape)
    end, left = y * np.cos(angle) + r * np.sin(angle), r * np.cos(angle) - y * np.sin(angle)
    change = (left**2 + end**2 - r**2 - y**2).sum(-1) / 2
    accept = change <= 1e-9 - np.log1p(-rng.random(len(z)))  # H is the same up to rounding
    moved = (end * target.deviations) @ target.directions.T
    return _made(np.where(accept[:, None], moved, z), height)._replace(accepted=accept)


def slices(target: Target, z: Floats, height: Floats, numbers: Floats, rng: Rng) -> Move:
    """Each component in turn, in an interval that is stepped out."""
    return _slice(target, z, height, numbers[:, 0], rng, extended=True)


def unextended(target: Target, z: Floats, height: Floats, numbers: Floats, rng: Rng) -> Move:
    """Each component in turn, in an interval of the first width."""
    return _slice(target, z, height, numbers[:, 0], rng, extended=False)


def _slice(
    target: Target, z: Floats, height: Floats, width: Floats, rng: Rng, *, extended: bool
) -> Move:
    z, C = z.copy(), len(z)
    count = np.zeros(C, dtype=np.int64)
    for i in range(z.shape[1]):

        def density(x: Floats, chains: Ints, i: int = i) -> Floats:
            """The log density with x (n, k) as component i of some chains."""
            states = np.repeat(z[chains, None, :], x.shape[1], axis=1)
            states[..., i] = x
            return target.log_p(states)

        every = np.arange(C)
        level = target.log_p(z) + np.log1p(-rng.random(C))  # ln u, u ~ U(0, p(z))
        low = z[:, i] - width * rng.random(C)
        high = low + width
        if extended:
            for end, way in ((low, -width), (high, width)):
                count += _step_out(end, way, level, density)
        left = every
        while len(left):
            x = rng.uniform(low[left], high[left])
            count[left] += 1
            inside = density(x[:, None], left)[:, 0] > level[left]
            below = x < z[left, i]
            low[left[~inside & below]] = x[~inside & below]
            high[left[~inside & ~below]] = x[~inside & ~below]
            z[left[inside], i] = x[inside]
            left = left[~inside]
    return _made(z, height)._replace(evaluations=count)


def _step_out(
    end: Floats, way: Floats, level: Floats, density: Callable[[Floats, Ints], Floats]
) -> Ints:
    """Move ends (C,) in place by whole steps until they lie outside the slice; evaluations."""
    count, left, ahead = np.zeros(len(end), dtype=np.int64), np.arange(len(end)), 4
    while len(left):  # several places are tried at a time; only those up to the first outside count
        places = end[left, None] + way[left, None] * np.arange(ahead)
        outside = density(places, left) <= level[left, None]
        done = outside.any(-1)
        first = np.where(done, outside.argmax(-1), ahead)
        end[left] += way[left] * first
        count[left] += first + done
        left, ahead = left[~done], min(4 * ahead, 256)
    return count


def _made(z: Floats, height: Floats) -> Move:
    """A step that is always accepted and takes one evaluation."""
    return Move(z, height, accepted=True, evaluations=1, lowered=False)


FLOWN = 1e4  # H rises by this much only if the step is too large for stability
POSITIVE = (0.0, np.inf)
LEAPS = (0.5, 10_000.0)
FAMILIES: dict[str, tuple[Step, tuple[tuple[float, float], ...]]] = {
    "metropolis": (metropolis, (POSITIVE,)),
    "gibbs": (gibbs, ()),
    "over-relaxed": (gibbs, ((-1.0, 1.0),)),
    "slice": (slices, (POSITIVE,)),
    "unextended slice": (unextended, (POSITIVE,)),
    "hamiltonian": (hamiltonian, (POSITIVE, LEAPS)),
    "unadjusted": (unadjusted, (POSITIVE, LEAPS)),
    "flow": (flow, (POSITIVE,)),
}
