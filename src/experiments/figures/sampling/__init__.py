"""Figures of the studies of sampling."""
