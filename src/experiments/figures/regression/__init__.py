"""Lines, polynomials and their Bayesian treatment, drawn."""
