"""Judge which utterances of a session still hold at its end.

An agent's plan that the user rejected, a result that turned out wrong and a value that was changed later lose validity;
the rules read how turns answer each other.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from scrubjay.features.summaries import cues
from scrubjay.features.summaries.utterances import DONE_BOX, Utterance, split_utterances
from scrubjay.search_index.terms import significant_terms

# A term is specific if it occurs in few utterances; only such terms connect utterances.
SPECIFIC_SHARE, MIN_SPECIFIC, MAX_SPECIFIC = 0.12, 4, 40
# Validity of an utterance after an event; several events keep the lowest.
REJECTED, REJECTED_CLAIM, REJECTED_FINDING, REJECTED_ASIDE = 0.15, 0.3, 0.6, 0.7
FAILED, FAILED_ASIDE, FAILED_FINDING = 0.25, 0.4, 0.7
CORRECTED, WITHDRAWN = 0.4, 0.6
TARGETED, TARGETED_OTHER = 0.2, 0.5
EARLIER, GUESSED, PROBLEM_OF_LATER_ANSWER, REMOVED = 0.2, 0.4, 0.45, 0.3
REPLACED, RESOLVED = 0.65, 0.35
# Shares of an utterance's weight that another one repeats.
TARGET_SHARE, REPEATED_SHARE, RESOLVED_SHARE = 0.22, 0.5, 0.3


class Kind(Enum):
    """What an utterance does."""

    QUESTION = auto()
    INSTRUCTION = auto()
    """Any other utterance of the user."""
    PLAN = auto()
    """A proposal or an intention of the agent."""
    CLAIM = auto()
    """A result that the agent reports."""
    FINDING = auto()
    """Any other utterance of the agent."""


_AGENTS_OWN = (Kind.PLAN, Kind.CLAIM, Kind.FINDING)


@dataclass(slots=True)
class Judged:
    """An utterance with its kind and validity."""

    utterance: Utterance
    kind: Kind
    validity: float = 1.0
    """1 if it holds at the end of the session, less if it was rejected, failed or was replaced."""

    @property
    def is_listed_as_open(self) -> bool:
        """True for an item of a list such as "Still open:"."""
        return is_open_lead(self.utterance.lead) and self.utterance.is_item

    def lower(self, validity: float) -> None:
        self.validity = min(self.validity, validity)


def is_open_lead(lead: str) -> bool:
    return bool(lead) and lead != DONE_BOX and cues.OPEN_LEAD.search(lead) is not None


@dataclass(slots=True)
class JudgedSession:
    """The utterances of a session, with the weights of their terms."""

    judged: list[Judged]
    turns: int
    _weights: dict[str, float] = field(default_factory=dict[str, float])
    _specific: frozenset[str] = frozenset()
    _by_turn: dict[tuple[int, bool], list[Judged]] = field(default_factory=dict[tuple[int, bool], list[Judged]])
    _by_term: dict[str, list[Judged]] = field(default_factory=dict[str, list[Judged]])

    def weight(self, terms: Iterable[str]) -> float:
        """Return the weight of terms: rare ones weigh more, and those of other texts most."""
        most = math.log(1 + len(self.judged))
        return sum(self._weights.get(term, most) for term in terms)

    def share(self, terms: frozenset[str], of: frozenset[str]) -> float:
        """Return the share of the second terms' weight that the first ones cover."""
        return self.weight(terms & of) / (self.weight(of) or 1.0)

    def specific(self, terms: Iterable[str]) -> frozenset[str]:
        return self._specific.intersection(terms)

    def with_any(self, terms: Iterable[str]) -> list[Judged]:
        """Return the utterances with any of these specific terms, in order."""
        found = {one.utterance.position: one for term in terms for one in self._by_term.get(term, ())}
        return [found[position] for position in sorted(found)]

    def prompt(self, turn: int) -> Sequence[Judged]:
        return self._by_turn.get((turn, True), ())

    def answer(self, turn: int) -> Sequence[Judged]:
        return self._by_turn.get((turn, False), ())


