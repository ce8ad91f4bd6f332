"""Classifiers: from points to classes."""
