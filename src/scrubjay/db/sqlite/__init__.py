"""The embedded store: SQLite through apsw is the only truth, and every other file can be made again from it."""
