"""Puts Scrubjay into the configuration of agents' programs, and takes it out again. Changes only its own part."""
