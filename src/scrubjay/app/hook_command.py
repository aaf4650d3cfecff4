"""`scrubjay hook EVENT`: answers a coding agent within 2 seconds, whatever happens, and imports little to do so."""

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.core.lazy import lazy_module

# The modules load inside `main`, where its time limit and its error handling cover them.
if TYPE_CHECKING:
    import socket
    import time

    from scrubjay.app import server_file
    from scrubjay.core import ip_addresses, process_age
    from scrubjay.features.hooks import context_text, hook_reader, models, spool
    from scrubjay.features.monitoring.audit import verdicts
    from scrubjay.features.permissions import decision
    from scrubjay.features.permissions import paths as permission_paths
    from scrubjay.search_index import terms as search_terms
    from scrubjay.servers.hooks import formats
else:
    socket = lazy_module("socket")
    time = lazy_module("time")
    server_file = lazy_module("scrubjay.app.server_file")
    ip_addresses = lazy_module("scrubjay.core.ip_addresses")
    process_age = lazy_module("scrubjay.core.process_age")
    context_text = lazy_module("scrubjay.features.hooks.context_text")
    hook_reader = lazy_module("scrubjay.features.hooks.hook_reader")
    models = lazy_module("scrubjay.features.hooks.models")
    spool = lazy_module("scrubjay.features.hooks.spool")
    verdicts = lazy_module("scrubjay.features.monitoring.audit.verdicts")
    decision = lazy_module("scrubjay.features.permissions.decision")
    permission_paths = lazy_module("scrubjay.features.permissions.paths")
    search_terms = lazy_module("scrubjay.search_index.terms")
    formats = lazy_module("scrubjay.servers.hooks.formats")

# After this the agent gets `{}`, or is asked about a permission, whatever is still running.
TIMEOUT_SECONDS = 2.0
# How long to wait for a server, unless a setting says otherwise, before the store is read directly. An agent should
# have its answer after 0.15 seconds, so the limit shrinks where starting a process is slow: at the age of
# `READ_STORE_AT_AGE` seconds this process must start to read the store.
MAX_SERVER_SECONDS, MIN_SERVER_SECONDS = 0.06, 0.02
READ_STORE_AT_AGE = 0.1
MAX_INPUT_BYTES, MAX_ANSWER_BYTES = 16 * 1024 * 1024, 1024 * 1024
BRIEFING_TOKENS, PROMPT_TOKENS = 600, 400
MAX_LATEST, MAX_PREFERENCES, MAX_HINTS, MAX_PLANS = 5, 10, 5, 3
# Share of the briefing for the last session, as in the briefing of a server.
LAST_WORK_SHARE = 0.45
MAX_QUESTION_CHARACTERS = 2_000
DATABASE = "scrubjay.db"
# The event whose answer can be to ask the user.
_ASKING_EVENT = b'"PreToolUse"'
_FALSE = ("false", "0", "no", "off")
_LATEST_KINDS = ("general", "decision", "context", "correction")
# True while a call waits for the rules of a store: a failure must then ask the user, because a rule may deny the call.
_asks_on_failure = False


def main(arguments: list[str]) -> None:
    """Print the answer and exit with 0, always: an agent may take any other exit code for a refusal."""
    signal.signal(signal.SIGALRM, _time_out)
    signal.setitimer(signal.ITIMER_REAL, TIMEOUT_SECONDS)
    try:
        answer = _answer(arguments)
    except BaseException as error:
        _fail(f"{type(error).__name__}: {error}")
    else:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _exit(answer)


def _time_out(_: int, __: object) -> None:
    _fail(f"no answer within {TIMEOUT_SECONDS:g} seconds")


def _fail(problem: str) -> None:
    """Print the answer of a failed hook. It never stops the agent, but it never lets a denied call pass either.

    Nothing is imported for it: an import may be what failed.
    """
    decided = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": f"the permission rules cannot be evaluated: {problem[:500]}",
    }
    _exit({"hookSpecificOutput": decided} if _asks_on_failure else {}, problem)


def _exit(answer: dict[str, Any], problem: str | None = None) -> None:
    try:
        unwritten = json.dumps(answer).encode() + b"\n"
        while unwritten:
            unwritten = unwritten[os.write(1, unwritten) :]
        if problem is not None:
            _warn(problem)
    finally:
        os._exit(0)  # a regular exit would fail with another code if standard output is closed


def _warn(problem: str) -> None:
    try:
        os.write(2, f"scrubjay hook: {problem[:500]}\n".encode("utf-8", "replace"))
    except OSError:
        return  # standard error is closed


