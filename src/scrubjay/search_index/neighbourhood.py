"""The size of the neighbourhood of a candidate. Imports nothing, so that it is cheap where numpy is not needed."""

REACH = 5
"""Texts before a candidate in its session that are laid out with it, and as many after it."""
