"""Nonlinear systems for the filters of MLAPP 18.5 and Ghahramani 5 to be tried on."""

import numpy as np

from models.state_space.nonlinear_filters import NonlinearSystem
from models.types import Floats


def growth_system(state_variance: float, noise_variance: float) -> NonlinearSystem:
    """A population that grows towards one of two places and is seen by its square.

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
    distance: float, noise: float, prior: float, turns: float = 0.1, speeds: float = 0.02
) -> NonlinearSystem:
    """A walker (p_x, p_y, heading, speed) who hears how far three beacons are.

        p_n = p_{n-1} + s (cos theta, sin theta) + w_n,    y_nk = |p_n - b_k| + N(0, noise^2)

    The beacons stand around the start, `distance` away from it: the nearer they are, the more a
    range bends. `prior` is the standard deviation of both coordinates at the start, and half of it
    that of the heading in radians; the speed is 1, give or take 0.1. `turns` and `speeds` are the
    standard deviations of what heading and speed change by in a step.
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
        return np.hypot(z[..., :1] - b_x, z[..., 1:2] - b_y)

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
        mu0=np.array([0.0, 0.0, 0.0, 1.0]),
        V0=np.diag(np.square([prior, prior, prior / 2, 0.1])),
    )
