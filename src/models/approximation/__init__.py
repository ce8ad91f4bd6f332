"""Laplace, Taylor and variational approximations."""
