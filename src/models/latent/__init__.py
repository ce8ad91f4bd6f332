"""Continuous latent variables: PCA, factor analysis."""
