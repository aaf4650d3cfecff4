"""Hooks of coding agents: JSON in, JSON out, on standard input or over HTTP. Imports little, as agents wait for it."""
