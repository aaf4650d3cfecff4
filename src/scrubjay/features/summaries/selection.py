"""Choose the utterances that make up the outcome of a session."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scrubjay.features.summaries import cues
from scrubjay.features.summaries.mentioned_files import find_files
from scrubjay.features.summaries.outcome import SessionOutcome
from scrubjay.features.summaries.requests import find_request
from scrubjay.features.summaries.utterances import MAX_LENGTH, Utterance
from scrubjay.features.summaries.validity import Judged, JudgedSession, Kind, content, is_open_lead, judge
from scrubjay.search_index.terms import significant_terms

# Characters of the quotations: a share of the session, within these limits.
SHARE = 0.3
MIN_CHARACTERS, MAX_CHARACTERS = 600, 1_800
MAX_CANDIDATES = 200
MAX_FILES, MAX_REFERENCES = 10, 10
MIN_FILE_VALIDITY = 0.5
# A candidate that repeats a chosen utterance loses this times the repeated share.
REPETITION = 0.5
MAX_REPEATED = 0.9
# Bonus of the other clause of a chosen sentence.
SAME_SENTENCE = 0.25
# A instruction of few words that repeats words of the answer before it chooses among what was proposed.
SHORT_INSTRUCTION, VERY_SHORT_INSTRUCTION = 9, 4
# Loss of score per character: of two utterances of the same score the shorter one is taken.
LENGTH_LOSS = 0.0012
# "Done." alone is no news.
MIN_RESULT_WORDS = 3
MIN_DECAY, DECAY = 3.0, 0.3
RECENT = 0.5


@dataclass(frozen=True, slots=True)
class _Part:
    """Limits of a part of the outcome."""

    share: float
    """Share of the characters that it may use before the other parts take what is left."""
    score: float
    """Lowest score of an utterance."""
    utterances: int


OPEN = _Part(0.28, 0.72, 6)
ENDED = _Part(0.52, 0.40, 12)
DECIDED = _Part(0.36, 0.42, 10)


@dataclass(frozen=True, slots=True)
class _Candidate:
    score: float
    one: Judged


def extract_outcome(
    prompts_and_responses: Sequence[tuple[str, str]], facts: Sequence[tuple[str, float]] = ()
) -> SessionOutcome:
    """Return the outcome of a session; `facts` are memories stored in it, with their importance."""
    return outcome_of(judge(prompts_and_responses), facts)


def outcome_of(session: JudgedSession, facts: Sequence[tuple[str, float]] = ()) -> SessionOutcome:
    """Like `extract_outcome`, for a session whose utterances are judged."""
    found = find_request(session)
    request = found.utterances
    if not request and any(one.utterance.by_user for one in session.judged):
        return SessionOutcome()  # nothing but greetings
    scores = _Scores(session, request)
    for one in session.judged:
        if not any(one is asked for asked in request) and content(one.utterance):
            scores.add(one)
    for number, (text, importance) in enumerate(facts):
        scores.add_fact(_fact(session, text, number), importance)
    chosen = _Choice(session, _budget(session))
    chosen.fill(OPEN, scores.open)
    chosen.fill(ENDED, scores.ended)
    chosen.fill(DECIDED, scores.decided)
    chosen.use_rest((DECIDED, scores.decided), (ENDED, scores.ended), (OPEN, scores.open))
    files, references = _names(session)
    return SessionOutcome(
        title=found.title,
        request=_quote(request),
        decided=_quote(chosen.taken[DECIDED]),
        ended=_quote(chosen.taken[ENDED]),
        open=_quote(chosen.taken[OPEN], without_label=is_open_lead),
        files=files,
        references=references,
    )


# -- scores ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Scores:
    """Scores of utterances for each part of the outcome."""

    session: JudgedSession
    request: Sequence[Judged]
    decided: list[_Candidate] = field(default_factory=list[_Candidate])
    ended: list[_Candidate] = field(default_factory=list[_Candidate])
    open: list[_Candidate] = field(default_factory=list[_Candidate])
    _first: int = 0
    """Turn of the request."""
    _last: int = 0
    """Turn of the last answer with content."""
    _most: float = 1.0
    _status_lines: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        judged = self.session.judged
        self._first = self.request[0].utterance.turn if self.request else 0
        answers = [one.utterance for one in judged if not one.utterance.by_user and _has_news(one)]
        self._last = max((utterance.turn for utterance in answers), default=self.session.turns - 1)
        self._most = max((self._raw_weight(one.utterance) for one in judged), default=0.0) or 1.0
        self._status_lines = frozenset(
            (one.utterance.turn, one.utterance.line)
            for one in judged
            if not one.utterance.by_user and cues.STATUS.match(one.utterance.lead)
        )

    def add(self, one: Judged) -> None:
        if one.utterance.by_user:
            if one.kind is Kind.INSTRUCTION and one.utterance.turn >= self._first:
                self._add_instruction(one)
        elif one.kind is not Kind.QUESTION:
            if _has_news(one):
                self._add_answer(one)
        elif one.is_listed_as_open:
            self.open.append(_Candidate(self._open_score(one), one))

    def add_fact(self, one: Judged, importance: float) -> None:
        text = one.utterance.text
        score = 0.5 + importance / 2
        (self.decided if cues.DECIDED.search(text) or cues.DIRECTIVE.search(text) else self.ended).append(
            _Candidate(score, one)
        )

    def _add_instruction(self, one: Judged) -> None:
        utterance, text = one.utterance, one.utterance.text
        self.decided.append(_Candidate(self._instruction_score(one) * one.validity, one))
        if cues.DEFERRAL.search(text):
            score = 0.4 + 0.3 * self._weight(utterance) + 0.35 * self._recency(utterance.turn)
            self.open.append(_Candidate(score, one))
        if utterance.turn >= self._last - 1 and cues.USERS_RESULT.search(text):
            self.ended.append(_Candidate(0.5 + 0.3 * self._weight(utterance), one))

    def _instruction_score(self, one: Judged) -> float:
        utterance, text = one.utterance, one.utterance.text
        is_directive, is_problem = cues.DIRECTIVE.search(text), cues.PROBLEM.search(text)
        score = 0.3 + 0.35 * bool(is_directive) + 0.25 * self._weight(utterance)
        score += 0.15 * bool(cues.STRONG_CONSTRAINT.search(text))
        if utterance.turn == self._first and not cues.GIVEN_CONSTRAINT.search(text):
            score -= 0.35
        if is_problem and not is_directive:
            score -= 0.6
        if cues.TASK.match(text) and not cues.RESTRICTED.search(text):
            score -= 0.3
        if cues.OWN_INTENT.match(text):
            score -= 0.4
        if cues.PRONOUN.search(text) and len(content(utterance)) < 3:
            score -= 0.15
        if cues.OTHERS_REQUEST.search(text):
            score -= 0.15
        if cues.SMALL_TALK.search(text) and utterance.words <= SHORT_INSTRUCTION:
            score -= 0.5
        if cues.REPORT.match(text):
            score -= 0.5
        elif self._is_selection(one):
            score += 0.22
        elif len(content(utterance)) < 2:
            score -= 0.25
        return score

    def _is_selection(self, one: Judged) -> bool:
        """Return True for a short instruction with words of the answer before it: "take node-rs"."""
        text = one.utterance.text
        if one.utterance.words > (SHORT_INSTRUCTION if cues.DIRECTIVE.search(text) else VERY_SHORT_INSTRUCTION):
            return False
        if cues.PROBLEM.search(text):
            return False
        before = self.session.answer(one.utterance.turn - 1)
        return any(content(one.utterance) & said.utterance.terms for said in before)

    def _add_answer(self, one: Judged) -> None:
        utterance, text = one.utterance, one.utterance.text
        is_open = is_open_lead(utterance.lead) or cues.OPEN.search(text) is not None
        if is_open:
            self.open.append(_Candidate(self._open_score(one) * one.validity, one))
        # What was found early describes the state before the work, or is a guess.
        is_recent = self._recency(utterance.turn) > RECENT
        if one.kind is Kind.CLAIM or (is_recent and (one.kind is Kind.FINDING or cues.FINDING.search(text))):
            self.ended.append(_Candidate(self._ended_score(one, is_open=is_open) * one.validity, one))
        if (score := self._agreement_score(one)) is not None:
            self.decided.append(_Candidate(score * one.validity, one))

    def _open_score(self, one: Judged) -> float:
        utterance = one.utterance
        recency = self._recency(utterance.turn)
        score = 1.0 if is_open_lead(utterance.lead) else 0.4
        score += 0.25 * self._weight(utterance) + 0.5 * recency - 0.3 * (1 - recency)
        return score + 0.2 * bool(cues.CLEARLY_OPEN.search(utterance.text))

    def _ended_score(self, one: Judged, *, is_open: bool) -> float:
        utterance, text = one.utterance, one.utterance.text
        score = 0.3 * (one.kind is Kind.CLAIM) + 0.3 * self._weight(utterance) + 0.6 * self._recency(utterance.turn)
        score += 0.2 * bool(cues.REFERENCE.search(text)) + 0.22 * bool(cues.MEASURED.search(text))
        score += 0.15 * bool(cues.FINDING.search(text))
        if (utterance.turn, utterance.line) in self._status_lines or cues.STATUS.search(utterance.lead):
            score += 0.35
        if is_open and not cues.NOT_DONE.search(text):
            score -= 0.2
        if len(content(utterance)) < 3 and not cues.MEASURED.search(text):
            score -= 0.15
        if one.kind is Kind.FINDING and self._only_asked(utterance.turn) and not cues.MEASURED.search(text):
            score -= 0.3  # an explanation, not a result
        return score - 0.6 * one.is_listed_as_open

    def _only_asked(self, turn: int) -> bool:
        prompt = self.session.prompt(turn)
        return (
            turn > self._first
            and bool(prompt)
            and all(one.kind is Kind.QUESTION or not content(one.utterance) for one in prompt)
        )

    def _agreement_score(self, one: Judged) -> float | None:
        """Return the score of an answer's utterance as a decision; None if it is none.

        A plan is none, even if it was accepted: what it became is said by the user and by the results.
        """
        utterance = one.utterance
        scores: list[float] = []
        if one.kind is not Kind.PLAN:
            if cues.DECIDED.search(utterance.text):
                scores.append(0.4 + 0.3 * self._weight(utterance))
            if one.kind is Kind.CLAIM and self._follows_selection(one):
                scores.append(0.42 + 0.3 * self._weight(utterance))
            if utterance.turn > self._first and self._restates(one):
                scores.append(0.45 + 0.3 * self._weight(utterance))
        return max(scores, default=None)

    def _follows_selection(self, one: Judged) -> bool:
        turn = one.utterance.turn
        return turn > self._first and any(
            asked.kind is Kind.INSTRUCTION
            and asked.utterance.words <= SHORT_INSTRUCTION
            and content(asked.utterance) & one.utterance.terms
            and not cues.PROBLEM.search(asked.utterance.text)
            for asked in self.session.prompt(turn)
        )

    def _restates(self, one: Judged) -> bool:
        """Return True if an utterance repeats specific words of the instruction that it answers."""
        instructed = [
            asked.utterance for asked in self.session.prompt(one.utterance.turn) if asked.kind is Kind.INSTRUCTION
        ]
        return any(len(self.session.specific(asked.terms & one.utterance.terms)) >= 2 for asked in instructed)

    def _recency(self, turn: int) -> float:
        """Return 1 for the last answer and later, less for earlier turns."""
        if turn >= self._last:
            return 1.0
        return math.exp((turn - self._last) / max(MIN_DECAY, DECAY * self.session.turns))

    def _raw_weight(self, utterance: Utterance) -> float:
        return self.session.weight(utterance.terms) / math.sqrt(len(utterance.terms) + 3)

    def _weight(self, utterance: Utterance) -> float:
        """Return the weight of the utterance's terms, 0 to 1."""
        return min(1.0, self._raw_weight(utterance) / self._most)


