"""Short-lived items of one session that are consolidated into memories before they expire."""
