"""Which digests are those that this program would make."""

# Raised when the same content would come to something else than before.
VERSION = 9
