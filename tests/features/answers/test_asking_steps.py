"""The progress steps of a question (feature 6)."""

from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.progress import AnswerStep, StepKind
from scrubjay.tooling.context import CallContext


async def test_6_a_store_that_cannot_answer_is_reported_as_a_fallback_step(tmp_path: Path) -> None:
    steps: list[AnswerStep] = []
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        await application.dispatcher.call(
            "ask_mimo",
            {"query": "How do we fix a bug or an error?", "timeout_ms": 60_000},
            CallContext(surface="python", on_step=steps.append),
        )
    assert [step.kind for step in steps] == [
        StepKind.ROUTING,
        StepKind.FALLBACK,
        StepKind.MEMORY_RECALL,
        StepKind.MEMORY_RECALL,
    ]
    assert steps[0].confidence is not None
    assert steps[1].content == (
        "procedural memory: this server has no procedural memory yet; episodic memory was queried instead"
    )
