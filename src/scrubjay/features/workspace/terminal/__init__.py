"""Programs of a list that callers may start, without a shell; what each may be given, and what it can reach."""
