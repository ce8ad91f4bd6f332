"""Figures of the studies of hidden Markov models."""
