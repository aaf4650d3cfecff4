"""Several repositories at once: one search over all, and which of them uses what another one defines."""
