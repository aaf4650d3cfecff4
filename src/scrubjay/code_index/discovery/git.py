"""Run git without running anything that the repository provides: hooks, filters, pagers, monitors or transports."""

import os
import subprocess
import tempfile
from contextlib import suppress
from types import TracebackType
from typing import IO, Self

from scrubjay.code_index.discovery.limits import Deadline
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
    # A partial clone fetches missing objects over whatever transport the repository names; older versions of git do
    # not know the variable above. This one overrides the repository's protocol.*.allow, and no transport has this name.
    "GIT_ALLOW_PROTOCOL": "none",
}
# Other GIT_* variables would point git at another repository, or change how it reads this one.
_KEPT = {
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
}
_SLICE_SECONDS = 0.2


class GitFailed(Exception):
    """Git exited with an error; callers translate it."""

    def __init__(self, message: str, output: bytes = b"") -> None:
        super().__init__(message)
        self.message = message
        self.output = output


def start_git(
    folder: str, *arguments: str, stdin: int = subprocess.DEVNULL, stdout: int | IO[bytes] = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start git in the folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    try:
        return subprocess.Popen(
            ["git", *_OPTIONS, *arguments],  # noqa: S607  the git on the user's PATH
            cwd=folder,
            env=environment | _ENVIRONMENT,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE if stdin == subprocess.DEVNULL else subprocess.DEVNULL,
        )
    except OSError as error:
        if isinstance(error, FileNotFoundError) and error.filename != folder:
            raise Unavailable("git is not installed", hint="install git and put it on the PATH") from error
        raise Unavailable(
            f"git cannot be started in {folder} ({error.strerror})", hint="check that the folder still exists"
        ) from error


def stop_process(process: subprocess.Popen[bytes]) -> None:
    """Kill the process, wait for it and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):  # unsent input is dropped
                pipe.close()


class GitCommand:
    """A running git command; several may run at once. Leaving the block kills it."""

    def __init__(
        self, folder: str, deadline: Deadline, *arguments: str, stdout: int | IO[bytes] = subprocess.PIPE
    ) -> None:
        self._deadline = deadline
        self._process = start_git(folder, *arguments, stdout=stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stop_process(self._process)

    def output(self) -> bytes:
        """Wait for the command and return its standard output."""
        while True:
            self._deadline.check()
            try:
                output, errors = self._process.communicate(timeout=_SLICE_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            result = self._read_output(output)
            if self._process.returncode:
                raise GitFailed(errors.decode("utf-8", "replace").strip(), result)
            return result

    def _read_output(self, output: bytes | None) -> bytes:
        return output or b""


class SpooledGitCommand(GitCommand):
    """A git command with long output, which goes to a temporary file so that this process sleeps until it ends."""

    def __init__(self, folder: str, deadline: Deadline, *arguments: str) -> None:
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed when the block is left
        except OSError as error:
            raise Unavailable(
                f"there is no disk space for git's output ({error.strerror})", hint="free some disk space"
            ) from error
        try:
            super().__init__(folder, deadline, *arguments, stdout=self._file)
        except BaseException:
            self._file.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._file.close()

    def _read_output(self, output: bytes | None) -> bytes:
        self._file.seek(0)
        return self._file.read()


def run_git(folder: str, deadline: Deadline, *arguments: str) -> bytes:
    """Run git in the folder and return its standard output."""
    with GitCommand(folder, deadline, *arguments) as asked:
        return asked.output()


def git_error(root: str, failed: GitFailed) -> ScrubjayError:
    """Translate a failure of git into an error for the caller."""
    if "dubious ownership" in failed.message:
        return Forbidden(
            f"git does not trust the repository at {root}, because it belongs to someone else",
            hint=f"if you trust it: git config --global --add safe.directory {root}",
        )
    if "safe.bareRepository" in failed.message:
        return Forbidden(
            f"git's configuration forbids bare repositories such as {root}",
            hint="set safe.bareRepository to all in git's global configuration, or index a work tree",
        )
    reason = (
        failed.message.splitlines()[-1].removeprefix("fatal: ") if failed.message else "it exited without a message"
    )
    return Unavailable(f"git cannot read {root}: {reason}", hint=f"run `git -C {root} fsck`")
