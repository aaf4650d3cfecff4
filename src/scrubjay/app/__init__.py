"""Settings, assembly and commands: the only package that may import all others.

Importing it also tunes the process: garbage collection, pydantic's plugins and OpenBLAS's threads.
"""

import gc
import os

# Objects made by imports live on, so collecting after every 700 of them (the default) would take a tenth of start-up.
gc.set_threshold(20_000, 50)
# Searching all installed distributions for pydantic plugins takes a twentieth of start-up, and we use none.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# Starting OpenBLAS's threads, which wait by spinning, takes a sixth of the first answer. Matrix products here are many
# and small, and each already runs in a thread of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
