"""Tools over the code index: search, symbols, call graph, impact of changes, bundles."""
