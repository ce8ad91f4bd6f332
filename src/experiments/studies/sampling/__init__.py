"""Monte Carlo: points drawn from a distribution."""
