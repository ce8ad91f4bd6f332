"""Filters and smoothers over continuous states."""
