"""Facts, turns, summaries: what is remembered, found again and forgotten. Knows no protocol and no database."""
