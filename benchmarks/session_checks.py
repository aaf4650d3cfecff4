"""Measure how much of a session its extractive summary and the recap keep, by checklists written beforehand.

A checklist has points of a request, decisions, final state, open points, files and pull requests, as phrases of the
turns, and phrases of rejected or replaced work that must not appear. A point is found if one of its phrases is in the
summary or in the recap of the next session; markup and capitals are ignored.
"""

import argparse
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import anyio

from benchmarks.report import ReportRow
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext

DATA = Path(__file__).with_name("session_summaries") / "sessions.json"
PARTS = ("request", "decisions", "final_state", "open_points", "files_and_prs")
MIN_FOUND = 0.85
_MARKUP = re.compile(r"[*`_]")


@dataclass(frozen=True, slots=True)
class CheckedSession:
    """A session with its checklist; greetings have none."""

    name: str
    turns: Sequence[tuple[str, str]]
    """Prompts and responses."""
    checklist: Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The points of one session that were found."""

    found: Counter[str]
    total: Counter[str]
    all_phrases: Counter[str]
    """Points with every phrase found."""
    claimed: int
    """Points that must not be claimed, and are."""
    forbidden: int
    characters: int
    scores: Mapping[str, int]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=DATA, help="file with the sessions and their checklists")


def measure(options: argparse.Namespace) -> tuple[list[ReportRow], list[str]]:
    sessions, greetings = read_sessions(options.data)
    started = time.process_time()
    results, recaps = anyio.run(_run, [*sessions, *greetings])
    cpu = time.process_time() - started
    checked = [check(session, *texts) for session, texts in zip([*sessions, *greetings], results, strict=True)]
    worked, social = checked[: len(sessions)], checked[len(sessions) :]
    total = sum((one.total for one in worked), Counter[str]())
    found = sum((one.found for one in worked), Counter[str]())
    every = sum((one.all_phrases for one in worked), Counter[str]())
    rows = [ReportRow("points found", found.total() / total.total(), at_least=MIN_FOUND)]
    rows += [ReportRow(f"{part} ({total[part]})", found[part] / total[part]) for part in PARTS if total[part]]
    rows.append(ReportRow("points with every phrase", every.total() / total.total()))
    rows.append(ReportRow("must not be claimed, but is", sum(one.claimed for one in worked), at_most=0))
    if social:
        rows.append(ReportRow("quality of greetings, highest", max(one.scores["quality"] for one in social), at_most=5))
    rows.append(ReportRow("quality of work, lowest", min(one.scores["quality"] for one in worked)))
    rows.append(ReportRow("characters of a summary, mean", fmean(one.characters for one in worked)))
    notes = [
        f"{len(sessions)} sessions with {total.total()} points, "
        f"{sum(one.forbidden for one in worked)} points that must not be claimed, {len(greetings)} greetings",
        f"the recap of the last session has {fmean(map(len, recaps)):.0f} characters on average",
        f"remembering, summarising and recapitulating took {cpu:.1f} s CPU",
    ]
    return rows, notes


def read_sessions(path: Path) -> tuple[list[CheckedSession], list[CheckedSession]]:
    """Return the sessions of work and those of greetings."""
    data = json.loads(path.read_text("utf-8"))
    return [_session(one) for one in data["sessions"]], [_session(one) for one in data["greetings"]]


def check(session: CheckedSession, summary: Mapping[str, Any], recap: str) -> CheckResult:
    """Compare the summary and the recap of a session with its checklist."""
    text = normalize(f"{summary['title']}\n{summary['summary']}\n{recap}")
    found, total, every = Counter[str](), Counter[str](), Counter[str]()
    for part in PARTS:
        points = session.checklist.get(part, ())
        total[part] = len(points)
        found[part] = sum(any(normalize(phrase) in text for phrase in point) for point in points)
        every[part] = sum(all(normalize(phrase) in text for phrase in point) for point in points)
    forbidden = session.checklist.get("must_not_claim", ())
    claimed = sum(any(normalize(phrase) in text for phrase in point) for point in forbidden)
    scores = {name: int(summary[name]) for name in ("quality", "productivity", "impact", "complexity")}
    return CheckResult(found, total, every, claimed, len(forbidden), len(summary["summary"]), scores)


def normalize(text: str) -> str:
    return " ".join(_MARKUP.sub("", text).casefold().split())


def _session(one: dict[str, Any]) -> CheckedSession:
    checklist: dict[str, list[list[str]]] = {}
    for part, points in cast(dict[str, list[Any]], one.get("checklist", {})).items():
        # A request is one point; each file is a point of one phrase.
        listed: list[Any] = [points] if part == "request" else points
        checklist[part] = [[point] if isinstance(point, str) else list(point) for point in listed]
    return CheckedSession(one["name"], _turns(one["turns"]), checklist)


def _turns(messages: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    """Return prompts and responses; consecutive messages of one role are joined."""
    turns: list[tuple[list[str], list[str]]] = []
    for message in messages:
        if message["role"] == "user":
            if not turns or turns[-1][1]:
                turns.append(([], []))
            turns[-1][0].append(message["text"])
        else:
            if not turns:
                turns.append(([], []))
            turns[-1][1].append(message["text"])
    return [("\n".join(prompts), "\n".join(responses)) for prompts, responses in turns]


async def _run(sessions: Sequence[CheckedSession]) -> tuple[list[tuple[dict[str, Any], str]], list[str]]:
    """Store each session in a project of its own; return its summary with the recap that the next session gets."""
    found: list[tuple[dict[str, Any], str]] = []
    recaps: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        async with running(Settings(home=Path(folder) / "home")) as application:
            for number, session in enumerate(sessions):

                async def call(tool: str, client: str, **arguments: Any) -> dict[str, Any]:
                    context = CallContext(surface="python", client=client)
                    answer = await application.dispatcher.call(tool, arguments, context)
                    return answer.model_dump(mode="json")

                client, project = f"worker-{number}", f"/benchmark/{number}"
                await call("session_start", client, project_path=project)
                for prompt, response in session.turns:
                    stored = await call("add_memory", client, prompt=prompt, thought="", response=response)
                next_client = f"next-{number}"
                await call("set_project", next_client, path=project)
                without = await call("get_session_recap", next_client)
                await call("summarize_sessions", client, sessionId=stored["sessionId"])  # pyright: ignore[reportPossiblyUnboundVariable]
                recap = await call("get_session_recap", next_client)
                (summary,) = (await call("get_all_summaries", client))["summaries"]
                found.append((summary, recap["text"]))
                recaps.append(without["text"])
    return found, recaps