def _has_news(one: Judged) -> bool:
    """Return False for pleasantries and announcements."""
    text = one.utterance.text
    if one.kind is Kind.QUESTION:
        return False
    is_result = one.utterance.words >= MIN_RESULT_WORDS and cues.DONE.search(text) is not None
    return not cues.FILLER.match(text) and (len(content(one.utterance)) >= 2 or is_result)


# -- choice ----------------------------------------------------------------------------------------


class _Choice:
    """Takes the best candidates of each part within a number of characters, without repetitions."""

    def __init__(self, session: JudgedSession, characters: int) -> None:
        self._session = session
        self._characters = characters
        self._chosen: list[Utterance] = []
        self.taken: dict[_Part, list[Judged]] = {}

    def fill(self, part: _Part, candidates: Sequence[_Candidate], limit: float | None = None) -> None:
        taken = self.taken.setdefault(part, [])
        left = sorted(candidates, key=lambda candidate: -candidate.score)[:MAX_CANDIDATES]
        limit = part.share * self._characters if limit is None else limit
        while left and len(taken) < part.utterances:
            score, best = max(
                ((self._score(candidate, taken), candidate) for candidate in left),
                key=lambda scored: (scored[0], -scored[1].one.utterance.position),
            )
            if score < part.score:
                return
            left.remove(best)
            utterance = best.one.utterance
            if any(utterance is known for known in self._chosen) or self._repeated(utterance) > MAX_REPEATED:
                continue
            if sum(len(one.utterance.text) + 1 for one in taken) + len(utterance.text) <= limit:
                taken.append(best.one)
                self._chosen.append(utterance)

    def use_rest(self, *parts: tuple[_Part, Sequence[_Candidate]]) -> None:
        """Let each part take what the others left."""
        for part, candidates in parts:
            used = sum(len(one.utterance.text) + 1 for taken in self.taken.values() for one in taken)
            own = sum(len(one.utterance.text) + 1 for one in self.taken[part])
            if used < self._characters:
                self.fill(part, candidates, own + self._characters - used)

    def _repeated(self, utterance: Utterance) -> float:
        """Return the largest share of this utterance that a chosen one covers."""
        return max((self._session.share(known.terms, utterance.terms) for known in self._chosen), default=0.0)

    def _score(self, candidate: _Candidate, taken: Sequence[Judged]) -> float:
        utterance = candidate.one.utterance
        repeated = self._repeated(utterance)
        is_other_clause = any(_sentence(one.utterance) == _sentence(utterance) for one in taken)
        return (
            candidate.score
            - REPETITION * repeated
            + SAME_SENTENCE * is_other_clause
            - LENGTH_LOSS * max(0, len(utterance.text) - 60)
        )


