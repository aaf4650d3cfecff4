"""Programs that we start: within bounds, confined where that is wished, and never longer there than we are."""
