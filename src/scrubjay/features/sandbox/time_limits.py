"""Limits of wall time and CPU share of a run, checked a hundred times a second."""

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

# Private API, and the only way to an epoch callback; hence the upper version bound in pyproject.toml.
from wasmtime import _ffi as ffi

if TYPE_CHECKING:
    from wasmtime import Engine, Store

TICK_SECONDS: Final = 0.01
# CPU time of a run that is not throttled.
BURST_SECONDS: Final = 0.25
_CONTINUE: Final = 0

_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.POINTER(ffi.wasmtime_context_t),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_uint8),
)


class EpochClock:
    """A thread that increments the engine's epoch while a program runs."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._running = threading.Event()
        threading.Thread(target=self._tick, name="ticker", daemon=True).start()

    def start(self) -> None:
        self._running.set()

    def pause(self) -> None:
        self._running.clear()

    def _tick(self) -> None:
        while True:
            self._running.wait()
            time.sleep(TICK_SECONDS)
            self._engine.increment_epoch()


class TimeBudget:
    """The wall time and the share of a CPU core that one run may use."""

    def __init__(self, *, seconds: float, cpu_share: float, on_tick: Callable[[], None]) -> None:
        self._cpu_share = cpu_share
        self._on_tick = on_tick
        self._began_cpu = time.thread_time()
        self.started = time.monotonic()
        self.deadline = self.started + seconds
        # Referenced here because it must live as long as the stores that call it.
        self._callback = _CALLBACK(self._on_epoch)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    @property
    def remaining(self) -> float:
        return self.deadline - time.monotonic()

    @property
    def cpu(self) -> float:
        return time.thread_time() - self._began_cpu

    @property
    def throttle_seconds(self) -> float:
        """Seconds to sleep until the run is within its CPU share again; 0 if it is."""
        ahead = self.cpu - BURST_SECONDS - self._cpu_share * self.elapsed
        return max(0.0, min(ahead / self._cpu_share, self.remaining))

    def watch(self, store: "Store") -> None:
        """Apply the limits to the program in this store."""
        pointer: Any = store.ptr()
        no_finalizer = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))
        ffi.wasmtime_store_epoch_deadline_callback(pointer, self._callback, None, no_finalizer)
        store.set_epoch_deadline(1)

    def _on_epoch(self, context: Any, data: Any, delta: Any, kind: Any) -> int:
        """Throttle the program if it exceeds its CPU share; return an error, which ends it, at the time limit."""
        try:
            self._on_tick()
            if self.remaining <= 0:
                return _error("the time is over")
            if (pause := self.throttle_seconds) > 0:
                time.sleep(pause)
                if self.remaining <= 0:
                    return _error("the time is over")
        except BaseException:  # an exception must not pass into the engine
            return _error("the run was aborted")
        delta[0] = 1
        kind[0] = _CONTINUE
        return 0


def _error(text: str) -> int:
    error: Any = cast(Any, ffi).wasmtime_error_new(text.encode())
    return ctypes.cast(error, ctypes.c_void_p).value or 0
