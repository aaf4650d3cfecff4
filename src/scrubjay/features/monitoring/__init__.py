"""What one can know of a running server: who called what, how often, how long it took. Decides nothing."""
