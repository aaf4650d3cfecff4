"""How the code of a repository hangs together: who calls, imports and inherits what. Works on facts and reads no files."""
