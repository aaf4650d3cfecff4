"""Settings, wiring and the commands: the only room that knows every room."""
