"""K-means and mixtures, by EM."""
