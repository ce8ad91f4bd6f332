"""Contours of Gaussians: Mahalanobis distance and area."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bythebook.experiments.plotting.ellipses import ellipse


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(-0.95, 0.95), st.floats(0.1, 4))
def test_every_point_has_the_mahalanobis_distance(
    a: float, b: float, rho: float, sd: float
) -> None:
    mu = np.array([1.0, -2.0])
    Sigma = np.array([[a * a, rho * a * b], [rho * a * b, b * b]])
    away = ellipse(mu, Sigma, sd, points=37) - mu[:, None]
    distance = np.einsum("in,in->n", away, np.linalg.solve(Sigma, away))
    np.testing.assert_allclose(distance, sd**2, rtol=1e-8)
    x, y = away  # area of the polygon, compared with that of the ellipse
    area = 0.5 * np.abs(x[:-1] @ y[1:] - x[1:] @ y[:-1])
    circle = 18 * np.sin(np.pi / 18)  # 36 triangles instead of the unit circle
    np.testing.assert_allclose(area, circle * sd**2 * np.sqrt(np.linalg.det(Sigma)), rtol=1e-8)
