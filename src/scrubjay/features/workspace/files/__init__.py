"""Files under one root: read, changed whole or not at all, and never reached by a way that leads out of it."""
