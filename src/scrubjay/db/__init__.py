"""Database engine: connections, threads, transactions, migrations and named queries. Only `app` picks a backend."""
