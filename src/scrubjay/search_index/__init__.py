"""Files that can always be made again from the store, and search over what they hold. Knows no database.

These modules import numpy, which takes a while: import them where they are first needed.
"""
