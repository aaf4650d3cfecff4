"""Decisions of the permission rules as events, and as audit entries when no server is running."""

import sys
from pathlib import Path

from scrubjay.core.ids import new_id
from scrubjay.features.hooks.models import HookAnswer, HookCall
from scrubjay.features.monitoring.audit.entry import line_of, permission_entry
from scrubjay.features.monitoring.audit.file import FILE_NAME, SharedLines
from scrubjay.features.permissions.models import Effect
from scrubjay.tooling.events import Decision, PermissionDecided, Requester

_DECISIONS: dict[Effect, Decision] = {Effect.ALLOW: "allowed", Effect.DENY: "refused", Effect.ASK: "asked"}


def permission_event(
    call: HookCall, answer: HookAnswer, surface: str, requester: Requester | None = None
) -> PermissionDecided | None:
    """Return the event of a decision; None when no rule matched."""
    verdict = answer.verdict
    if verdict is None or verdict.effect is None:
        return None
    return PermissionDecided(
        decision=_DECISIONS[verdict.effect],
        surface=surface,
        tool=call.tool_name,
        client=call.client,
        rule_ids=[verdict.rule.id] if verdict.rule is not None else (),
        requester=requester,
    )


def write_decision(home: Path, event: PermissionDecided) -> None:
    """Append the decision at once, for a process without a server; a server rotates the file. Raises `OSError`."""
    lines = SharedLines(home / FILE_NAME, max_bytes=sys.maxsize, keep_files=1)
    try:
        lines.append(line_of(new_id("aud"), permission_entry(event)))
    finally:
        lines.close()
