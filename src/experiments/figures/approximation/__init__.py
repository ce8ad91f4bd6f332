"""Laplace and Taylor approximations."""
