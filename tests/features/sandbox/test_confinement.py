"""Rights of a confined worker, which limit a program that has escaped the WebAssembly engine.

Numbers are rows of the feature table.
"""

import platform
import subprocess
import sys
from typing import Final

import pytest

# Attempts one operation in a process that is confined like a worker, in the main thread and in one that was started
# before the confinement, and prints the results.
CONFINED: Final = """
import ctypes, errno, json, mmap, os, signal, socket, subprocess, sys, threading, time
from scrubjay.isolation.landlock import confine
from scrubjay.isolation.seccomp import compute_only
from scrubjay.features.sandbox.worker_main import _NO_ACCESS, _drop_limits
libc = ctypes.CDLL(None, use_errno=True)
inherited = socket.socket()
readable = os.open("/etc/hostname", os.O_RDONLY)
folder = os.open("/", os.O_RDONLY)
waiting = threading.Event()
results = []
def run_in_thread():
    waiting.wait()
    results.append(attempt())
def raw(number, *arguments):
    status = libc.syscall(ctypes.c_long(number), *arguments)
    if status < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return status
def attempt():
    try:
        ATTEMPT
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        return "refused"
    return "done"
before = threading.Thread(target=run_in_thread, daemon=True)
before.start()
CONFINE
waiting.set()
result = attempt()
before.join()
os.write(1, (result + " " + results[0]).encode())
os._exit(0)
"""
CONFINEMENT: Final = "confine(_NO_ACCESS); _drop_limits(); assert compute_only()"
ATTEMPTS: Final = {
    "open a file": "os.open('/etc/hostname', os.O_RDONLY)",
    "open a file relative to an open folder": "os.open('etc/hostname', os.O_RDONLY, dir_fd=folder)",
    "create a file": "os.open('/dev/shm/escaped', os.O_CREAT | os.O_WRONLY)",
    "delete a file": "os.unlink('/dev/shm/nothing-there')",
    "list a folder": "os.listdir('/')",
    "stat a file": "os.stat('/etc/passwd')",
    "read a link": "os.readlink('/proc/self/exe')",
    "create a socket": "socket.socket()",
    "connect an inherited socket": "inherited.connect(('127.0.0.1', 1))",
    "bind an inherited socket": "inherited.bind(('127.0.0.1', 0))",
    "create a socket pair": "socket.socketpair()",
    "fork": "os.fork() or os._exit(0)",
    "execute a program": "os.execv('/bin/true', ['true'])",
    "start a subprocess": "subprocess.run(['/bin/true'], check=True)",
    "signal the parent": "os.kill(os.getppid(), 0)",
    "signal itself": "os.kill(os.getpid(), signal.SIGUSR1)",
    "trace another process": "raw(101, 16, os.getppid(), 0, 0)",
    "read the memory of another process": "raw(310, os.getppid(), 0, 0, 0, 0, 0)",
    "map executable memory": "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
    "make memory executable": "raw(10, 0, 4096, 5)",
    "create a file in memory": "os.memfd_create('x')",
    "mount a file system": "raw(165, 0, 0, 0, 0, 0)",
    "change the root": "os.chroot('/')",
    "change the user": "os.setuid(1000)",
    "create a namespace": "raw(272, 0x10000000)",
    "use io_uring": "raw(425, 1, 0)",
    "use bpf": "raw(321, 0, 0, 0)",
    "use kernel keyrings": "raw(250, 0, 0, 0, 0, 0)",
    "change the limits of another process": "raw(302, os.getppid(), 7, 0, 0)",
    "duplicate a descriptor": "os.dup(0)",
    "change descriptor flags": "import fcntl; fcntl.fcntl(0, fcntl.F_SETFL, 0)",
}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Landlock and seccomp, which only Linux has")


def outcome(attempt: str, confine: str) -> str:
    code = CONFINED.replace("ATTEMPT", attempt).replace("CONFINE", confine)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout or done.stderr[-500:]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_123_a_confined_process_is_refused(attempt: str) -> None:
    if "raw(" in ATTEMPTS[attempt] and platform.machine() != "x86_64":
        pytest.skip("the system call numbers are those of x86_64")
    assert outcome(ATTEMPTS[attempt], CONFINEMENT) == "refused refused"


@pytest.mark.parametrize(
    "work", ["os.read(readable, 10)", "time.sleep(0.001)", "bytearray(50_000_000)", "os.urandom(8)"]
)
def test_123_a_confined_process_can_still_compute(work: str) -> None:
    assert outcome(work, CONFINEMENT) == "done done"


@pytest.mark.parametrize("attempt", ["open a file", "create a socket", "duplicate a descriptor", "list a folder"])
def test_the_same_attempts_succeed_without_confinement(attempt: str) -> None:
    assert outcome(ATTEMPTS[attempt], "pass") == "done done"
