"""Find what the user asked for in a session, and make its title of that."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.features.summaries import cues
from scrubjay.features.summaries.titles import TITLE_WORDS, clip_title
from scrubjay.features.summaries.utterances import Utterance
from scrubjay.features.summaries.validity import Judged, JudgedSession, content

# The request is in one of the first prompts with content; a second sentence of it is quoted too if both are short.
REQUEST_PROMPTS = 3
BESIDE_SCORE = 0.5
REQUEST_CHARACTERS = 220
# The clause that asks becomes the title of a long sentence if it says this much.
MIN_CLAUSE_TERMS = 3


@dataclass(frozen=True, slots=True)
class FoundRequest:
    """The request of a session; empty if there is none, as in greetings."""

    title: str = ""
    utterances: Sequence[Judged] = ()


def find_request(session: JudgedSession) -> FoundRequest:
    """Return the utterance that asks for the work, with another one of its prompt that explains it."""
    turns = defaultdict[str, set[int]](set)
    for one in session.judged:
        for term in one.utterance.terms:
            turns[term].add(one.utterance.turn)
    asked = [one for turn in range(session.turns) for one in session.prompt(turn) if content(one.utterance)]
    if not asked:
        return FoundRequest()
    first = asked[0].utterance.turn
    scored = [
        (_request_score(one.utterance, one.utterance.turn - first, turns), one)
        for one in asked
        if one.utterance.turn < first + REQUEST_PROMPTS
    ]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].utterance.position))
    best = ranked[0][1]
    needs_context = cues.PRONOUN.search(cues.POLITE.sub("", best.utterance.text)) is not None
    beside = [
        one
        for score, one in ranked[1:]
        if one.utterance.turn == best.utterance.turn
        and (
            (needs_context and one.utterance.position < best.utterance.position)
            or (score >= BESIDE_SCORE and len(one.utterance.text) + len(best.utterance.text) <= REQUEST_CHARACTERS)
        )
    ][:1]
    named = beside[0] if needs_context and beside and beside[0].utterance.position < best.utterance.position else best
    ordered = sorted([*beside, best], key=lambda one: one.utterance.position)
    return FoundRequest(_title(named.utterance.text), ordered)


def _title(request: str) -> str:
    """Return the request in at most ten words, without polite phrases."""
    text = cues.POLITE.sub("", request) or request
    if len(text.split()) > TITLE_WORDS:
        clauses = [cues.POLITE.sub("", clause) for clause in cues.ASKING_CLAUSE.split(request)]
        asking = [clause for clause in clauses[1:] if len(clause.split()) > MIN_CLAUSE_TERMS]
        text = asking[0] if asking and cues.ASKS.match(asking[0]) else text
    title = clip_title(text)
    return title[:1].upper() + title[1:]


def _request_score(utterance: Utterance, prompts_before: int, turns: dict[str, set[int]]) -> float:
    stripped = cues.POLITE.sub("", utterance.text)
    topic = content(utterance) - cues.vague_terms()
    recurring = sum(len(turns[term]) > 1 for term in topic)
    asks = cues.ASKS.search(utterance.text) or cues.ASKS.match(stripped)
    score = 0.7 * bool(asks) + 0.12 * min(6, len(topic)) + 0.15 * min(4, recurring)
    score -= 0.08 * utterance.sentence + 0.45 * prompts_before
    vague = cues.PRONOUN.match(stripped) or (cues.PRONOUN.search(stripped) and len(topic) < 4)
    return score - 0.6 * bool(vague)
