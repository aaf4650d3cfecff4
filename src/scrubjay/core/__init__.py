"""Values, errors and small helpers that every package shares. Standard library and pydantic only."""
