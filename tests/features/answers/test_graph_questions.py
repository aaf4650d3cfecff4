"""Questions of a person to an organisation chart and a service map, answered from the knowledge graph.

The texts are taught as a user would write them, beside memories with similar words.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import OWNER, Caller
from scrubjay.features.knowledge.auto_inference import BackgroundInference
from scrubjay.tooling.context import CallContext

Call = Callable[..., Awaitable[dict[str, Any]]]

ORGANISATION = """
Bruno reports to Alice. Carla reports to Alice. Dmitri reports to Bruno. Elena reports to Bruno. Farid reports to Bruno.
Greta reports to Carla. Hugo reports to Carla. Ines reports to Carla. Jonas reports to Dmitri. Keiko reports to Dmitri.
Liam reports to Elena. Maya reports to Elena. Nils reports to Greta. Olga reports to Greta. Priya reports to Hugo.
Quentin reports to Hugo. Rosa reports to Jonas. Stefan reports to Maya. Tara reports to Nils.
"""
SERVICES = """
The checkout service depends on the billing service. The billing service depends on PostgreSQL. The search service
depends on Redis. The storefront depends on the checkout service. The storefront depends on the search service. The mail
worker uses RabbitMQ. Elena owns the billing service. Hugo owns the search service. The warehouse belongs to the Hamburg
site. The Hamburg site is located in Germany. The billing service calls Stripe.
"""
MEMORIES = (
    "Reports for users in Japan are sent at 9 am Tokyo time.",
    "The quarterly report goes to the board on the first Monday.",
    "Dmitri prefers short stand-ups.",
    "We deploy on Thursdays.",
    "Checkout conversion was 3.1 % in May.",
)

# The lines of each answer, without the numbers of the citations.
ANSWERS: dict[str, tuple[str, ...]] = {
    "Who does Dmitri report to?": ("Dmitri reports to Bruno.", "Dmitri reports to Alice indirectly."),
    "who does dmitri report to": ("Dmitri reports to Bruno.", "Dmitri reports to Alice indirectly."),
    "Who does Dmitri directly report to?": ("Dmitri reports to Bruno.",),
    "Who is Dmitri's manager?": ("Dmitri reports to Bruno.", "Dmitri reports to Alice indirectly."),
    "Who is the boss of Dmitri?": ("Dmitri reports to Bruno.", "Dmitri reports to Alice indirectly."),
    "By whom is Dmitri managed?": ("Dmitri reports to Bruno.", "Dmitri reports to Alice indirectly."),
    "Who reports to Dmitri?": (
        "Jonas reports to Dmitri.",
        "Keiko reports to Dmitri.",
        "Rosa reports to Dmitri indirectly.",
    ),
    "Who are Dmitri's direct reports?": ("Jonas reports to Dmitri.", "Keiko reports to Dmitri."),
    "Who does Hugo manage?": ("Priya reports to Hugo.", "Quentin reports to Hugo."),
    "Does Rosa report to Bruno?": ("Rosa reports to Bruno indirectly.",),
    "Who owns the billing service?": ("Elena owns billing service.",),
    "Who is responsible for the search service?": ("Hugo owns search service.",),
    "Which services are owned by Elena?": ("Elena owns billing service.",),
    "What does the checkout service depend on?": (
        "checkout service depends on billing service.",
        "checkout service depends on PostgreSQL indirectly.",
    ),
    "What are the dependencies of the checkout service?": (
        "checkout service depends on billing service.",
        "checkout service depends on PostgreSQL indirectly.",
    ),
    "What depends on Redis?": ("search service depends on Redis.", "storefront depends on Redis indirectly."),
    "What would break if PostgreSQL goes down?": (
        "billing service depends on PostgreSQL.",
        "checkout service depends on PostgreSQL indirectly.",
        "storefront depends on PostgreSQL indirectly.",
    ),
    "Where is the warehouse?": ("warehouse belongs to Hamburg site.", "warehouse belongs to Germany indirectly."),
    "Where is the Hamburg site located?": ("Hamburg site is located in Germany.",),
    "What does the mail worker use?": ("mail worker uses RabbitMQ.",),
    "Which service calls Stripe?": ("billing service calls Stripe.",),
    "How is the storefront connected to PostgreSQL?": ("storefront depends on PostgreSQL indirectly.",),
    "What's the relation between the storefront and Redis?": ("storefront depends on Redis indirectly.",),
    "Tell me about Farid": ("Farid reports to Bruno.", "Farid reports to Alice indirectly."),
}


def caller_of(app: Any) -> Call:
    async def call(tool: str, /, caller: Caller = OWNER, **arguments: Any) -> dict[str, Any]:
        context = CallContext(surface="python", client="ada", caller=caller)
        return (await app.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

    return call


@pytest.fixture(scope="module")
async def company(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Call]:
    home: Path = tmp_path_factory.mktemp("company")
    async with running(Settings(home=home)) as app:
        call = caller_of(app)
        for text in (ORGANISATION, SERVICES):
            taught = await call("knowledge", operation="teach", text=" ".join(text.split()))
            assert "not_understood" not in taught
        for content in MEMORIES:
            await call("remember", content=content)
        await (await app.services.get(BackgroundInference)).catch_up()
        yield call


def lines(answer: dict[str, Any], store: str = "semantic") -> tuple[str, ...]:
    """Return the lines of an answer that come from one store."""
    return tuple(one["excerpt"] for one in answer["citations"] if one["store"] == store)


async def test_062_a_question_that_names_a_known_entity_is_answered_from_the_graph(company: Call) -> None:
    answers = {question: await company("ask_mimo", query=question) for question in ANSWERS}
    assert {question: lines(answer) for question, answer in answers.items()} == ANSWERS
    memories = {memory for answer in answers.values() for memory in lines(answer, "episodic")}
    assert memories <= {"Dmitri prefers short stand-ups."}, "no memory about something else stands beside a relation"


@pytest.mark.parametrize(
    "question",
    [
        "When was Greta born?",
        "Why does Greta report to Carla so late?",
        "How many people report to Greta?",
        "Which VPN does Elena own?",
        "Which version of Redis does the search service need?",
        "Who does not report to Greta?",
        "Is Elena married to Bruno?",
        "How does the search service log in to Redis?",
    ],
)
async def test_a_question_that_no_relation_answers_is_not_answered_by_one(company: Call, question: str) -> None:
    answer = await company("ask_mimo", query=question)
    assert lines(answer) == ()
    assert answer["results"]["semantic"], "the relations of the entity are listed as related"


async def test_memories_answer_what_the_graph_does_not_know(company: Call) -> None:
    answer = await company("ask_mimo", query="What does Dmitri prefer?")
    assert (lines(answer), lines(answer, "episodic")) == ((), ("Dmitri prefers short stand-ups.",))
    unnamed = await company("ask_mimo", query="When do we deploy?")
    assert (lines(unnamed, "episodic"), unnamed["results"]["semantic"]) == (("We deploy on Thursdays.",), None)


async def test_an_answer_says_that_more_relations_answer_than_it_cites(company: Call) -> None:
    answer = await company("ask_mimo", query="Who reports to Alice?")
    assert lines(answer)[:2] == ("Bruno reports to Alice.", "Carla reports to Alice.")
    assert "5 more relations answer the question; they are in the results, the nearest first" in answer["notes"]


async def test_a_key_without_the_scope_of_knowledge_learns_no_entity_names(company: Call) -> None:
    reader = Caller("reader", frozenset({"asking:read", "memory:read"}), "k1")
    answer = await company("ask_mimo", query="Who does Dmitri report to?", caller=reader)
    assert (answer["results"]["semantic"], "Dmitri" in answer["router_decision"]["reasoning"]) == (None, False)


async def test_066_a_routing_explanation_names_the_known_entities(company: Call) -> None:
    decision = (await company("explain_routing", query="Who does Dmitri report to?"))["router_decision"]
    assert (decision["primary_store"], decision["secondary_stores"]) == ("episodic", ["semantic"])
    assert decision["reasoning"] == (
        "Episodic store selected as default for general query; the knowledge graph knows Dmitri"
    )


@pytest.mark.parametrize(
    ("goal", "sentences"),
    [
        (
            ("Alice", "manages", "Jonas"),
            ["bruno reports_to alice", "dmitri reports_to bruno", "jonas reports_to dmitri"],
        ),
        (
            ("PostgreSQL", "provides", "checkout service"),
            ["billing-service depends_on postgresql", "checkout-service depends_on billing-service"],
        ),
        (
            ("Rosa", "reports_to", "Bruno"),
            ["rosa reports_to jonas", "jonas reports_to dmitri", "dmitri reports_to bruno"],
        ),
        (("billing service", "owned_by", "Elena"), ["elena owns billing-service"]),
    ],
)
async def test_089_each_step_of_a_proof_is_a_stored_statement(
    company: Call, goal: tuple[str, str, str], sentences: list[str]
) -> None:
    subject, predicate, object_ = goal
    proof = await company("knowledge", operation="prove", subject=subject, predicate=predicate, object=object_)
    steps = [f"{step['from_id']} {step['predicate']} {step['to_id']}" for step in proof["steps"]]
    assert (proof["proved"], [step.replace("entity:", "") for step in steps]) == (True, sentences)
    assert [
        f"{triple['subject_id']} {triple['predicate']} {triple['object_id']}" for triple in proof["triples"]
    ] == steps
