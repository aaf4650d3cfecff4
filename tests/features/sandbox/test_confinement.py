"""What is left to a process that only computes: a program that broke out of the engine would have no more.

Numbers are rows of the feature table.
"""

import platform
import subprocess
import sys
from typing import Final

import pytest

# Each tries one thing in a process that is confined as workers are, and says what came of it.
CONFINED: Final = """
import ctypes, errno, json, mmap, os, signal, socket, subprocess, sys, threading, time
from scrubjay.isolation.landlock import confine
from scrubjay.isolation.seccomp import compute_only
from scrubjay.features.sandbox.worker_main import _NOTHING_GIVEN, _give_up_rights
libc = ctypes.CDLL(None, use_errno=True)
kept = socket.socket()
readable = os.open("/etc/hostname", os.O_RDONLY)
folder = os.open("/", os.O_RDONLY)
waiting = threading.Event()
told = []
def in_thread():
    waiting.wait()
    told.append(attempt())
def raw(number, *arguments):
    answer = libc.syscall(ctypes.c_long(number), *arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return answer
def attempt():
    try:
        ATTEMPT
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        return "refused"
    return "done"
before = threading.Thread(target=in_thread, daemon=True)
before.start()
PARTS
waiting.set()
result = attempt()
before.join()
os.write(1, (result + " " + told[0]).encode())
os._exit(0)
"""
BOTH: Final = "confine(_NOTHING_GIVEN); _give_up_rights(); assert compute_only()"
ATTEMPTS: Final = {
    "to open a file": "os.open('/etc/hostname', os.O_RDONLY)",
    "to open one beside an open folder": "os.open('etc/hostname', os.O_RDONLY, dir_fd=folder)",
    "to make a file": "os.open('/dev/shm/escaped', os.O_CREAT | os.O_WRONLY)",
    "to remove a file": "os.unlink('/dev/shm/nothing-there')",
    "to read a folder": "os.listdir('/')",
    "to look at a file": "os.stat('/etc/passwd')",
    "to read a link": "os.readlink('/proc/self/exe')",
    "to have a socket": "socket.socket()",
    "to connect the one it has": "kept.connect(('127.0.0.1', 1))",
    "to listen": "kept.bind(('127.0.0.1', 0))",
    "to talk to the machine's other processes": "socket.socketpair()",
    "to fork": "os.fork() or os._exit(0)",
    "to become another program": "os.execv('/bin/true', ['true'])",
    "to start another program": "subprocess.run(['/bin/true'], check=True)",
    "to send a signal": "os.kill(os.getppid(), 0)",
    "to send itself one": "os.kill(os.getpid(), signal.SIGUSR1)",
    "to look into another process": "raw(101, 16, os.getppid(), 0, 0)",
    "to read another's memory": "raw(310, os.getppid(), 0, 0, 0, 0, 0)",
    "to map code": "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
    "to make memory code": "raw(10, 0, 4096, 5)",
    "to have a file in memory": "os.memfd_create('x')",
    "to mount": "raw(165, 0, 0, 0, 0, 0)",
    "to have another root": "os.chroot('/')",
    "to become another user": "os.setuid(1000)",
    "to be alone in a namespace": "raw(272, 0x10000000)",
    "to use io_uring": "raw(425, 1, 0)",
    "to use bpf": "raw(321, 0, 0, 0)",
    "to use keys of the kernel": "raw(250, 0, 0, 0, 0, 0)",
    "to limit others": "raw(302, os.getppid(), 7, 0, 0)",
    "to pass descriptors on": "os.dup(0)",
    "to change what is open": "import fcntl; fcntl.fcntl(0, fcntl.F_SETFL, 0)",
}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has these")


def outcome(attempt: str, parts: str) -> str:
    code = CONFINED.replace("ATTEMPT", attempt).replace("PARTS", parts)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout or done.stderr[-500:]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_123_it_is_not_able(attempt: str) -> None:
    if "raw(" in ATTEMPTS[attempt] and platform.machine() != "x86_64":
        pytest.skip("numbers of another processor")
    assert outcome(ATTEMPTS[attempt], BOTH) == "refused refused"


@pytest.mark.parametrize(
    "work", ["os.read(readable, 10)", "time.sleep(0.001)", "bytearray(50_000_000)", "os.urandom(8)"]
)
def test_123_it_can_go_on_computing(work: str) -> None:
    assert outcome(work, BOTH) == "done done"


@pytest.mark.parametrize(
    "attempt", ["to open a file", "to have a socket", "to pass descriptors on", "to read a folder"]
)
def test_the_attempts_are_real_ones(attempt: str) -> None:
    assert outcome(ATTEMPTS[attempt], "pass") == "done done"
