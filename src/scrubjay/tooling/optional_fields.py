"""Predicates for `exclude_if`: when a result leaves out a field. Each is a C function, as results call them often."""

import operator
from collections.abc import Callable
from functools import partial

is_empty: Callable[[object], bool] = operator.not_
"""Return True for a value that is false: None, zero, an empty text or list."""

is_absent: Callable[[object], bool] = partial(operator.is_, None)
"""Return True for None only, so that zero and an empty list stay in the result."""