def judge(prompts_and_responses: Sequence[tuple[str, str]]) -> JudgedSession:
    """Return the utterances of a session with their kinds and validity."""
    judged = [Judged(utterance, _kind(utterance)) for utterance in split_utterances(prompts_and_responses)]
    frequency = Counter(term for one in judged for term in one.utterance.terms)
    most = min(MAX_SPECIFIC, max(MIN_SPECIFIC, SPECIFIC_SHARE * len(judged)))
    by_turn = defaultdict[tuple[int, bool], list[Judged]](list)
    for one in judged:
        by_turn[one.utterance.turn, one.utterance.by_user].append(one)
    specific = frozenset(term for term, count in frequency.items() if count <= most)
    by_term = defaultdict[str, list[Judged]](list)
    for one in judged:
        for term in specific & one.utterance.terms:
            by_term[term].append(one)
    weights = {term: math.log(1 + len(judged) / count) for term, count in frequency.items()}
    session = JudgedSession(judged, len(prompts_and_responses), weights, specific, dict(by_turn), dict(by_term))
    for turn in range(session.turns):
        _recognize_options(session, turn)
    for turn in range(1, session.turns):
        _recognize_results(session, turn)
        _apply_reaction(session, turn)
    for one in judged:
        _apply_own_words(session, one)
    _apply_found_cause(session)
    _apply_later_utterances(session)
    return session


def content(utterance: Utterance) -> frozenset[str]:
    """Return the terms of an utterance without those of greetings and assent."""
    return utterance.terms - cues.social_terms()


def _content(utterances: Iterable[Judged]) -> frozenset[str]:
    return frozenset[str]().union(*(content(one.utterance) for one in utterances))


def _kind(utterance: Utterance) -> Kind:
    text = utterance.text
    if cues.QUESTION.search(text) or (utterance.by_user and cues.ASKED.match(text)):
        return Kind.QUESTION
    if utterance.by_user:
        return Kind.INSTRUCTION
    if cues.OPTIONS.search(utterance.lead) and not is_open_lead(utterance.lead):
        return Kind.PLAN
    plan = cues.PLAN.search(text)
    done = [found.start() for pattern in (cues.DONE, cues.RESULT_FORM) if (found := pattern.search(text))]
    if plan and not (done and (min(done) < plan.start() or not cues.FIRM_PLAN.search(text))):
        return Kind.PLAN
    return Kind.CLAIM if done or cues.NOT_DONE.search(text) or cues.REVERSAL.search(text) else Kind.FINDING


def _recognize_options(session: JudgedSession, turn: int) -> None:
    """Make the items of a list plans if they answer a question and the next prompt chooses among them."""
    items = [one for one in session.answer(turn) if one.utterance.is_item and one.kind in (Kind.CLAIM, Kind.FINDING)]
    asked = any(one.kind is Kind.QUESTION for one in session.prompt(turn))
    chosen = _content(one for one in session.prompt(turn + 1) if one.kind is Kind.INSTRUCTION)
    named = [one for one in items if session.specific(one.utterance.terms & chosen)]
    if asked and named and len(named) < len(items):
        for one in items:
            if not is_open_lead(one.utterance.lead):
                one.kind = Kind.PLAN


def _recognize_results(session: JudgedSession, turn: int) -> None:
    """Make a finding a claim if it repeats words of the instruction that it answers."""
    instructions = [one.utterance.terms for one in session.prompt(turn) if one.kind is Kind.INSTRUCTION]
    instructed = frozenset[str]().union(*instructions) - cues.social_terms()
    for one in session.answer(turn):
        if one.kind is Kind.FINDING and len(one.utterance.terms & instructed) >= 2:
            one.kind = Kind.CLAIM


