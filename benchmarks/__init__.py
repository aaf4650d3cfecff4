"""Benchmarks of our claims: each compares Scrubjay with a reference in the same run, in CPU time where possible."""
