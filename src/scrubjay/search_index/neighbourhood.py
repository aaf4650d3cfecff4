"""Size of the neighbourhood of a candidate. A module of its own, because importing it must not import numpy."""

REACH = 5
"""Number of rows before and after a candidate in its session that are laid out with it."""