def _sentence(utterance: Utterance) -> tuple[int, bool, int]:
    return utterance.turn, utterance.by_user, utterance.sentence


def _budget(session: JudgedSession) -> int:
    length = sum(len(one.utterance.text) for one in session.judged)
    return round(min(MAX_CHARACTERS, max(MIN_CHARACTERS, SHARE * length)))


def _fact(session: JudgedSession, text: str, number: int) -> Judged:
    text = " ".join(text.split())
    utterance = Utterance(
        turn=session.turns,
        position=len(session.judged) + number,
        text=text,
        by_user=True,
        lead="",
        is_item=False,
        line=number,
        sentence=number,
        terms=frozenset(significant_terms(text)),
    )
    return Judged(utterance, Kind.INSTRUCTION)


def _quote(chosen: Sequence[Judged], without_label: Callable[[str], bool] = lambda label: False) -> tuple[str, ...]:
    """Return the utterances as sentences in order, without labels such as "Still open:" that the part has itself."""
    ordered = sorted((one.utterance for one in chosen), key=lambda utterance: utterance.position)
    quoted: list[str] = []
    for utterance in ordered:
        label, colon, rest = utterance.text.partition(": ")
        is_own_label = bool(colon) and label == utterance.lead and without_label(label)
        quoted.append(_polish(rest if is_own_label and rest else utterance.text))
    return tuple(quoted)


def _polish(text: str) -> str:
    """Return an utterance without "Okay, so", as a sentence of at most `MAX_LENGTH` characters."""
    said = cues.ACKNOWLEDGEMENT.sub("", text)
    if said and said != text:
        text = said[0].upper() + said[1:]
    if len(text) > MAX_LENGTH:
        text = text[:MAX_LENGTH].rsplit(" ", 1)[0] + " \u2026"
    return text if text[-1:] in ".!?:\u2026\u3002\uff01\uff1f" else f"{text}."


def _names(session: JudgedSession) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files and references of utterances that hold, most often named first and in order."""
    files = Counter[str]()
    references: dict[str, None] = {}
    for one in session.judged:
        for file in find_files(one.utterance.text):
            files[file] += one.validity  # pyright: ignore[reportArgumentType]
        if one.validity >= MIN_FILE_VALIDITY:
            references.update(dict.fromkeys(found.group() for found in cues.REFERENCE.finditer(one.utterance.text)))
    named = [file for file, validity in files.most_common() if validity >= MIN_FILE_VALIDITY]
    return tuple(named[:MAX_FILES]), tuple(references)[-MAX_REFERENCES:]
