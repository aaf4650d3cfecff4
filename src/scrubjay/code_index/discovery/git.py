"""Asking git, so that nothing the repository brings along is run: no hooks, filters, pagers, monitors or transports."""

import os
import subprocess
import tempfile
from contextlib import suppress
from types import TracebackType
from typing import IO, Self

from scrubjay.code_index.discovery.limits import Bounds
from scrubjay.core.errors import Forbidden, ScrubjayError, Unavailable

_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "log.showSignature=false"),  # would run the repository's gpg.program
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    # A missing object of a partial clone is fetched by whatever transport the repository names; an older git does
    # not know the line above. This one wins over the repository's own protocol.*.allow, and no transport has this name.
    "GIT_ALLOW_PROTOCOL": "none",
}
# All else of GIT_* would have git look at another repository, or at this one in another way.
_KEPT = {
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
}
_SLICE_SECONDS = 0.2


class GitFailed(Exception):
    """Git refused, and said why; callers turn it into what it means to them."""

    def __init__(self, message: str, output: bytes = b"") -> None:
        super().__init__(message)
        self.message = message
        self.output = output


def started(
    folder: str, *arguments: str, stdin: int = subprocess.DEVNULL, stdout: int | IO[bytes] = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """A git that is at work in the folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    try:
        return subprocess.Popen(
            ["git", *_OPTIONS, *arguments],  # noqa: S607  git is where the user has it
            cwd=folder,
            env=environment | _ENVIRONMENT,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE if stdin == subprocess.DEVNULL else subprocess.DEVNULL,
        )
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.filename != folder:
            raise Unavailable("git is not installed", hint="install git, and see that it is on the PATH") from error
        raise Unavailable(
            f"git cannot be started in {folder} ({error.strerror})", hint="see whether the folder is still there"
        ) from error


def ended(process: subprocess.Popen[bytes]) -> None:
    """See to it that the process is gone, with its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):  # what it was still to be told
                pipe.close()


class Asked:
    """A question that git is answering; several may be open at once. It ends with its block."""

    def __init__(self, folder: str, bounds: Bounds, *arguments: str, stdout: int | IO[bytes] = subprocess.PIPE) -> None:
        self._bounds = bounds
        self._process = started(folder, *arguments, stdout=stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ended(self._process)

    def answer(self) -> bytes:
        """All that it says, once it has said it."""
        while True:
            self._bounds.check()
            try:
                said, errors = self._process.communicate(timeout=_SLICE_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            output = self._output(said)
            if self._process.returncode:
                raise GitFailed(errors.decode("utf-8", "replace").strip(), output)
            return output

    def _output(self, said: bytes | None) -> bytes:
        return said or b""


class AskedMuch(Asked):
    """The same for an answer that takes a while: it goes into a file, so that nobody wakes for each piece of it."""

    def __init__(self, folder: str, bounds: Bounds, *arguments: str) -> None:
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  it is closed with the block
        except OSError as error:
            raise Unavailable(
                f"there is no room for what git tells ({error.strerror})", hint="free some space"
            ) from error
        try:
            super().__init__(folder, bounds, *arguments, stdout=self._file)
        except BaseException:
            self._file.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._file.close()

    def _output(self, said: bytes | None) -> bytes:
        self._file.seek(0)
        return self._file.read()


def ask(folder: str, bounds: Bounds, *arguments: str) -> bytes:
    """What git answers in the folder."""
    with Asked(folder, bounds, *arguments) as asked:
        return asked.answer()


def refusal(root: str, failed: GitFailed) -> ScrubjayError:
    """What git's refusal means to whoever asked for the folder."""
    if "dubious ownership" in failed.message:
        return Forbidden(
            f"git does not trust the repository at {root}, because it belongs to someone else",
            hint=f"if you trust it: git config --global --add safe.directory {root}",
        )
    if "safe.bareRepository" in failed.message:
        return Forbidden(
            f"git is told not to use bare repositories such as {root}",
            hint="set safe.bareRepository to all in git's global configuration, or index a work tree",
        )
    said = failed.message.splitlines()[-1].removeprefix("fatal: ") if failed.message else "it ended without a word"
    return Unavailable(f"git cannot read {root}: {said}", hint=f"see what `git -C {root} fsck` says")
