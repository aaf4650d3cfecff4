"""The SQLite engine, through apsw. SQLite is the source of truth; every other file can be rebuilt from it."""
