"""The version of stored digests."""

# Increment when the same content would give another digest; digests of other versions are then made again.
VERSION = 12
