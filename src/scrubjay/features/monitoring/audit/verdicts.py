"""What the audit log keeps of a verdict of the permission rules, also when no server is running."""

import sys
import time
from pathlib import Path
from typing import Any

from scrubjay.core.ids import new_id
from scrubjay.features.hooks.models import HookAnswer, HookCall
from scrubjay.features.monitoring.audit.entry import line_of
from scrubjay.features.monitoring.audit.file import FILE_NAME, SharedLines
from scrubjay.features.permissions.models import Effect

_DECISIONS = {Effect.ALLOW: "allowed", Effect.DENY: "refused", Effect.ASK: "asked"}


def verdict_told(call: HookCall, answer: HookAnswer, surface: str) -> dict[str, Any] | None:
    """Who, what and the decision; None when no rule had anything to say."""
    verdict = answer.verdict
    if verdict is None or verdict.effect is None:
        return None
    told: dict[str, Any] = {"decision": _DECISIONS[verdict.effect], "surface": surface, "tool": call.tool_name}
    if call.client is not None:
        told["client"] = call.client
    return told | ({"ids": [verdict.rule.id]} if verdict.rule is not None else {})


def write_verdict(home: Path, told: dict[str, Any]) -> None:
    """Append it at once, for a process that lives for a moment; servers put a long file aside. Raises `OSError`."""
    lines = SharedLines(home / FILE_NAME, max_bytes=sys.maxsize, keep_files=1)
    try:
        lines.append(line_of(new_id("aud"), {"created": time.time(), "kind": "verdict", **told}))
    finally:
        lines.close()