def _apply_reaction(session: JudgedSession, turn: int) -> None:
    """Lower the validity of an answer that the next prompt rejects, or whose failure it reports."""
    prompt, previous, answer = session.prompt(turn), session.answer(turn - 1), session.answer(turn)
    if not prompt or not previous:
        return
    said = _content(prompt)
    rejections = [one for one in prompt if one.kind is Kind.INSTRUCTION and cues.REJECTION.search(one.utterance.text)]
    if rejections and said:
        _reject(session, previous, _content(rejections) or said)
        # The user may have asked for what is rejected now.
        rejected = _content(one for one in previous if one.validity <= REJECTED_CLAIM)
        for one in session.prompt(turn - 1) if turn > 1 else ():
            if one.kind is Kind.INSTRUCTION and session.specific(content(one.utterance) & rejected):
                one.lower(WITHDRAWN)
        return
    meant = [one for one in previous if session.specific(one.utterance.terms & said)]
    concedes = _concedes(prompt, answer)
    if concedes or any(map(_reports_problem, prompt)):
        is_same = concedes or any(cues.AGAIN.search(one.utterance.text) for one in prompt)
        for one in meant or (previous if is_same else ()):
            one.lower(FAILED_FINDING if one.kind is Kind.FINDING else FAILED if meant else FAILED_ASIDE)
    elif _corrects(prompt, answer):
        words = said | _content(answer[:2])
        for one in previous:
            if one.kind in (Kind.PLAN, Kind.CLAIM) and session.specific(one.utterance.terms & words):
                one.lower(CORRECTED)


def _reject(session: JudgedSession, previous: Sequence[Judged], words: frozenset[str]) -> None:
    meant = [one for one in previous if session.specific(one.utterance.terms & words)]
    # "No" to a question rejects what was asked about, not the report before it.
    began = len(previous) - 3 if previous[-1].kind is Kind.QUESTION else 0
    for index, one in enumerate(previous):
        is_meant = any(one is other for other in meant)
        if one.kind not in _AGENTS_OWN or (not is_meant and (index < began or one.is_listed_as_open)):
            continue
        if one.kind is Kind.FINDING:
            one.lower(REJECTED_ASIDE if meant and not is_meant else REJECTED_FINDING)
        elif meant:
            one.lower(REJECTED if is_meant else REJECTED_ASIDE)
        else:
            one.lower(REJECTED if one.kind is Kind.PLAN else REJECTED_CLAIM)


def _reports_problem(one: Judged) -> bool:
    text = one.utterance.text
    if not cues.PROBLEM.search(text) or cues.TASK.match(text):
        return False
    return one.kind is Kind.INSTRUCTION or "why" in text.casefold() or "still" in text.casefold()


def _concedes(prompt: Sequence[Judged], answer: Sequence[Judged]) -> bool:
    if not answer or not cues.CONCESSION.match(answer[0].utterance.text):
        return False
    return not cues.ACCEPTANCE.match(prompt[0].utterance.text)


def _corrects(prompt: Sequence[Judged], answer: Sequence[Judged]) -> bool:
    if not answer or not cues.CORRECTION.match(answer[0].utterance.text):
        return False
    return not any(cues.TASK.match(one.utterance.text) for one in prompt)


def _apply_own_words(session: JudgedSession, one: Judged) -> None:
    """Apply what an utterance says about earlier ones: "I removed it", "X is out", "at first"."""
    utterance, text = one.utterance, one.utterance.text
    if utterance.by_user and cues.OVERRIDE.match(text):
        before = [
            earlier for earlier in session.prompt(utterance.turn) if earlier.utterance.position < utterance.position
        ]
        for earlier in (before or session.prompt(utterance.turn - 1))[-1:]:
            if utterance.turn > 0 and earlier.kind is Kind.INSTRUCTION:
                earlier.lower(REMOVED)
    if not utterance.by_user:
        if cues.EARLIER.match(text):
            one.lower(EARLIER)
        followed = any(later.kind is Kind.CLAIM for later in session.answer(utterance.turn + 1))
        if followed and one.kind is not Kind.QUESTION and _reports_failure(text) and not is_open_lead(utterance.lead):
            one.lower(PROBLEM_OF_LATER_ANSWER)
        if utterance.turn > 0 and one.kind is not Kind.PLAN and cues.REMOVED_IT.search(text):
            said = _content(session.prompt(utterance.turn))
            before = [earlier for earlier in session.answer(utterance.turn - 1) if earlier.kind in _AGENTS_OWN]
            for earlier in [past for past in before if past.utterance.terms & said] or before[-1:]:
                earlier.lower(REMOVED)
    if one.kind in (Kind.QUESTION, Kind.PLAN) or (utterance.by_user and utterance.turn == 0):
        return
    is_reversal = cues.REVERSAL.search(text) is not None
    targets = session.specific(_targets(utterance)) if utterance.by_user or is_reversal else frozenset[str]()
    if not targets:
        return
    for earlier in session.with_any(targets):
        if (
            earlier.utterance.position < utterance.position
            and _may_be_target(earlier, one, is_reversal=is_reversal)
            and session.share(targets, earlier.utterance.terms) >= TARGET_SHARE
        ):
            earlier.lower(TARGETED if earlier.kind in (Kind.PLAN, Kind.CLAIM) else TARGETED_OTHER)


