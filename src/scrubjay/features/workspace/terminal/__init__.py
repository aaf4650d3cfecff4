"""Run allowlisted programs without a shell: checked arguments, confinement, sessions that keep running."""