def _answer(arguments: list[str]) -> dict[str, Any]:
    name, home = _parse_arguments(arguments)
    event = formats.parse_event(name)
    body = _read_input(home, event)
    if len(body) > MAX_INPUT_BYTES:
        raise ValueError(f"the input is longer than {MAX_INPUT_BYTES} bytes")
    call = formats.parse_call(event, json.loads(body), os.environ.get("CLAUDE_PROJECT_DIR"))
    answer = _from_server(home, event, body) or _from_store(home, call)
    _audit(home, call, answer)
    return formats.format_answer(call, answer)


def _read_input(home: Path, event: "models.HookEvent") -> bytes:
    """Return the input, cut after `MAX_INPUT_BYTES` and one more.

    For a permission, ask the user on a failure from the moment that the name `PreToolUse` has arrived: the input may be
    invalid or too long, or may never end. For a `PermissionRequest` the agent is already asking.
    """
    global _asks_on_failure
    body = bytearray()
    may_ask = event is models.HookEvent.PERMISSION and _has_store(home)
    while len(body) <= MAX_INPUT_BYTES and (chunk := os.read(0, MAX_INPUT_BYTES + 1 - len(body))):
        tail = max(0, len(body) - len(_ASKING_EVENT))
        body += chunk
        is_too_long = len(body) > MAX_INPUT_BYTES
        _asks_on_failure = _asks_on_failure or (may_ask and (is_too_long or body.find(_ASKING_EVENT, tail) >= 0))
    return bytes(body)


def _has_store(home: Path) -> bool:
    try:
        return (home / DATABASE).exists()
    except OSError:
        return True  # it cannot be read, so it may have rules


def _parse_arguments(arguments: list[str]) -> tuple[str, Path]:
    """Return the event and the store's folder.

    Settings files of the working directory are ignored: a repository could bring them, and with them a store whose
    permission rules allow everything.
    """
    home = os.environ.get("SCRUBJAY_HOME") or "~/.scrubjay"
    if "--home" in arguments:
        index = arguments.index("--home")
        home = arguments[index + 1]
        arguments = arguments[:index] + arguments[index + 2 :]
    (name,) = arguments
    return name, Path(os.path.abspath(os.path.expanduser(home)))  # noqa: PTH100, PTH111


# -- answers of a server -------------------------------------------------------------------------------


def _from_server(home: Path, event: "models.HookEvent", body: bytes) -> "models.HookAnswer | None":
    """Return the answer of a server of this store; None if the store must be read instead.

    A server is only asked for context, which it can find by meaning. Its answer cannot decide a permission.
    """
    if event not in (models.HookEvent.SESSION_START, models.HookEvent.USER_PROMPT_SUBMIT):
        return None
    url = server_file.server_url(home)
    if url is None:
        return None
    try:
        answer = _post(url, f"/v1/hooks/{event}", body, server_seconds(process_age.process_age()))
        context = answer["hookSpecificOutput"]["additionalContext"] if answer else None
        if context is not None and not isinstance(context, str):
            raise ValueError("the answer has another format")
        return models.HookAnswer(context=context)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        _warn(f"the server did not answer ({error}); the store was read instead")
        return None


def server_seconds(age: float) -> float:
    """Return how long to wait for a server in a process that is `age` seconds old, within the bounds for any age."""
    if milliseconds := _number("SERVER_MS"):
        return min(milliseconds / 1000, TIMEOUT_SECONDS)
    return min(MAX_SERVER_SECONDS, max(MIN_SERVER_SECONDS, READ_STORE_AT_AGE - age))


