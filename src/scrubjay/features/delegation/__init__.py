"""What agents' programs ask and tell beside calls of tools. Knows no protocol, and none of their files."""
