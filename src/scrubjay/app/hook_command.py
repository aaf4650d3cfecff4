"""`scrubjay hook EVENT`: answers an agent's program in a moment, whatever happens, and loads little to do so."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay.features.hooks.hook_reader import Glance
    from scrubjay.features.hooks.models import HookAnswer, HookCall, HookEvent

# After this an agent is answered `{}`, whatever is still under way.
PATIENCE_SECONDS = 2.0
# How long a server may take, unless the settings say it; then the store is looked at. Where it takes long to start a
# process it is less: an agent is to be answered in 0.15 seconds, and by this age a process has to look at the store.
MOST_SERVER_SECONDS, LEAST_SERVER_SECONDS = 0.06, 0.02
LOOKS_ITSELF_AT_AGE = 0.1
MOST_BYTES, MOST_ANSWERED_BYTES = 16 * 1024 * 1024, 1024 * 1024
BRIEF_TOKENS, PROMPT_TOKENS = 600, 400
MOST_LATEST, MOST_PREFERENCES, MOST_HINTS = 5, 10, 5
QUESTION_CHARACTERS = 2_000
DATABASE = "scrubjay.db"
_OFF = ("false", "0", "no", "off")
_LATEST_KINDS = ("general", "decision", "context", "correction")


def main(arguments: list[str]) -> None:
    """Answer on standard output and end with 0, always: to an agent any other end may mean `no`."""
    signal.signal(signal.SIGALRM, _lose_patience)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_SECONDS)
    try:
        answer = _answer(arguments)
    except BaseException as error:
        _end({}, f"{type(error).__name__}: {error}")
    else:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _end(answer)


def _lose_patience(_: int, __: object) -> None:
    _end({}, "no answer could be made in time")


def _end(answer: dict[str, Any], problem: str | None = None) -> None:
    try:
        left = json.dumps(answer).encode() + b"\n"
        while left:
            left = left[os.write(1, left) :]
        if problem is not None:
            _complain(problem)
    finally:
        os._exit(0)  # also when nobody takes the answer: Python's own end would tell of that


def _complain(problem: str) -> None:
    try:
        os.write(2, f"scrubjay hook: {problem[:500]}\n".encode("utf-8", "replace"))
    except OSError:
        return  # nobody reads it


def _answer(arguments: list[str]) -> dict[str, Any]:
    from scrubjay.servers.hooks.formats import event_named, read_call, written

    name, home = _choices(arguments)
    event = event_named(name)
    told = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(told) > MOST_BYTES:
        raise ValueError("what was told is too long")
    call = read_call(event, json.loads(told), os.environ.get("CLAUDE_PROJECT_DIR"))
    answer = _from_server(home, event, told) or _from_store(home, call)
    _audit(home, call, answer)
    return written(call, answer)


def _choices(arguments: list[str]) -> tuple[str, Path]:
    """The event and the store's folder. Files in the working directory are not heeded: a repository could bring them,
    and with them a store whose rules allow everything."""
    given = os.environ.get("SCRUBJAY_HOME") or "~/.scrubjay"
    if "--home" in arguments:
        place = arguments.index("--home")
        given = arguments[place + 1]
        arguments = arguments[:place] + arguments[place + 2 :]
    (name,) = arguments
    return name, Path(os.path.abspath(os.path.expanduser(given)))  # noqa: PTH100, PTH111


# -- by a server ---------------------------------------------------------------------------------------


def _from_server(home: Path, event: "HookEvent", told: bytes) -> "HookAnswer | None":
    """What a server of this store answers; None when the store has to be looked at.

    Only asked for what it knows better: it searches by meaning. Whatever it answers, an agent is only told something.
    """
    from scrubjay.app.server_file import listening
    from scrubjay.features.hooks.models import HookAnswer, HookEvent

    if event not in (HookEvent.SESSION_START, HookEvent.USER_PROMPT_SUBMIT):
        return None
    url = listening(home)
    if url is None:
        return None
    try:
        answer = _post(url, f"/v1/hooks/{event}", told, server_seconds(_age()))
        context = answer["hookSpecificOutput"]["additionalContext"] if answer else None
        if context is not None and not isinstance(context, str):
            raise ValueError("it answered something else")
        return HookAnswer(context=context)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        _complain(f"the server did not answer ({error}); the store was read")
        return None


def server_seconds(age: float) -> float:
    """How long a server may take when this process has this age; within the bounds also when that cannot be true."""
    if given := _number("SERVER_MS"):
        return min(given / 1000, PATIENCE_SECONDS)
    return min(MOST_SERVER_SECONDS, max(LEAST_SERVER_SECONDS, LOOKS_ITSELF_AT_AGE - age))


def _age() -> float:
    """How many seconds ago this process was started, as far as the system tells that."""
    import time

    try:
        started = int(Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, LookupError, AttributeError):  # it tells it elsewhere
        return 0.0


def _post(url: str, path: str, body: bytes, seconds: float) -> Any:
    """What is answered within so many seconds, all in all; else `OSError`."""
    import socket
    import time

    authority = url.removeprefix("http://")
    host, _, port = authority.rpartition(":")
    host = host.strip("[]")
    if host not in ("127.0.0.1", "::1", "localhost") and not host.startswith("127."):
        raise ValueError(f"{host} is another machine")  # which neither the prompt nor the key is for
    key = os.environ.get("SCRUBJAY_API_KEY", "")
    authorization = f"Authorization: Bearer {key}\r\n" if key.isprintable() and key else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n{authorization}"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    received, deadline = bytearray(), time.monotonic() + seconds

    def left() -> float:
        if (rest := deadline - time.monotonic()) <= 0:
            raise TimeoutError("it takes too long")
        return rest

    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        connection.settimeout(left())
        connection.sendall(head.encode() + body)
        connection.settimeout(left())
        while chunk := connection.recv(65536):
            received += chunk
            if len(received) > MOST_ANSWERED_BYTES:
                raise ValueError("its answer has no end")
            connection.settimeout(left())
    status, _, rest = bytes(received).partition(b"\r\n")
    if status.split(b" ")[1:2] != [b"200"]:
        raise ValueError(f"it answered {status[:80].decode('ascii', 'replace')}")
    return json.loads(rest.partition(b"\r\n\r\n")[2])


# -- by the store itself -------------------------------------------------------------------------------


def _from_store(home: Path, call: "HookCall") -> "HookAnswer":
    """What the store tells at a glance. What is to be kept is left for a process that has the store open."""
    from scrubjay.features.hooks.models import HookAnswer, HookEvent

    if call.event in (HookEvent.USER_PROMPT_SUBMIT, HookEvent.POST_TOOL_USE, HookEvent.STOP):
        _leave(home, call)
    if call.event in (HookEvent.POST_TOOL_USE, HookEvent.STOP) or not (home / DATABASE).exists():
        return HookAnswer()
    from scrubjay.features.hooks.hook_reader import glance

    with glance(home / DATABASE) as store:
        match call.event:
            case HookEvent.PERMISSION:
                from scrubjay.features.permissions.models import decide

                return HookAnswer(decide(store.rules(_paths(call)), call.tool_name, call.tool_input))
            case HookEvent.SESSION_START:
                return HookAnswer(context=_brief(store, call))
            case _:
                return HookAnswer(context=_hints(store, call))


def _audit(home: Path, call: "HookCall", answer: "HookAnswer") -> None:
    if answer.verdict is None or answer.verdict.effect is None or _is_off("AUDIT_ENABLED"):
        return
    from scrubjay.features.monitoring.audit.verdicts import permission_event, write_decision

    try:
        if event := permission_event(call, answer, "hook"):
            write_decision(home, event)
    except OSError as error:  # the verdict holds all the same
        _complain(f"the audit log cannot be written ({error})")


def _leave(home: Path, call: "HookCall") -> None:
    from scrubjay.features.hooks.context_text import without_secrets
    from scrubjay.features.hooks.models import HookEvent
    from scrubjay.features.hooks.spool import leave

    is_off = _is_off("SESSIONS_HISTORY" if call.event is HookEvent.POST_TOOL_USE else "HOOKS_KEEP_TURNS")
    if is_off or call.session_id is None or not home.exists():
        return
    try:
        if not leave(home, without_secrets(call)):
            _complain("too much is waiting to be kept; start `scrubjay serve` once")
    except OSError as error:  # what is known can be told all the same
        _complain(f"this cannot be kept ({error})")


def _paths(call: "HookCall") -> list[str]:
    from scrubjay.features.permissions.paths import paths_of

    return paths_of(call.folders)


def _project_id(store: "Glance", call: "HookCall") -> str | None:
    project = store.project([path for path in _paths(call) if path != "/"])
    return project.id if project else None


def _brief(store: "Glance", call: "HookCall") -> str | None:
    from scrubjay.features.hooks.context_text import BRIEF, as_context, note_line

    project_id = _project_id(store, call)
    preferences = store.latest(project_id, ("preference",), MOST_PREFERENCES)
    notes = [*preferences, *store.latest(project_id, _LATEST_KINDS, MOST_LATEST)]
    return as_context(BRIEF, [note_line(note.category, note.content) for note in notes], _tokens("BRIEF", BRIEF_TOKENS))


def _hints(store: "Glance", call: "HookCall") -> str | None:
    from scrubjay.features.hooks.context_text import HINTS, as_context, note_line
    from scrubjay.search_index.terms import telling_terms

    terms = [*dict.fromkeys(telling_terms(call.prompt[:QUESTION_CHARACTERS]))]
    least = min(len(terms), 2 if len(terms) < 8 else 3)
    kinds = (*_LATEST_KINDS, "preference")
    found = store.fitting(_project_id(store, call), kinds, terms, least=least, limit=MOST_HINTS)
    lines = [note_line(note.category, note.content) for note in found]
    return as_context(HINTS, lines, _tokens("PROMPT", PROMPT_TOKENS))


def _is_off(name: str) -> bool:
    return os.environ.get(f"SCRUBJAY_{name}", "").lower() in _OFF


def _tokens(name: str, usual: int) -> int:
    given = _number(f"{name}_TOKENS")
    return usual if given is None else given


def _number(name: str) -> int | None:
    given = os.environ.get(f"SCRUBJAY_HOOKS_{name}", "")
    return int(given) if given.isdecimal() else None
