"""Equations of PRML 11.5: Hamiltonian dynamics and leapfrog steps."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.sampling import dynamics
from bythebook.models.sampling.dynamics import ENERGIES, Energy
from bythebook.models.types import Floats

Move = Callable[[dynamics.State], dynamics.State]


def _case(rng: Generator) -> tuple[Energy, Floats, Floats]:
    """An energy of two variables, with positions and momenta of a point."""
    energy = ENERGIES[str(rng.choice(sorted(ENERGIES)))]
    return energy, *rng.uniform(-1, 1, (2, 1, 2))


def _slope(energy: Energy, z: Floats, h: float = 1e-4) -> Floats:
    """The gradient of the potential energy, by differences of fourth order."""
    ends = [[energy.of(z + k * h * e) for e in np.eye(2)] for k in (-2, -1, 1, 2)]
    low2, low, high, high2 = (np.stack(values, axis=-1) for values in ends)
    return np.asarray((8 * (high - low) - (high2 - low2)) / (12 * h))


def _determinant(move: Move, z: Floats, r: Floats, h: float = 1e-5) -> float:
    """The determinant of a map of phase space, by central differences."""
    at, columns = np.concatenate([z, r], axis=-1), []
    for direction in h * np.eye(4):
        ways = [(w[:, :2], w[:, 2:]) for w in (at + direction, at - direction)]
        high, low = (np.concatenate(move(way), axis=-1) for way in ways)
        columns.append((high - low)[0] / (2 * h))
    sign, log_size = np.linalg.slogdet(columns)
    return float(sign * np.exp(log_size))


@equation(
    "11.53 to 11.59",
    section="11.5.1",
    latex=r"r_i = \frac{d z_i}{d \tau} = \frac{\partial H}{\partial r_i}, \quad"
    r" \frac{d r_i}{d \tau} = -\frac{\partial E(\mathbf{z})}{\partial z_i}"
    r" = -\frac{\partial H}{\partial z_i}, \quad H = E(\mathbf{z}) + \frac{1}{2} \sum_i r_i^2",
    within=1e-6,
)
def hamiltonian_equations(rng: Generator) -> Sides:
    """The velocity of a point along the project's trajectory is given by the slopes of H.

    The trajectory is followed for a short time both ways (Exercise 11.15).
    """
    (energy, z, r), t, h = _case(rng), 1e-4, 1e-4
    ends = [dynamics.flow(energy, (z, r), way) for way in (t, -t)]
    velocity = [(there - back) / (2 * t) for there, back in zip(*ends, strict=True)]
    kinetic = [((r + k * h * np.eye(2)) ** 2).sum(-1) / 2 for k in (1, -1)]
    slope_of_r = (kinetic[0] - kinetic[1])[None] / (2 * h)
    return Sides(truth=tuple(velocity), printed=(slope_of_r, -_slope(energy, z)))


@equation(
    "11.60",
    section="11.5.1",
    latex=r"\frac{d H}{d \tau} = \sum_i \left\{ \frac{\partial H}{\partial z_i}"
    r" \frac{d z_i}{d \tau} + \frac{\partial H}{\partial r_i} \frac{d r_i}{d \tau} \right\} = 0",
    within=1e-8,
)
def hamiltonian_is_constant(rng: Generator) -> Sides:
    """H after some time of accurate dynamics is H at the start."""
    energy, z, r = _case(rng)
    end = dynamics.flow(energy, (z, r), rng.uniform(0.5, 3))
    start = energy.of(z) + (r**2).sum(-1) / 2
    return Sides(truth=energy.of(end[0]) + (end[1] ** 2).sum(-1) / 2, printed=start)


@equation(
    "11.61, 11.62",
    section="11.5.1",
    latex=r"\text{div} \, \mathbf{V} = \sum_i \left\{ \frac{\partial}{\partial z_i}"
    r" \frac{d z_i}{d \tau} + \frac{\partial}{\partial r_i} \frac{d r_i}{d \tau} \right\} = 0",
    within=1e-5,
)
def dynamics_keep_volume(rng: Generator) -> Sides:
    """The determinant of the accurate flow over some time is one (Liouville's theorem)."""
    (energy, z, r), time = _case(rng), rng.uniform(0.5, 2)
    truth = _determinant(lambda state: dynamics.flow(energy, state, time), z, r)
    return Sides(truth=truth, printed=1.0)


@equation(
    "11.63, conditional",
    section="11.5.1",
    latex=r"p(\mathbf{r} | \mathbf{z}) = \mathcal{N}(\mathbf{r} | \mathbf{0}, \mathbf{I}), \quad"
    r" p(\mathbf{z}, \mathbf{r}) = \frac{1}{Z_H} \exp(-H(\mathbf{z}, \mathbf{r}))",
)
def momenta_are_gaussian(rng: Generator) -> Sides:
    """The conditional density of the momenta, with its normaliser as a sum over a fine grid.

    Exercise 11.16.
    """
    energy, z, r = _case(rng)
    line = np.linspace(-10, 10, 201)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    state = np.repeat(z, len(grid), axis=0), grid
    total = np.exp(-dynamics.hamiltonian(energy, state)).sum() * (line[1] - line[0]) ** 2
    truth = np.exp(-dynamics.hamiltonian(energy, (z, r))) / total
    return Sides(truth=truth, printed=np.exp(-(r**2).sum(-1) / 2) / (2 * np.pi))


@equation(
    "11.64 to 11.66",
    section="11.5.1",
    latex=r"\hat{r}_i(\tau + \epsilon / 2) = \hat{r}_i(\tau) - \frac{\epsilon}{2} \frac{\partial"
    r" E}{\partial z_i}(\hat{\mathbf{z}}(\tau)), \quad \hat{z}_i(\tau + \epsilon) ="
    r" \hat{z}_i(\tau) + \epsilon \hat{r}_i(\tau + \epsilon / 2), \quad \hat{r}_i(\tau + \epsilon)"
    r" = \hat{r}_i(\tau + \epsilon / 2) - \frac{\epsilon}{2} \frac{\partial E}{\partial z_i}"
    r"(\hat{\mathbf{z}}(\tau + \epsilon))",
    within=1e-7,
)
def leapfrog_steps(rng: Generator) -> Sides:
    """Several steps, against the project's steps, in which half steps of r are combined."""
    (energy, z, r), epsilon, L = _case(rng), rng.uniform(0.05, 0.3), int(rng.integers(1, 8))
    truth = dynamics.steps(energy, (z, r), epsilon, L)
    for _ in range(L):
        r = r - epsilon / 2 * _slope(energy, z)
        z = z + epsilon * r
        r = r - epsilon / 2 * _slope(energy, z)
    return Sides(truth=truth, printed=(z, r))


@equation(
    "section 11.5.2, time reversal and volume",
    section="11.5.2",
    latex=r"\Phi_{-\epsilon}^L \Phi_\epsilon^L (\mathbf{z}, \mathbf{r}) = (\mathbf{z}, \mathbf{r}),"
    r" \quad \left| \frac{\partial \Phi_\epsilon^L}{\partial (\mathbf{z}, \mathbf{r})} \right| = 1",
    within=1e-5,
)
def leapfrog_reverses_and_keeps_volume(rng: Generator) -> Sides:
    """L steps of size -epsilon undo L steps of size epsilon, which keep volume exactly."""
    (energy, z, r), epsilon, L = _case(rng), rng.uniform(0.05, 0.4), int(rng.integers(1, 8))
    there = dynamics.steps(energy, (z, r), epsilon, L)
    back = dynamics.steps(energy, there, -epsilon, L)
    truth = _determinant(lambda state: dynamics.steps(energy, state, epsilon, L), z, r)
    return Sides(truth=(*back, truth), printed=(z, r, 1.0))


@equation(
    "11.68, 11.69",
    section="11.5.2",
    latex=r"\frac{1}{Z_H} \exp(-H(\mathcal{R})) \delta V \frac{1}{2} \min \{ 1,"
    r" \exp(-H(\mathcal{R}) + H(\mathcal{R}')) \} = \frac{1}{Z_H} \exp(-H(\mathcal{R}')) \delta V"
    r" \frac{1}{2} \min \{ 1, \exp(-H(\mathcal{R}') + H(\mathcal{R})) \}",
    corrected=r"\frac{1}{Z_H} \exp(-H(\mathcal{R})) \delta V \frac{1}{2} \min \{ 1,"
    r" \exp(H(\mathcal{R}) - H(\mathcal{R}')) \} = \frac{1}{Z_H} \exp(-H(\mathcal{R}')) \delta V"
    r" \frac{1}{2} \min \{ 1, \exp(H(\mathcal{R}') - H(\mathcal{R})) \}",
    cause="signs-of-detailed-balance",
)
def balance_of_transitions(rng: Generator) -> Sides:
    """The probabilities of a transition and of the way back, without Z_H and the volume.

    The flow of probability through a Metropolis step both ways is half the smaller of the two
    densities (Exercise 11.17).
    """
    here, there = rng.uniform(0.2, 3, 2)
    flow = min(np.exp(-here), np.exp(-there)) / 2
    printed = [np.exp(-a) / 2 * min(1, np.exp(-a + b)) for a, b in ((here, there), (there, here))]
    corrected = [np.exp(-a) / 2 * min(1, np.exp(a - b)) for a, b in ((here, there), (there, here))]
    return Sides(truth=(flow, flow), printed=tuple(printed), corrected=tuple(corrected))
