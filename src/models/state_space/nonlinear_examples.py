"""Test functions and systems for the filters of MLAPP 18.5 and Ghahramani 5."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from bythebook.models.state_space.kalman import LDS
from bythebook.models.state_space.nonlinear_filters import NonlinearSystem
from bythebook.models.state_space.unscented import Function
from bythebook.models.types import Floats


class Mapping(NamedTuple):
    """A function, its Jacobian, and the Gaussian that it transforms."""

    f: Function
    F: Function
    mean: Floats
    sd: Floats


def polar_mapping() -> Mapping:
    """Polar coordinates into Cartesian ones; the bearing is less certain than the range."""

    def f(x: Floats) -> Floats:
        return np.stack([x[..., 0] * np.cos(x[..., 1]), x[..., 0] * np.sin(x[..., 1])], axis=-1)

    def F(x: Floats) -> Floats:
        cos, sin = np.cos(x[1]), np.sin(x[1])
        return np.array([[cos, -x[0] * sin], [sin, x[0] * cos]])

    return Mapping(f, F, mean=np.array([1.0, np.pi / 2]), sd=np.array([0.02, np.deg2rad(15)]))


def exponential_mapping(bend: float) -> Mapping:
    """A function of slope one and curvature `bend` at the mean of a standard Gaussian."""
    return Mapping(
        f=lambda x: np.expm1(bend * x) / bend,
        F=lambda x: np.exp(bend * x)[..., np.newaxis],
        mean=np.zeros(1),
        sd=np.ones(1),
    )


def random_lds(rng: Generator) -> LDS:
    """A stable linear system with three states and three outputs."""
    turn = np.linalg.qr(rng.standard_normal((3, 3))).Q
    Gamma, Sigma, V0 = (
        B @ B.T + 0.1 * np.eye(len(B)) for B in (rng.standard_normal((3, 3)) for _ in range(3))
    )
    C, mu0 = rng.standard_normal((3, 3)), rng.standard_normal(3)
    return LDS(0.9 * turn, Gamma, C, Sigma, mu0, V0)


def growth_system(state_variance: float, noise_variance: float) -> NonlinearSystem:
    """A population that grows towards one of two values and is observed through its square.

        z_n = z/2 + 25 z / (1 + z^2) + 8 cos(1.2 n) + w_n,    y_n = z_n^2 / 20 + v_n

    The square hides the sign, so beliefs have two modes. The prior is N(0, 5).
    """
    return NonlinearSystem(
        g=lambda n, z: z / 2 + 25 * z / (1 + z**2) + 8 * np.cos(1.2 * n),
        G=lambda n, z: (0.5 + 25 * (1 - z**2) / (1 + z**2) ** 2)[..., np.newaxis],
        h=lambda z: z**2 / 20,
        H=lambda z: (z / 10)[..., np.newaxis],
        Q=np.array([[state_variance]]),
        R=np.array([[noise_variance]]),
        mu0=np.zeros(1),
        V0=np.array([[5.0]]),
    )


def walker_system(
    distance: float,
    noise: float,
    prior: float,
    turns: float = 0.1,
    speeds: float = 0.02,
    speed: float = 1.0,
) -> NonlinearSystem:
    """A walker (p_x, p_y, heading, speed) who measures the distances of three beacons.

        p_n = p_{n-1} + s (cos theta, sin theta) + w_n,    y_nk = |p_n - b_k| + N(0, noise^2)

    The beacons are around the start, `distance` away from it: the nearer they are, the more
    nonlinear is a range. `prior` is the standard deviation of both coordinates at the start, and
    half of it that of the heading in radians; the mean of the first speed is `speed`, and its
    standard deviation a tenth of it. `turns` and `speeds` are the standard deviations of the
    changes of heading and speed in a step.
    """
    angle = np.deg2rad([90.0, 210.0, 330.0])
    b_x, b_y = distance * np.cos(angle), distance * np.sin(angle)

    def g(n: int, z: Floats) -> Floats:
        moved = z.copy()
        moved[..., 0] += z[..., 3] * np.cos(z[..., 2])
        moved[..., 1] += z[..., 3] * np.sin(z[..., 2])
        return moved

    def G(n: int, z: Floats) -> Floats:
        J = np.broadcast_to(np.eye(4), (*z.shape, 4)).copy()
        cos, sin, speed = np.cos(z[..., 2]), np.sin(z[..., 2]), z[..., 3]
        J[..., 0, 2], J[..., 0, 3] = -speed * sin, cos
        J[..., 1, 2], J[..., 1, 3] = speed * cos, sin
        return J

    def h(z: Floats) -> Floats:
        x, y = z[..., 0], z[..., 1]  # beacon by beacon: an axis of three is a slow one
        ranges = [
            np.sqrt(np.square(x - b) + np.square(y - c)) for b, c in zip(b_x, b_y, strict=True)
        ]
        return np.stack(ranges, axis=-1)

    def H(z: Floats) -> Floats:
        J = np.zeros((*z.shape[:-1], 3, 4))
        J[..., 0], J[..., 1] = z[..., :1] - b_x, z[..., 1:2] - b_y
        J /= h(z)[..., np.newaxis]
        return J

    return NonlinearSystem(
        g=g,
        G=G,
        h=h,
        H=H,
        Q=np.diag(np.square([0.02, 0.02, turns, speeds])),
        R=noise**2 * np.eye(3),
        mu0=np.array([0.0, 0.0, 0.0, speed]),
        V0=np.diag(np.square([prior, prior, prior / 2, 0.1 * speed])),
    )
