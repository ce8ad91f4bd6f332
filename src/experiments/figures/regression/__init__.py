"""Figures of lines, polynomials and their Bayesian treatment."""
