"""Episodes."""
