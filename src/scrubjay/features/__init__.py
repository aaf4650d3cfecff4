"""One folder per feature: models, service, store, SQLite queries, tools and wiring."""
