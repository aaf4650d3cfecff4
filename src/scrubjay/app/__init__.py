"""Settings, wiring and the commands: the only room that knows every room; and what each process of ours begins with."""

import gc
import os

# What is loaded stays: to look for garbage after every 700 objects takes a tenth of the start.
gc.set_threshold(20_000, 50)
# To look through all that is installed for plugins of pydantic's, of which we need none, takes a twentieth.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# Threads that multiply together have to be started, and wait for each other by spinning: a sixth of the first answer.
# Calls are many and small, and each is on a thread of its own already.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
