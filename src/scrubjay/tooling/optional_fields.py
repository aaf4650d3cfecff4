"""Predicates for `exclude_if`: when a result leaves out a field."""


def is_nothing(value: object) -> bool:
    """Return True for a value that is false: None, zero, an empty text or list."""
    return not value


def is_absent(value: object) -> bool:
    """Return True for None only, so that zero and an empty list stay in the result."""
    return value is None
