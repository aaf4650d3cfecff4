"""Add Scrubjay to the configuration files of coding agents, and remove it again. Only its own entries are changed."""
