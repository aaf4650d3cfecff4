"""Category and scores of a session, computed from counts of its words.

docs/summaries.md explains these rules to the readers of the scores; keep its numbers in step with these.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from scrubjay.features.summaries import cues
from scrubjay.features.summaries.mentioned_files import find_files
from scrubjay.features.summaries.models import SessionMaterial, SummaryCategory, Turn, WorkScores
from scrubjay.features.summaries.technologies import find_technologies
from scrubjay.features.summaries.validity import JudgedSession, Kind, content
from scrubjay.search_index.terms import significant_terms

# Words that indicate a category of work. A word of a prompt counts twice as much as one of a response.
_CATEGORY_WORDS: Mapping[SummaryCategory, str] = {
    SummaryCategory.BUGFIX: r"""
        bugs? | fix(?:es|ed|ing)? | broken | crash\w* | regressions? | errors? | exceptions? |
        fail(?:s|ed|ing|ure|ures)? | tracebacks? | stack ?traces? | root cause | race condition | deadlocks? |
        leaks? | flaky
    """,
    SummaryCategory.FEATURE: r"""
        add(?:s|ed|ing)? | implement\w* | features? | support(?:s|ed|ing)? for |
        new (?:endpoint|option|button|command|field|flag|page|tool)s? | extend\w* | integrat\w+ | enable[ds]?
    """,
    SummaryCategory.REFACTORING: r"""
        refactor\w* | renam(?:e|ed|es|ing) | clean(?:ed|ing)? ?up | simplif\w+ | restructur\w+ |
        extract(?:ed|ing)? (?:a |the |into)\w* | deduplicat\w+ | split(?:ting)? up | dead code | migrat\w+ |
        moderni[sz]\w+
    """,
    SummaryCategory.DOCUMENTATION: r"""
        document(?:s|ed|ing|ation)? | docs? | docstrings? | readme | changelog | tutorials? | how-to |
        comments? | guides?
    """,
    SummaryCategory.NEW_APP: r"""
        from scratch | new (?:app|application|project|repository|repo|service|website|prototype) | scaffold\w* |
        bootstrap(?:ped|ping)? | boilerplate | prototype\w* | greenfield | initial (?:commit|setup|version)
    """,
    SummaryCategory.ANALYSIS: r"""
        analy[sz]\w+ | analysis | investigat\w+ | explain\w* | understand\w* | compar(?:e|ed|es|ing|ison) |
        benchmark\w* | profil(?:e|ed|ing) | measur\w+ | research\w* | evaluat\w+ | review(?:s|ed|ing)? |
        audit\w* | why (?:is|does|do|are) | how (?:does|do|is|are) | what (?:is|does|are)
    """,
}
_CATEGORY_PATTERNS = {
    category: re.compile(rf"\b(?:{'|'.join(sign.strip() for sign in signs.split('|'))})\b", re.IGNORECASE)
    for category, signs in _CATEGORY_WORDS.items()
}
PROMPT_WEIGHT = 2
# One word in a prompt. Less is not enough.
MIN_EVIDENCE = 2
# A turn is more than small talk if its prompt has this many terms, or if its answer reports something about it.
MIN_REQUEST_TERMS, MIN_ASKED_TERMS, MIN_SAID_TERMS = 5, 2, 3
# Quality and productivity count from this many terms on, and in full with that many more; names of files, code or
# technologies count as half of it.
SMALL_TALK_TERMS, ENOUGH_TERMS = 8, 8
SIGNS_OF_WORK = 0.5
# Validity of a result that counts as done.
MIN_VALIDITY = 0.5

_UNDONE = re.compile(
    r"\b(?:(?:still|again|now) (?:fail\w*|broken|crash\w*)|could not|couldn't|cannot|can't|unable to|"
    r"not (?:yet )?(?:done|fixed|working|possible|finished)|(?:does|did)(?: not|n't) work|gave up|blocked)\b",
    re.IGNORECASE,
)
_SIGNIFICANT = re.compile(
    r"\b(?:production|security|vulnerabilit\w+|breaking change|data loss|release[ds]?|customers?|users?|deadline|"
    r"critical|outage|incident|performance|migration|architecture|decided|decision|launch\w*|privacy|compliance)\b",
    re.IGNORECASE,
)
_FENCED = re.compile(r"(?:```|~~~)[^\n]*\n(.*?)(?:```|~~~|\Z)", re.DOTALL)


def classify(material: SessionMaterial) -> SummaryCategory:
    """Return the category with the most evidence; `other` if there is too little, or a tie."""
    counts: Counter[SummaryCategory] = Counter()
    for turn in material.turns:
        for category, signs in _CATEGORY_PATTERNS.items():
            counts[category] += PROMPT_WEIGHT * len(signs.findall(turn.prompt))
            counts[category] += len(signs.findall(_without_code(turn.response)))
    for fact in material.facts:
        for category, signs in _CATEGORY_PATTERNS.items():
            counts[category] += len(signs.findall(fact.text))
    (best, most), (_, second) = counts.most_common(2) if len(counts) > 1 else ((SummaryCategory.OTHER, 0),) * 2
    return best if most >= MIN_EVIDENCE and most > second else SummaryCategory.OTHER


def count_evidence(material: SessionMaterial, session: JudgedSession) -> dict[str, float]:
    """Return the counts that the scores are computed from; `session` holds the judged utterances of its turns."""
    turns = material.turns
    texts = [text for turn in turns for text in (turn.prompt, turn.response)]
    working = [number for number in range(len(turns)) if _is_work(session, number)]
    files = len({file for text in texts for file in find_files(text)})
    technologies = len(find_technologies(texts))
    code_lines = sum(code.count("\n") for text in texts for code in _FENCED.findall(text))
    has_signs = bool(files or technologies or code_lines or material.facts)
    return {
        "turns": len(turns),
        "working": len(working),
        "facts": len(material.facts),
        "importance": round(sum(fact.importance for fact in material.facts), 3),
        "files": files,
        "technologies": technologies,
        "codeLines": code_lines,
        "thoughtWords": sum(len(turn.thought.split()) for turn in turns),
        "done": sum(_results(session, number) > 0 for number in working),
        "undone": sum(bool(_UNDONE.search(turns[number].response)) for number in working),
        "friction": sum(_is_friction(session, number) for number in working),
        "weightyWords": sum(
            len(_SIGNIFICANT.findall(text)) for text in [*texts, *(fact.text for fact in material.facts)]
        ),
        "focus": round(_focus([turns[number] for number in working]), 3),
        "endsDone": _end(session, working, turns),
        "substance": round(_substance(session, working, has_signs=has_signs), 3),
    }


def compute_scores(evidence: Mapping[str, float]) -> WorkScores:
    """Return the scores for these counts; a session of greetings has none."""
    if not evidence["working"] and not evidence["facts"]:
        return WorkScores(quality=0, productivity=0, impact=0, complexity=0)
    turns = evidence["working"] or 1
    flow = 1 - evidence["friction"] / turns
    return WorkScores(
        quality=round(evidence["substance"] * _points((flow, 60), (evidence["focus"], 40))),
        productivity=round(evidence["substance"] * _points((evidence["done"] / turns, 60), (evidence["endsDone"], 40))),
        impact=_points(
            (evidence["importance"] / 3, 40), (evidence["files"] / 10, 30), (evidence["weightyWords"] / 8, 30)
        ),
        complexity=_points(
            (evidence["files"] / 10, 30),
            (turns / 20, 25),
            (evidence["codeLines"] / 200, 20),
            (evidence["technologies"] / 6, 15),
            (evidence["thoughtWords"] / 1000, 10),
        ),
    )


def _is_work(session: JudgedSession, turn: int) -> bool:
    """Return False for greetings, thanks and small talk."""
    asked = frozenset[str]().union(*(content(one.utterance) for one in session.prompt(turn)))
    if len(asked) >= MIN_REQUEST_TERMS:
        return True
    if session.prompt(turn) and not asked:
        return False
    said = [one.utterance for one in session.answer(turn) if one.kind in (Kind.CLAIM, Kind.FINDING)]
    news = [content(utterance) for utterance in said if len(content(utterance)) >= MIN_SAID_TERMS]
    if not session.prompt(turn) or any(terms & asked for terms in news):
        return bool(news)
    is_report = len(news) > 1 or any(find_files(one.text) or cues.FINDING.search(one.text) for one in said)
    return len(asked) >= MIN_ASKED_TERMS and is_report


def _substance(session: JudgedSession, working: Sequence[int], *, has_signs: bool) -> float:
    """Return how much was asked for and reported, 0 to 1: a few words are no session to judge."""
    said = [one for turn in working for one in (*session.prompt(turn), *session.answer(turn))]
    terms = frozenset[str]().union(
        *(content(one.utterance) for one in said if one.utterance.by_user or one.kind in (Kind.CLAIM, Kind.FINDING))
    )
    return min(1.0, max(0, len(terms) - SMALL_TALK_TERMS) / ENOUGH_TERMS + SIGNS_OF_WORK * has_signs)


def _results(session: JudgedSession, turn: int) -> int:
    """Return the number of results of a turn that hold at the end."""
    return sum(
        one.kind is Kind.CLAIM and one.validity >= MIN_VALIDITY and not cues.NOT_DONE.search(one.utterance.text)
        for one in session.answer(turn)
    )


def _is_friction(session: JudgedSession, turn: int) -> bool:
    """Return True if the prompt rejects the answer before it or reports that it failed."""
    return any(
        one.kind is not Kind.QUESTION
        and (cues.REJECTION.search(one.utterance.text) or cues.PROBLEM.search(one.utterance.text))
        for one in (session.prompt(turn) if turn else ())
    )


def _end(session: JudgedSession, working: Sequence[int], turns: Sequence[Turn]) -> float:
    """Return 1 if the last working turn ends with something done, 0 if with something not done, else 0.5."""
    last = working[-1] if working else len(turns) - 1
    if last < 0:
        return 0.5
    if _UNDONE.search(turns[last].response):
        return 0.0
    return 1.0 if _results(session, last) else 0.5


def _points(*parts: tuple[float, int]) -> int:
    """Return the sum of points, each weighted by its share limited to 0 to 1."""
    return round(sum(points * min(1.0, max(0.0, share)) for share, points in parts))


def _focus(turns: Sequence[Turn]) -> float:
    """Return how much consecutive turns share their topic, 0 to 1; 1 for a single turn."""
    words = [{*significant_terms(f"{turn.prompt} {_without_code(turn.response)}")} for turn in turns]
    steps = [len(one & other) / min(len(one), len(other)) for one, other in pairwise(words) if one and other]
    # Two turns on one topic share about a third of the words of the shorter one.
    return min(1.0, 3 * sum(steps) / len(steps)) if steps else 1.0


def _without_code(text: str) -> str:
    return _FENCED.sub(" ", text)
