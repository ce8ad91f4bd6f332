"""Planted faults: one at a time into a copy of `src/models`; which tests and claims notice?"""
