"""How the code of a repository hangs together: who calls, imports and inherits what, from facts and without files."""
