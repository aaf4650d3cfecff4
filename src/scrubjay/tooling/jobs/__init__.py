"""Durable jobs with progress, cancellation and leases, for work that outlives its caller."""
