"""Tools that exist only for clients of Neo's memory core."""
