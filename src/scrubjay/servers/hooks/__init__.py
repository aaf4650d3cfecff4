"""Hooks of agents' programs: JSON in, JSON out, on standard input or over HTTP. Loads little: agents wait for it."""