def _may_be_target(earlier: Judged, one: Judged, *, is_reversal: bool) -> bool:
    past, now = earlier.utterance, one.utterance
    if (past.turn, past.by_user) == (now.turn, now.by_user):
        return False
    if past.by_user:  # a request, or an instruction that itself says what to leave out
        return (
            past.turn > 0
            and past.turn < now.turn
            and (now.by_user or is_reversal)
            and not cues.REJECTED.search(past.text)
        )
    if earlier.is_listed_as_open and past.turn >= now.turn - 1:
        return False
    # "Don't deploy yet" forbids something new; of results it can only mean those just reported.
    if (
        now.by_user
        and earlier.kind is not Kind.PLAN
        and past.turn < now.turn - 1
        and not cues.REVERSED.search(now.text)
    ):
        return False
    return not cues.REVERSAL.search(past.text)


def _targets(utterance: Utterance) -> frozenset[str]:
    """Return the terms of what an utterance rejects or takes back."""
    pattern = cues.REJECTED if utterance.by_user else cues.REVERSED
    found: set[str] = set()
    for match in pattern.finditer(utterance.text):
        for named in filter(None, match.groups()):
            found.update(significant_terms(cues.TARGET_END.split(named)[0]))
    return frozenset(found) - cues.social_terms()


def _reports_failure(text: str) -> bool:
    return cues.FAILURE.search(text) is not None and not cues.FIXED.search(text)


def _apply_found_cause(session: JudgedSession) -> None:
    """Lower guesses about a cause that come before the turn in which the cause was found."""
    found = -1
    for one in reversed(session.judged):
        if one.utterance.by_user or one.kind is Kind.QUESTION:
            continue
        text, turn = one.utterance.text, one.utterance.turn
        if turn < found and cues.GUESSED_CAUSE.search(text):
            one.lower(GUESSED)
        if cues.REAL_CAUSE.search(text):
            found = max(found, turn)


def _apply_later_utterances(session: JudgedSession) -> None:
    """Lower utterances of the agent that a later one about the same thing replaces or resolves."""
    for one in session.judged:
        if one.kind not in _AGENTS_OWN:
            continue
        text, terms = one.utterance.text, one.utterance.terms
        is_negative = bool(
            cues.NOT_DONE.search(text) or cues.OPEN.search(text) or _reports_failure(text) or one.is_listed_as_open
        )
        for later in session.with_any(session.specific(terms)):
            is_later = later.kind in (Kind.CLAIM, Kind.FINDING) and later.utterance.turn > one.utterance.turn
            if not is_later or len(terms & later.utterance.terms) < 2:
                continue
            share = session.share(later.utterance.terms, terms)
            if share >= REPEATED_SHARE:
                one.lower(REPLACED if one.kind is Kind.CLAIM and not is_negative else RESOLVED)
            elif is_negative and share >= RESOLVED_SHARE and _is_positive(later.utterance.text):
                one.lower(RESOLVED)


def _is_positive(text: str) -> bool:
    return not cues.NOT_DONE.search(text) and bool(cues.DONE.search(text) or cues.REVERSAL.search(text))
