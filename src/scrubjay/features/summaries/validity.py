"""Judge which statements of a session still hold at its end.

An agent's plan that the user rejected, a result that turned out wrong and a value that was changed later lose validity;
the rules read how turns answer each other.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from scrubjay.features.summaries import cues
from scrubjay.features.summaries.statements import DONE_BOX, Statement, split_statements
from scrubjay.search_index.terms import significant_terms

# A term is specific if it occurs in few statements; only such terms connect statements.
SPECIFIC_SHARE, MIN_SPECIFIC, MAX_SPECIFIC = 0.12, 4, 40
# Validity of a statement after an event; several events keep the lowest.
REJECTED, REJECTED_CLAIM, REJECTED_FINDING, REJECTED_ASIDE = 0.15, 0.3, 0.6, 0.7
FAILED, FAILED_ASIDE, FAILED_FINDING = 0.25, 0.4, 0.7
CORRECTED, WITHDRAWN = 0.4, 0.6
TARGETED, TARGETED_OTHER = 0.2, 0.5
EARLIER, GUESSED, PROBLEM_OF_LATER_ANSWER, REMOVED = 0.2, 0.4, 0.45, 0.3
REPLACED, RESOLVED = 0.65, 0.35
# Shares of a statement's weight that another one repeats.
TARGET_SHARE, REPEATED_SHARE, RESOLVED_SHARE = 0.22, 0.5, 0.3


class Kind(Enum):
    """What a statement does."""

    QUESTION = auto()
    WISH = auto()
    """Any other statement of the user."""
    PLAN = auto()
    """A proposal or an intention of the agent."""
    CLAIM = auto()
    """A result that the agent reports."""
    FINDING = auto()
    """Any other statement of the agent."""


_AGENTS_OWN = (Kind.PLAN, Kind.CLAIM, Kind.FINDING)


@dataclass(slots=True)
class Judged:
    """A statement with its kind and validity."""

    statement: Statement
    kind: Kind
    validity: float = 1.0
    """1 if it holds at the end of the session, less if it was rejected, failed or was replaced."""

    @property
    def is_listed_as_open(self) -> bool:
        """True for an item of a list such as "Still open:"."""
        return is_open_lead(self.statement.lead) and self.statement.is_item

    def lower(self, validity: float) -> None:
        self.validity = min(self.validity, validity)


def is_open_lead(lead: str) -> bool:
    return bool(lead) and lead != DONE_BOX and cues.OPEN_LEAD.search(lead) is not None


@dataclass(slots=True)
class JudgedSession:
    """The statements of a session, with the weights of their terms."""

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
        """Return the statements with any of these specific terms, in order."""
        found = {one.statement.position: one for term in terms for one in self._by_term.get(term, ())}
        return [found[position] for position in sorted(found)]

    def prompt(self, turn: int) -> Sequence[Judged]:
        return self._by_turn.get((turn, True), ())

    def answer(self, turn: int) -> Sequence[Judged]:
        return self._by_turn.get((turn, False), ())


def judge(prompts_and_responses: Sequence[tuple[str, str]]) -> JudgedSession:
    """Return the statements of a session with their kinds and validity."""
    judged = [Judged(statement, _kind(statement)) for statement in split_statements(prompts_and_responses)]
    frequency = Counter(term for one in judged for term in one.statement.terms)
    most = min(MAX_SPECIFIC, max(MIN_SPECIFIC, SPECIFIC_SHARE * len(judged)))
    by_turn = defaultdict[tuple[int, bool], list[Judged]](list)
    for one in judged:
        by_turn[one.statement.turn, one.statement.by_user].append(one)
    specific = frozenset(term for term, count in frequency.items() if count <= most)
    by_term = defaultdict[str, list[Judged]](list)
    for one in judged:
        for term in specific & one.statement.terms:
            by_term[term].append(one)
    weights = {term: math.log(1 + len(judged) / count) for term, count in frequency.items()}
    session = JudgedSession(judged, len(prompts_and_responses), weights, specific, dict(by_turn), dict(by_term))
    for turn in range(1, session.turns):
        _recognize_results(session, turn)
        _apply_reaction(session, turn)
    for one in judged:
        _apply_own_words(session, one)
    _apply_found_cause(session)
    _apply_later_statements(session)
    return session


def content(statement: Statement) -> frozenset[str]:
    """Return the terms of a statement without those of greetings and assent."""
    return statement.terms - cues.social_terms()


def _content(statements: Iterable[Judged]) -> frozenset[str]:
    return frozenset[str]().union(*(content(one.statement) for one in statements))


def _kind(statement: Statement) -> Kind:
    text = statement.text
    if cues.QUESTION.search(text) or (statement.by_user and cues.ASKED.match(text)):
        return Kind.QUESTION
    if statement.by_user:
        return Kind.WISH
    if cues.OPTIONS.search(statement.lead) and not is_open_lead(statement.lead):
        return Kind.PLAN
    plan = cues.PLAN.search(text)
    done = [found.start() for pattern in (cues.DONE, cues.RESULT_FORM) if (found := pattern.search(text))]
    if plan and not (done and (min(done) < plan.start() or not cues.FIRM_PLAN.search(text))):
        return Kind.PLAN
    return Kind.CLAIM if done or cues.NOT_DONE.search(text) or cues.REVERSAL.search(text) else Kind.FINDING


def _recognize_results(session: JudgedSession, turn: int) -> None:
    """Make a finding a claim if it repeats words of the wish that it answers."""
    wishes = [one.statement.terms for one in session.prompt(turn) if one.kind is Kind.WISH]
    wished = frozenset[str]().union(*wishes) - cues.social_terms()
    for one in session.answer(turn):
        if one.kind is Kind.FINDING and len(one.statement.terms & wished) >= 2:
            one.kind = Kind.CLAIM


def _apply_reaction(session: JudgedSession, turn: int) -> None:
    """Lower the validity of an answer that the next prompt rejects, or whose failure it reports."""
    prompt, previous, answer = session.prompt(turn), session.answer(turn - 1), session.answer(turn)
    if not prompt or not previous:
        return
    said = _content(prompt)
    rejections = [one for one in prompt if one.kind is Kind.WISH and cues.REJECTION.search(one.statement.text)]
    if rejections and said:
        _reject(session, previous, _content(rejections) or said)
        # The user may have asked for what is rejected now.
        rejected = _content(one for one in previous if one.validity <= REJECTED_CLAIM)
        for one in session.prompt(turn - 1) if turn > 1 else ():
            if one.kind is Kind.WISH and session.specific(content(one.statement) & rejected):
                one.lower(WITHDRAWN)
        return
    meant = [one for one in previous if session.specific(one.statement.terms & said)]
    concedes = _concedes(prompt, answer)
    if concedes or any(map(_reports_problem, prompt)):
        is_same = concedes or any(cues.AGAIN.search(one.statement.text) for one in prompt)
        for one in meant or (previous if is_same else ()):
            one.lower(FAILED_FINDING if one.kind is Kind.FINDING else FAILED if meant else FAILED_ASIDE)
    elif _corrects(prompt, answer):
        words = said | _content(answer[:2])
        for one in previous:
            if one.kind in (Kind.PLAN, Kind.CLAIM) and session.specific(one.statement.terms & words):
                one.lower(CORRECTED)


def _reject(session: JudgedSession, previous: Sequence[Judged], words: frozenset[str]) -> None:
    meant = [one for one in previous if session.specific(one.statement.terms & words)]
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
    text = one.statement.text
    if not cues.PROBLEM.search(text) or cues.TASK.match(text):
        return False
    return one.kind is Kind.WISH or "why" in text.casefold() or "still" in text.casefold()


def _concedes(prompt: Sequence[Judged], answer: Sequence[Judged]) -> bool:
    if not answer or not cues.CONCESSION.match(answer[0].statement.text):
        return False
    return not cues.ACCEPTANCE.match(prompt[0].statement.text)


def _corrects(prompt: Sequence[Judged], answer: Sequence[Judged]) -> bool:
    if not answer or not cues.CORRECTION.match(answer[0].statement.text):
        return False
    return not any(cues.TASK.match(one.statement.text) for one in prompt)


def _apply_own_words(session: JudgedSession, one: Judged) -> None:
    """Apply what a statement says about earlier ones: "I removed it", "X is out", "at first"."""
    statement, text = one.statement, one.statement.text
    if statement.by_user and cues.OVERRIDE.match(text):
        before = [
            earlier for earlier in session.prompt(statement.turn) if earlier.statement.position < statement.position
        ]
        for earlier in (before or session.prompt(statement.turn - 1))[-1:]:
            if statement.turn > 0 and earlier.kind is Kind.WISH:
                earlier.lower(REMOVED)
    if not statement.by_user:
        if cues.EARLIER.match(text):
            one.lower(EARLIER)
        followed = any(later.kind is Kind.CLAIM for later in session.answer(statement.turn + 1))
        if followed and one.kind is not Kind.QUESTION and _reports_failure(text) and not is_open_lead(statement.lead):
            one.lower(PROBLEM_OF_LATER_ANSWER)
        if statement.turn > 0 and one.kind is not Kind.PLAN and cues.REMOVED_IT.search(text):
            said = _content(session.prompt(statement.turn))
            before = [earlier for earlier in session.answer(statement.turn - 1) if earlier.kind in _AGENTS_OWN]
            for earlier in [past for past in before if past.statement.terms & said] or before[-1:]:
                earlier.lower(REMOVED)
    if one.kind in (Kind.QUESTION, Kind.PLAN) or (statement.by_user and statement.turn == 0):
        return
    is_reversal = cues.REVERSAL.search(text) is not None
    targets = session.specific(_targets(statement)) if statement.by_user or is_reversal else frozenset[str]()
    if not targets:
        return
    for earlier in session.with_any(targets):
        if (
            earlier.statement.position < statement.position
            and _may_be_target(earlier, one, is_reversal=is_reversal)
            and session.share(targets, earlier.statement.terms) >= TARGET_SHARE
        ):
            earlier.lower(TARGETED if earlier.kind in (Kind.PLAN, Kind.CLAIM) else TARGETED_OTHER)


def _may_be_target(earlier: Judged, one: Judged, *, is_reversal: bool) -> bool:
    past, now = earlier.statement, one.statement
    if (past.turn, past.by_user) == (now.turn, now.by_user):
        return False
    if past.by_user:  # a request, or a wish that itself says what to leave out
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


def _targets(statement: Statement) -> frozenset[str]:
    """Return the terms of what a statement rejects or takes back."""
    pattern = cues.REJECTED if statement.by_user else cues.REVERSED
    found: set[str] = set()
    for match in pattern.finditer(statement.text):
        for named in filter(None, match.groups()):
            found.update(significant_terms(cues.TARGET_END.split(named)[0]))
    return frozenset(found) - cues.social_terms()


def _reports_failure(text: str) -> bool:
    return cues.FAILURE.search(text) is not None and not cues.FIXED.search(text)


def _apply_found_cause(session: JudgedSession) -> None:
    """Lower guesses about a cause that come before the turn in which the cause was found."""
    found = -1
    for one in reversed(session.judged):
        if one.statement.by_user or one.kind is Kind.QUESTION:
            continue
        text, turn = one.statement.text, one.statement.turn
        if turn < found and cues.GUESSED_CAUSE.search(text):
            one.lower(GUESSED)
        if cues.REAL_CAUSE.search(text):
            found = max(found, turn)


def _apply_later_statements(session: JudgedSession) -> None:
    """Lower statements of the agent that a later one about the same thing replaces or resolves."""
    for one in session.judged:
        if one.kind not in _AGENTS_OWN:
            continue
        text, terms = one.statement.text, one.statement.terms
        is_negative = bool(
            cues.NOT_DONE.search(text) or cues.OPEN.search(text) or _reports_failure(text) or one.is_listed_as_open
        )
        for later in session.with_any(session.specific(terms)):
            is_later = later.kind in (Kind.CLAIM, Kind.FINDING) and later.statement.turn > one.statement.turn
            if not is_later or len(terms & later.statement.terms) < 2:
                continue
            share = session.share(later.statement.terms, terms)
            if share >= REPEATED_SHARE:
                one.lower(REPLACED if one.kind is Kind.CLAIM and not is_negative else RESOLVED)
            elif is_negative and share >= RESOLVED_SHARE and _is_positive(later.statement.text):
                one.lower(RESOLVED)


def _is_positive(text: str) -> bool:
    return not cues.NOT_DONE.search(text) and bool(cues.DONE.search(text) or cues.REVERSAL.search(text))
