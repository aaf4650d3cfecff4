"""What the words of a session tell of how it went: its sort of work and its scores, counted and never guessed.

Every number here is part of docs/summaries.md, which explains the rules to those who read the scores.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from scrubjay.features.summaries.models import Material, Scores, SummaryCategory, Turn
from scrubjay.features.summaries.technologies import PATH, technologies_in
from scrubjay.search_index.terms import telling_terms

# Words that tell the sort of work, as they begin. What somebody asked for counts twice what was answered.
_SIGNS: Mapping[SummaryCategory, str] = {
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
_OF_CATEGORY = {
    category: re.compile(rf"\b(?:{'|'.join(sign.strip() for sign in signs.split('|'))})\b", re.IGNORECASE)
    for category, signs in _SIGNS.items()
}
PROMPT_WEIGHT = 2
# Less evidence than one word in a question is none.
LEAST_EVIDENCE = 2

DONE = re.compile(
    r"\b(?:done|fixed|implemented|completed?|finished|resolved|solved|works? now|working now|is working|passes|passed|"
    r"(?:tests|checks) (?:now )?pass|all green|added|created|updated|removed|renamed|refactored|deployed|released|"
    r"merged|written|wrote|decided|chose)\b",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    r"\b(?:(?:still|again|now) (?:fail\w*|broken|crash\w*)|could not|couldn't|cannot|can't|unable to|"
    r"not (?:yet )?(?:done|fixed|working|possible|finished)|(?:does|did)(?: not|n't) work|gave up|blocked)\b",
    re.IGNORECASE,
)
_FRICTION = re.compile(
    r"\b(?:no,|wrong|that'?s not|not what i|still (?:fail\w*|broken|not|wrong|does)|again\b.{0,20}\bfail\w*|undo|"
    r"revert|you (?:forgot|missed|broke|ignored)|(?:does|did)(?: not|n't) work|try again|same (?:error|problem))",
    re.IGNORECASE,
)
_WEIGHT = re.compile(
    r"\b(?:production|security|vulnerabilit\w+|breaking change|data loss|release[ds]?|customers?|users?|deadline|"
    r"critical|outage|incident|performance|migration|architecture|decided|decision|launch\w*|privacy|compliance)\b",
    re.IGNORECASE,
)
_FENCED = re.compile(r"(?:```|~~~)[^\n]*\n(.*?)(?:```|~~~|\Z)", re.DOTALL)


def category_of(material: Material) -> SummaryCategory:
    """The sort of work that most words speak of; `other` when hardly any do, or two sorts equally."""
    counts: Counter[SummaryCategory] = Counter()
    for turn in material.turns:
        for category, signs in _OF_CATEGORY.items():
            counts[category] += PROMPT_WEIGHT * len(signs.findall(turn.prompt))
            counts[category] += len(signs.findall(_without_code(turn.response)))
    for told in material.facts:
        for category, signs in _OF_CATEGORY.items():
            counts[category] += len(signs.findall(told.text))
    (best, most), (_, second) = counts.most_common(2) if len(counts) > 1 else ((SummaryCategory.OTHER, 0),) * 2
    return best if most >= LEAST_EVIDENCE and most > second else SummaryCategory.OTHER


def count_evidence(material: Material) -> dict[str, float]:
    """What the scores are made of, counted."""
    turns = material.turns
    texts = [text for turn in turns for text in (turn.prompt, turn.response)]
    last = turns[-1].response if turns else ""
    return {
        "turns": len(turns),
        "facts": len(material.facts),
        "importance": round(sum(told.importance for told in material.facts), 3),
        "files": len({found.group() for text in texts for found in PATH.finditer(text)}),
        "technologies": len(technologies_in(texts)),
        "codeLines": sum(code.count("\n") for text in texts for code in _FENCED.findall(text)),
        "thoughtWords": sum(len(turn.thought.split()) for turn in turns),
        "done": sum(bool(DONE.search(turn.response)) for turn in turns),
        "undone": sum(bool(_UNDONE.search(turn.response)) for turn in turns),
        "friction": sum(bool(_FRICTION.search(turn.prompt)) for turn in turns),
        "weightyWords": sum(len(_WEIGHT.findall(text)) for text in [*texts, *(told.text for told in material.facts)]),
        "focus": round(_focus(turns), 3),
        "endsDone": 0.0 if _UNDONE.search(last) else 1.0 if DONE.search(last) else 0.5,
    }


def scores_from(evidence: Mapping[str, float]) -> Scores:
    """The scores that these counts give."""
    turns = evidence["turns"] or 1
    flow = 1 - evidence["friction"] / turns
    return Scores(
        quality=_percent_of((flow, 60), (evidence["focus"], 40)),
        productivity=_percent_of((evidence["done"] / turns, 60), (evidence["endsDone"], 40)),
        impact=_percent_of(
            (evidence["importance"] / 3, 40), (evidence["files"] / 10, 30), (evidence["weightyWords"] / 8, 30)
        ),
        complexity=_percent_of(
            (evidence["files"] / 10, 30),
            (evidence["turns"] / 20, 25),
            (evidence["codeLines"] / 200, 20),
            (evidence["technologies"] / 6, 15),
            (evidence["thoughtWords"] / 1000, 10),
        ),
    )


def _percent_of(*parts: tuple[float, int]) -> int:
    """The sum of shares, each between nothing and all of its points."""
    return round(sum(points * min(1.0, max(0.0, share)) for share, points in parts))


def _focus(turns: Sequence[Turn]) -> float:
    """How much each turn goes on with what the one before was about; 1 for a single turn."""
    words = [{*telling_terms(f"{turn.prompt} {_without_code(turn.response)}")} for turn in turns]
    steps = [len(one & other) / min(len(one), len(other)) for one, other in pairwise(words) if one and other]
    # Turns of one matter share about a third of the smaller one's words.
    return min(1.0, 3 * sum(steps) / len(steps)) if steps else 1.0


def _without_code(text: str) -> str:
    return _FENCED.sub(" ", text)
