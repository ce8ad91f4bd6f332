"""Monte Carlo methods."""