def _post(url: str, path: str, body: bytes, seconds: float) -> Any:
    """Return the JSON answer; `OSError` if the whole exchange takes longer than `seconds`."""
    authority = url.removeprefix("http://")
    host, _, port = authority.rpartition(":")
    host = host.strip("[]")
    if host != "127.0.0.1" and not ip_addresses.is_loopback_host(host):
        raise ValueError(f"{host} is another machine")  # neither the prompt nor the key may leave this one
    key = os.environ.get("SCRUBJAY_API_KEY", "")
    authorization = f"Authorization: Bearer {key}\r\n" if key.isprintable() and key else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n{authorization}"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    received, deadline = bytearray(), time.monotonic() + seconds

    def remaining() -> float:
        if (rest := deadline - time.monotonic()) <= 0:
            raise TimeoutError("timed out")
        return rest

    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        connection.settimeout(remaining())
        connection.sendall(head.encode() + body)
        connection.settimeout(remaining())
        while chunk := connection.recv(65536):
            received += chunk
            if len(received) > MAX_ANSWER_BYTES:
                raise ValueError(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
            connection.settimeout(remaining())
    status, _, rest = bytes(received).partition(b"\r\n")
    if status.split(b" ")[1:2] != [b"200"]:
        raise ValueError(f"it answered {status[:80].decode('ascii', 'replace')}")
    return json.loads(rest.partition(b"\r\n\r\n")[2])


# -- answers from the store ----------------------------------------------------------------------------


def _from_store(home: Path, call: "models.HookCall") -> "models.HookAnswer":
    """Return the answer read from the store. Writes are spooled for a process that has the store open."""
    events = models.HookEvent
    if call.event in (events.USER_PROMPT_SUBMIT, events.POST_TOOL_USE, events.STOP):
        _spool(home, call)
    if call.event in (events.POST_TOOL_USE, events.STOP) or not (home / DATABASE).exists():
        return models.HookAnswer()
    with hook_reader.open_hook_reader(home / DATABASE) as store:
        if call.event is events.PERMISSION:
            rules = store.rules(_paths(call))
            return models.HookAnswer(decision.decide(rules, call.tool_name, call.tool_input))
        if call.event is events.SESSION_START:
            return models.HookAnswer(context=_briefing(store, call))
        return models.HookAnswer(context=_hints(store, call))


def _audit(home: Path, call: "models.HookCall", answer: "models.HookAnswer") -> None:
    if answer.verdict is None or answer.verdict.effect is None or _is_off("AUDIT_ENABLED"):
        return
    try:
        if verdict := verdicts.verdict_of(call, answer):
            verdicts.write_verdict(home, verdict, "hook")
    except OSError as error:  # the verdict stands
        _warn(f"the audit log cannot be written ({error})")


def _spool(home: Path, call: "models.HookCall") -> None:
    is_off = _is_off("SESSIONS_HISTORY" if call.event is models.HookEvent.POST_TOOL_USE else "HOOKS_KEEP_TURNS")
    if is_off or call.session_id is None or not home.exists():
        return
    try:
        if not spool.spool_call(home, context_text.redact_call(call)):
            _warn("the spool is full, so this event is not stored; start `scrubjay serve` once to empty it")
    except OSError as error:  # the agent still gets its context
        _warn(f"this event cannot be stored ({error})")


def _paths(call: "models.HookCall") -> list[str]:
    return permission_paths.paths_of(call.folders)


def _project_id(store: "hook_reader.HookReader", call: "models.HookCall") -> str | None:
    project = store.project([path for path in _paths(call) if path != "/"])
    return project.id if project else None


def _briefing(store: "hook_reader.HookReader", call: "models.HookCall") -> str | None:
    project_id = _project_id(store, call)
    preferences = store.latest(project_id, ("preference",), MAX_PREFERENCES)
    notes = [*preferences, *store.latest(project_id, _LATEST_KINDS, MAX_LATEST)]
    tokens = _tokens("BRIEF", BRIEFING_TOKENS)
    lines: list[str] = []
    if ending := store.last_work(project_id, call.session_id):
        lines += [f"Last work: {ending.title}", *ending.lines(round(LAST_WORK_SHARE * 4 * tokens))]
    lines += [context_text.format_plan("task", *task) for task in store.tasks(project_id, MAX_PLANS)]
    lines += [context_text.format_plan("goal", *goal) for goal in store.goals(project_id, MAX_PLANS)]
    lines += [context_text.format_note(note.category, note.content) for note in notes]
    return context_text.format_context(context_text.BRIEF_HEADING, lines, tokens)


def _hints(store: "hook_reader.HookReader", call: "models.HookCall") -> str | None:
    terms = [*dict.fromkeys(search_terms.significant_terms(call.prompt[:MAX_QUESTION_CHARACTERS]))]
    min_matches = min(len(terms), 2 if len(terms) < 8 else 3)
    kinds = (*_LATEST_KINDS, "preference")
    notes = store.matching(_project_id(store, call), kinds, terms, min_terms=min_matches, limit=MAX_HINTS)
    lines = [context_text.format_note(note.category, note.content) for note in notes]
    return context_text.format_context(context_text.HINTS_HEADING, lines, _tokens("PROMPT", PROMPT_TOKENS))


def _is_off(name: str) -> bool:
    return os.environ.get(f"SCRUBJAY_{name}", "").lower() in _FALSE


def _tokens(name: str, default: int) -> int:
    number = _number(f"{name}_TOKENS")
    return default if number is None else number


def _number(name: str) -> int | None:
    text = os.environ.get(f"SCRUBJAY_HOOKS_{name}", "")
    return int(text) if text.isdecimal() else None
