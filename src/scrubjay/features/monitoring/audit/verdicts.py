"""Decisions of the permission rules as audit entries. Imports little, because hooks must start fast."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.core.ids import new_id
from scrubjay.features.hooks.models import HookAnswer, HookCall
from scrubjay.features.monitoring.audit.file import FILE_NAME, SharedLines
from scrubjay.features.monitoring.audit.lines import line_of, new_entry
from scrubjay.features.permissions.models import Effect

if TYPE_CHECKING:
    from scrubjay.tooling.events import Decision

_DECISIONS: "Mapping[Effect, Decision]" = {Effect.ALLOW: "allowed", Effect.DENY: "refused", Effect.ASK: "asked"}


class Verdict(NamedTuple):
    """A decision on a call, without the input of the call."""

    decision: "Decision"
    tool: str
    client: str | None
    rule_ids: list[str]


def verdict_of(call: HookCall, answer: HookAnswer) -> Verdict | None:
    """Return the decision to audit; None when no rule matched."""
    verdict = answer.verdict
    if verdict is None or verdict.effect is None:
        return None
    rule_ids = [verdict.rule.id] if verdict.rule is not None else []
    return Verdict(_DECISIONS[verdict.effect], call.tool_name, call.client, rule_ids)


def write_verdict(home: Path, verdict: Verdict, surface: str) -> None:
    """Append the decision at once, for a process without a server; a server rotates the file. Raises `OSError`."""
    fields: dict[str, Any] = {"surface": surface, "tool": verdict.tool}
    if verdict.client is not None:
        fields["client"] = verdict.client
    if verdict.rule_ids:
        fields["ids"] = verdict.rule_ids
    entry = new_entry(time.time(), "verdict", verdict.decision, fields)
    lines = SharedLines(home / FILE_NAME, max_bytes=sys.maxsize, keep_files=1)
    try:
        lines.append(line_of(new_id("aud"), entry))
    finally:
        lines.close()
