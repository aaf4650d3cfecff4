"""What agents' programs ask of us and tell us beside calls of tools. Knows no protocol and writes none of their files."""
