"""What recurs in episodes: found at their end, kept, grown, and told to whoever begins something like it."""
