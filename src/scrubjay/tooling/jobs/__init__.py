"""Durable work: progress, cancelling, leases. Everything that outlives its caller is started here."""
