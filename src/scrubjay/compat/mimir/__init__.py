"""What exists only for clients of Mimir."""
