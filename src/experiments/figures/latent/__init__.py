"""Figures of few dimensions behind many."""
