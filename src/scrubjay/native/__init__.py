"""Loader of the optional C library. Each caller has a Python or numpy fallback that returns the same results."""
