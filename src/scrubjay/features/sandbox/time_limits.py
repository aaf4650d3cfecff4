"""The time that a run has, by the wall and by the processor: a guest is looked at a hundred times a second."""

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

# Not public, and the only way to a callback at epochs; hence the upper bound in pyproject.toml.
from wasmtime import _ffi as ffi

if TYPE_CHECKING:
    from wasmtime import Engine, Store

TICK_SECONDS: Final = 0.01
# A run that is shorter than this is never slowed down.
BURST_SECONDS: Final = 0.25
_CONTINUE: Final = 0

_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.POINTER(ffi.wasmtime_context_t),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_uint8),
)


class Clockwork:
    """Counts the engine's epochs on, for as long as something runs."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._running = threading.Event()
        threading.Thread(target=self._tick, name="ticker", daemon=True).start()

    def begin(self) -> None:
        self._running.set()

    def rest(self) -> None:
        self._running.clear()

    def _tick(self) -> None:
        while True:
            self._running.wait()
            time.sleep(TICK_SECONDS)
            self._engine.increment_epoch()


class Allowance:
    """What one run may take: so many seconds, and of these so large a share of a processor."""

    def __init__(self, *, seconds: float, cpu_share: float, each_tick: Callable[[], None]) -> None:
        self._cpu_share = cpu_share
        self._each_tick = each_tick
        self._began_cpu = time.thread_time()
        self.began = time.monotonic()
        self.deadline = self.began + seconds
        # It must live for as long as the stores that it is given to.
        self._callback = _CALLBACK(self._look)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        return self.deadline - time.monotonic()

    @property
    def cpu(self) -> float:
        return time.thread_time() - self._began_cpu

    @property
    def pause(self) -> float:
        """How long it has to wait until it is within its share of a processor again, if it is not."""
        ahead = self.cpu - BURST_SECONDS - self._cpu_share * self.elapsed
        return max(0.0, min(ahead / self._cpu_share, self.left))

    def watch(self, store: "Store") -> None:
        """Look at what runs in this store at every tick."""
        pointer: Any = store.ptr()
        no_finalizer = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))
        ffi.wasmtime_store_epoch_deadline_callback(pointer, self._callback, None, no_finalizer)
        store.set_epoch_deadline(1)

    def _look(self, context: Any, data: Any, delta: Any, kind: Any) -> int:
        """Let it go on, after a pause if it uses more than its share; an error ends it."""
        try:
            self._each_tick()
            if self.left <= 0:
                return _error("the time is over")
            if (pause := self.pause) > 0:
                time.sleep(pause)
                if self.left <= 0:
                    return _error("the time is over")
        except BaseException:  # nothing may come out of here into the engine
            return _error("the run was given up")
        delta[0] = 1
        kind[0] = _CONTINUE
        return 0


def _error(text: str) -> int:
    made: Any = cast(Any, ffi).wasmtime_error_new(text.encode())
    return ctypes.cast(made, ctypes.c_void_p).value or 0
