"""The examples of docs/knowledge.md do what the page says."""

import json
import re
from pathlib import Path
from typing import Any, get_args

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.knowledge import inference as inferring
from scrubjay.features.knowledge import traversal as walking
from scrubjay.features.knowledge.entity_resolution import LEAD, SAME_MEANING
from scrubjay.features.knowledge.rules import INVERSES, KNOWN, SYMMETRIC, TRANSITIVE
from scrubjay.features.knowledge.service import CLOSURE_LEAST, SEARCH_LEAST
from scrubjay.features.knowledge.tools import MAX_BATCH, Operation
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "knowledge.md").read_text("utf-8")


async def test_086_089_the_page_about_knowledge_tells_what_is_answered(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    reached, proved = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    answers: list[dict[str, Any]] = []
    async with running(Settings(home=tmp_path)) as application:
        for tool, arguments in examples:
            context = CallContext(surface="python", client="reader")
            answer = await application.dispatcher.call(tool, json.loads(arguments), context)
            answers.append(answer.model_dump(mode="json"))
    text, one, _, closure, known, proof, gone = answers
    assert (text["triples_created"], text["method"], text["not_understood"]) == (4, "rules", ["They are nice."])
    assert (one["status"], one["triples"][0]["ttl"]) == ("learned", 86400)
    told = [
        f"{found['id']} {found['depth']} step{'s' if found['depth'] > 1 else ''} {found['confidence']}\n"
        for found in closure["results"]
    ]
    assert "".join(told) == reached
    assert (known["entity"], len(known["relationships"]["incoming"])) == ("entity:postgresql", 1)
    assert f"{proof['proof']} {proof['confidence']}\n" == proved
    assert (gone["count"], sorted(gone["entities_forgotten"])) == (2, ["entity:ann", "entity:bob", "entity:carol"])


def test_086_089_the_page_has_every_operation_predicate_and_number() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.M) == [*get_args(Operation)]
    assert all(f"`{name}`" in PAGE for name in KNOWN)
    (transitive,) = re.findall(r"^\| transitive \| (.*) \|$", PAGE, re.M)
    (inverse,) = re.findall(r"^\| inverse \| (.*) \|$", PAGE, re.M)
    (symmetric,) = re.findall(r"^\| symmetric \| (.*) \|$", PAGE, re.M)
    assert {*re.findall(r"\w+", transitive)} == {*TRANSITIVE}
    assert {*re.findall(r"\w+", symmetric)} == {*SYMMETRIC}
    both = re.findall(r"`(\w+)` and `(\w+)`", inverse)
    one_way = re.findall(r"`(\w+)` gives `(\w+)`", inverse)
    assert dict([*both, *((other, one) for one, other in both), *one_way]) == INVERSES
    assert f"{walking.MOST_EDGES:,} triples at most" in PAGE
    assert walking.MOST_SECONDS == 5
    numbers = (SAME_MEANING, LEAD, CLOSURE_LEAST, SEARCH_LEAST, inferring.INFERRED_LEAST, inferring.DECAY)
    assert numbers == (0.85, 0.1, 0.7, 0.5, 0.8, 0.1)
    assert f"up to {MAX_BATCH} at" in PAGE
