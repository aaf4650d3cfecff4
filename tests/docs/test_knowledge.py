"""The examples in docs/knowledge.md get the documented answers."""

import json
import re
from pathlib import Path
from typing import Any, get_args

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.knowledge import inference as inferring
from scrubjay.features.knowledge import traversal as walking
from scrubjay.features.knowledge.entity_resolution import MIN_LEAD, SAME_ENTITY_SIMILARITY
from scrubjay.features.knowledge.rules import INVERSES, STANDARD_PREDICATES, SYMMETRIC, TRANSITIVE
from scrubjay.features.knowledge.service import CLOSURE_MIN_CONFIDENCE, SEARCH_MIN_CONFIDENCE
from scrubjay.features.knowledge.tools import MAX_BATCH, Operation
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "knowledge.md").read_text("utf-8")


async def test_086_089_the_examples_get_the_documented_answers(tmp_path: Path) -> None:
    examples = re.findall(r"^```json (\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    reached, proved = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)
    answers: list[dict[str, Any]] = []
    async with running(Settings(home=tmp_path)) as application:
        for tool, arguments in examples:
            context = CallContext(surface="python", client="reader")
            answer = await application.dispatcher.call(tool, json.loads(arguments), context)
            answers.append(answer.model_dump(mode="json"))
    text, one, _, closure, known, proof, forgotten = answers
    assert (text["triples_created"], text["method"], text["not_understood"]) == (4, "rules", ["They are nice."])
    assert (one["status"], one["triples"][0]["ttl"]) == ("learned", 86400)
    steps = [
        f"{entity['id']} {entity['depth']} step{'s' if entity['depth'] > 1 else ''} {entity['confidence']}\n"
        for entity in closure["results"]
    ]
    assert "".join(steps) == reached
    assert (known["entity"], len(known["relationships"]["incoming"])) == ("entity:postgresql", 1)
    assert f"{proof['proof']} {proof['confidence']}\n" == proved
    assert (forgotten["count"], sorted(forgotten["entities_forgotten"])) == (
        2,
        ["entity:ann", "entity:bob", "entity:carol"],
    )


def test_086_089_the_page_states_every_operation_predicate_and_limit() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.M) == [*get_args(Operation)]
    assert all(f"`{name}`" in PAGE for name in STANDARD_PREDICATES)
    (transitive,) = re.findall(r"^\| transitive \| (.*) \|$", PAGE, re.M)
    (inverse,) = re.findall(r"^\| inverse \| (.*) \|$", PAGE, re.M)
    (symmetric,) = re.findall(r"^\| symmetric \| (.*) \|$", PAGE, re.M)
    assert {*re.findall(r"\w+", transitive)} == {*TRANSITIVE}
    assert {*re.findall(r"\w+", symmetric)} == {*SYMMETRIC}
    both = re.findall(r"`(\w+)` and `(\w+)`", inverse)
    one_way = re.findall(r"`(\w+)` gives `(\w+)`", inverse)
    assert dict([*both, *((other, one) for one, other in both), *one_way]) == INVERSES
    assert f"at most {walking.MAX_EDGES:,} triples" in PAGE
    assert walking.MAX_SECONDS == 5
    numbers = (
        SAME_ENTITY_SIMILARITY,
        MIN_LEAD,
        CLOSURE_MIN_CONFIDENCE,
        SEARCH_MIN_CONFIDENCE,
        inferring.INFERENCE_MIN_CONFIDENCE,
        inferring.DECAY,
    )
    assert numbers == (0.85, 0.1, 0.7, 0.5, 0.8, 0.1)
    assert f"up to {MAX_BATCH} at" in PAGE
