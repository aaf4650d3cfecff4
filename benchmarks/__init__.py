"""What we claim, measured beside the bare SDK in one run, as ratios and CPU time."""
