"""Parse a question about code into intents and subjects, with regular expressions."""

import re
from typing import Literal, NamedTuple

from scrubjay.code_index.questions.intents import Intent


class Subject(NamedTuple):
    """The thing that a question is about."""

    text: str
    """The words of the question, without articles."""
    name: str = ""
    """The name of the symbol or file; empty if the question only describes it."""
    certain: bool = False
    """Whether it can only be a name: quoted, followed by `()`, or spelled like an identifier."""


class CodeQuestion(NamedTuple):
    """One question, parsed."""

    intent: Intent
    subject: Subject
    other: Subject | None = None
    """The second subject, in questions about two."""
    incoming: bool = True
    """True for what others do to the subject (its callers), false for what the subject does (its callees)."""
    only: Literal["", "tests", "members"] = ""
    """Restriction to tests, or to members of the subject."""
    parts: str = ""
    """Kind of members, such as methods."""


NO_SUBJECT = Subject("")
# Further sentences are ignored.
MAX_QUESTIONS = 5
# Longer sentences are descriptions: they are searched as text, not parsed.
MAX_SENTENCE = 400

_PART = r"[A-Za-z_$@][\w$]*"
_IDENTIFIER = re.compile(rf"{_PART}(?:(?:\.|::|#|->|/){_PART})*")
_PATH = re.compile(r"(?:\.{0,2}/)?(?:[\w$@.+-]+/)*[\w$@.+-]+(?:::[\w$.]+)?")
_QUOTED = re.compile(r"[`'\"\u2018\u201c](?P<in>[^`'\"\u2019\u201d]+)[`'\"\u2019\u201d]")
# Spelled like an identifier and not like a word: camelCase, snake_case, dotted, with `::` or `()`.
_CODE = re.compile(r"\w_\w|_\w|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]|[A-Z][A-Z0-9]{2,}|\w(?:\.|::|#|->|/)\w|\(\)|^[$@]")
_ARTICLE = re.compile(r"^(?:the|a|an|our|its|this|that|these|those|all|any)\s+", re.IGNORECASE)
_KINDS = (
    r"functions?|methods?|class(?:es)?|constructors?|exceptions?|errors?|variables?|constants?|settings?|options?|modules?|"
    r"files?|packages?|librar(?:y|ies)|types?|interfaces?|structs?|traits?|enums?|macros?|fields?|propert(?:y|ies)|"
    r"symbols?|components?|decorators?|keys?|flags?|env(?:ironment)?\s+var(?:iable)?s?|config(?:uration)?\s+\w+"
)
# After one of these words, a name follows.
_NAMED_KIND = re.compile(
    r"(?:function|method|class|constructor|exception|variable|constant|interface|struct|enum|macro)", re.IGNORECASE
)
_KIND_BEFORE = re.compile(rf"^(?:{_KINDS})\s+(?=\S)", re.IGNORECASE)
_KIND_AFTER = re.compile(rf"(?<=\S)\s+(?:{_KINDS})$", re.IGNORECASE)
_PLACE = re.compile(
    r"\s+(?:in|inside|within|throughout|across)\s+(?:(?:this|the|our|your|that)\s+(?:whole\s+|entire\s+)?)?"
    r"(?:code\s?base|code|repo(?:sitory)?|project|app(?:lication)?|system|program)$",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"^(?:(?:please|hey|hi|so|and|ok(?:ay)?|well|now|then)[,\s]+|(?:can|could|would|will)\s+you\s+(?:please\s+)?|"
    r"(?:tell|show)\s+me\s+(?=(?:who|what|where|which|how)\b)|i\s+(?:want|need|would\s+like)\s+to\s+know\s+|"
    r"do\s+you\s+know\s+|explain\s+(?:to\s+me\s+)?(?=(?:who|what|where|which|how)\b))+",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"(?:it|this|that|them|they|these|those)", re.IGNORECASE)
_NEXT = re.compile(r"[?!;]+\s+|\.\s+(?=[A-Z])|,?\s+and\s+(?=(?:who|what|where|which|how)\b)", re.IGNORECASE)

_INTENTS = {
    Intent.SYMBOL: "defined declared implemented located written define defines declare declares implement implements",
    Intent.USAGE: "used referenced accessed mentioned needed use uses reference references need needs access accesses "
    "inherit inherits extend extends subclass subclasses inherited extended subclassed",
    Intent.CALLGRAPH: "called invoked instantiated constructed created executed triggered call calls invoke invokes "
    "instantiate instantiates construct constructs create creates trigger triggers calling invoking",
    Intent.RAISE: "thrown raised throw throws raise raises throwing raising",
    Intent.CATCH: "caught handled rescued catch catches handle handles rescue rescues catching handling",
    Intent.CONFIGURATION: "set configured read loaded assigned specified changed configure configures sets reads loads "
    "overridden stored",
    Intent.IMPORT: "imported import imports importing required",
}
_INTENT_OF = {word: intent for intent, words in _INTENTS.items() for word in words.split()}
_PASSIVE = (
    r"(?:defined|declared|implemented|located|written|used|referenced|accessed|mentioned|needed|called|invoked|"
    r"instantiated|constructed|created|executed|triggered|thrown|raised|caught|handled|rescued|set|configured|read|"
    r"loaded|assigned|specified|changed|overridden|stored|imported|required|inherited|extended|subclassed)"
)
_ACTIVE = (
    r"(?:define|declare|implement|use|reference|need|access|call|invoke|instantiate|construct|create|trigger|throw|"
    r"raise|catch|catche|handle|rescue|set|configure|read|load|import|extend|subclasse?|inherit)s?(?:\s+from)?"
)
_AND = r"(?:\s*(?:,|/|and|or|,\s*and|,\s*or)\s*)"
_ACTOR = (
    r"(?:who|what|which(?:\s+[\w-]+){0,2}|what(?:\s+[\w-]+){1,2}|how\s+many(?:\s+[\w-]+){0,2}|"
    r"does\s+any(?:thing|one|body)(?:\s+else|\s+still)?|"
    r"(?:list|find|show|give|get)(?:\s+me)?(?:\s+all|\s+every|\s+the)*(?:\s+[\w-]+){1,2}?\s+(?:that|which|who|where))"
)
_WHO = rf"(?:{_ACTOR})"
_LIST = (
    r"(?:(?:list|find|show|give|get)(?:\s+me)?\s+)?(?:(?:what|which|who)\s+(?:is|are)\s+)?(?:all\s+|the\s+|every\s+)*"
)
_DOING = r"(?:who|what|which(?:\s+[\w-]+){0,2})(?:'?s|\s+is|\s+are)"
_PARTS = r"(?P<parts>functions|methods|members|fields|attributes|properties|classes|types|definitions|symbols)"
_FILES = r"(?:files?|modules?|scripts?|source\s+files?|packages?|folders?|director(?:y|ies))"


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_TWO = (
    _form(r"how\s+(?:do|does|is|are)\s+(?P<a>.+?)\s+(?:relate|related|connect|connected|linked|tied)\s+(?:to|with)\s+(?P<b>.+)"),
    _form(r"how\s+(?:are|do)\s+(?P<a>.+?)\s+and\s+(?P<b>.+?)\s+(?:related|connected|linked|relate|connect|interact|work\s+together)(?:\s+to\s+each\s+other)?"),
    _form(r"(?:what\s+is\s+|what's\s+|show(?:\s+me)?\s+|explain\s+|describe\s+)?(?:the\s+)?(?:relationship|relation|connection|link)s?\s+between\s+(?P<a>.+?)\s+and\s+(?P<b>.+)"),
    _form(r"what\s+(?:connects|links|relates|ties)\s+(?P<a>.+?)\s+(?:and|to|with)\s+(?P<b>.+)"),
    _form(r"what\s+(?:has|does|have|do)\s+(?P<a>.+?)\s+(?:got\s+|have\s+)?to\s+do\s+with\s+(?P<b>.+)"),
    _form(r"how\s+(?:do|does)\s+(?P<a>.+?)\s+(?:use|uses|interact\s+with|depend\s+on|talk\s+to|know(?:\s+about|\s+of)?)\s+(?P<b>.+)"),
)  # fmt: skip
_REACH = (
    _form(r"how\s+(?:do|does|can|could|would)\s+(?P<a>.+?)\s+(?:reach(?:es)?|get\s+to|lead\s+to|end\s+up\s+(?:in|at|calling)|come\s+to(?:\s+call)?|call|invoke|trigger)\s+(?P<b>.+)"),
    _form(r"(?:trace|follow|show(?:\s+me)?|find|what\s+is|what\s+are)\s+(?:the\s+|all\s+)?(?:(?:call\s+|execution\s+|control\s+|data\s+)?(?:flow|paths?|chains?|routes?|calls)\s+)?(?:from\s+)?(?P<a>.+?)\s+(?:to|into|until)\s+(?P<b>.+)"),
    _form(r"(?:does|can|could|do)\s+(?P<a>.+?)\s+(?:ever\s+)?(?:reach|get\s+to|lead\s+to|end\s+up\s+(?:in|at|calling)|call|invoke)\s+(?P<b>.+)"),
)  # fmt: skip
_FLOW = (
    _form(r"how\s+(?:do|does|did|would|will)\s+(?P<a>.+?)\s+(?:actually\s+|really\s+|internally\s+)?(?:work|function|operate|happen|proceed|run)s?(?:\s+(?:internally|exactly|under\s+the\s+hood|step\s+by\s+step))?"),
    _form(r"(?:how\s+)?(?P<a>.+?)\s+works"),
    _form(r"(?:trace|follow)\s+(?:through\s+)?(?:the\s+)?(?:(?:call\s+|execution\s+|control\s+|data\s+|code\s+)?(?:flow|path|chain|execution|calls)\s+)?(?:of\s+|from\s+|for\s+|in\s+|through\s+)?(?P<a>.+)"),
    _form(r"(?:walk|step|go|take)\s+(?:me\s+|us\s+)?through\s+(?:how\s+)?(?:the\s+(?:code|flow|steps|process)\s+(?:of|for|in)\s+)?(?P<a>.+?)(?:\s+works)?"),
    _form(r"what\s+happens\s+(?:when|if|after|once|in|during)\s+(?:(?:i|we|you|one|somebody|someone|a\s+user)\s+(?:call|run|invoke)s?\s+)?(?P<a>.+?)(?:\s+(?:is|are|gets?)\s+(?:called|run|invoked|executed))?"),
    _form(r"(?:the\s+)?(?:call\s+|execution\s+|control\s+|data\s+)?flow\s+(?:of|for|in|from)\s+(?P<a>.+)"),
)  # fmt: skip
_FILE = (
    _form(rf"(?:in\s+)?(?:which|what)\s+(?:(?:is|are)\s+the\s+)?{_FILES}\s+(?:(?:that|which)\s+)?(?:is|are|do|does|will|would|should|has|have|holds?|handles?|contains?|defines?|implements?|keeps?|includes?|deals?\s+with|takes?\s+care\s+of|manages?|controls?|provides?|declares?|runs?|parses?|creates?|stores?|builds?|checks?)\s+(?:responsible\s+for\s+|in\s+charge\s+of\s+|about\s+|for\s+)?(?P<a>.+?)(?:\s+(?:in|defined|implemented|handled|located|live|lives|contained))?"),
    _form(rf"(?:where\s+is|find|show(?:\s+me)?|locate|what\s+is|list)\s+(?:the\s+|all\s+)*{_FILES}\s+(?:that\s+|which\s+)?(?:named|called|for|with|of|containing|contains?|handling|handles?|about|defining|defines?|implementing|implements?)\s+(?P<a>.+)"),
)  # fmt: skip
_IMPORT_IN = (
    _form(
        rf"{_WHO}\s+(?:imports?|requires?|depends?\s+(?:up)?on|relies\s+on|rely\s+on|(?:is|are)\s+dependent\s+on)\s+(?P<a>.+)"
    ),
    _form(rf"{_LIST}(?:imports?|dependents?|importers?|dependants?)\s+(?:of|for)\s+(?P<a>.+)"),
    _form(r"where\s+(?:is|are)\s+(?P<a>.+?)\s+imported(?:\s+from)?"),
)
_IMPORT_OUT = (
    _form(
        r"(?:what|which(?:\s+\w+)?|what\s+\w+)\s+(?:do|does)\s+(?P<a>.+?)\s+(?:import|require|depend\s+(?:up)?on|rely\s+on|need)"
    ),
    _form(rf"{_LIST}(?:dependenc(?:y|ies)|imports)\s+(?:of|in)\s+(?P<a>.+)"),
    _form(r"(?:what|which\s+\w+)\s+(?:is|are)\s+imported\s+(?:by|in|into)\s+(?P<a>.+)"),
)
_OUT = (
    (
        Intent.CALLGRAPH,
        _form(r"(?:what|which|who)(?:\s+\w+){0,2}?\s+(?:do|does)\s+(?P<a>.+?)\s+(?:call|use|invoke|run|trigger)"),
    ),
    (Intent.RAISE, _form(r"(?:what|which)(?:\s+\w+){0,2}?\s+(?:do|does|can|could|may)\s+(?P<a>.+?)\s+(?:raise|throw)")),
    (
        Intent.CATCH,
        _form(r"(?:what|which)(?:\s+(?:errors?|exceptions?))\s+(?:do|does|can)\s+(?P<a>.+?)\s+(?:catch|handle)"),
    ),
    (
        Intent.CALLGRAPH,
        _form(
            rf"{_LIST}(?:functions?|methods?|things|code)?\s*(?:that\s+are\s+)?(?:is\s+|are\s+)?(?:called|invoked)\s+by\s+(?P<a>.+)"
        ),
    ),
    (Intent.CALLGRAPH, _form(rf"{_LIST}callees?\s+of\s+(?P<a>.+)")),
    (
        Intent.RAISE,
        _form(
            r"(?:what|which)\s+(?:errors?|exceptions?)\s+(?:is|are|can\s+be|may\s+be)\s+(?:raised|thrown)\s+(?:by|in)\s+(?P<a>.+)"
        ),
    ),
)
_SETTINGS = (
    _form(
        r"(?:(?:what|which)|list(?:\s+all)?|show(?:\s+me)?(?:\s+all)?|where\s+are)(?:\s+the)?\s+env(?:ironment)?\s+var(?:iable)?s?\b.*"
    ),
    _form(r"(?:how|where)\s+(?:do|can|could|should|would)\s+(?:i|we|you|one)\s+(?:configure|set|change)\s+(?P<a>.+)"),
    _form(r"what\s+(?:is|are)\s+(?:the\s+)?(?:default|value|default\s+value)s?\s+(?:of|for)\s+(?P<a>.+)"),
)
_PASSIVELY = _form(
    rf"(?:where(?:abouts)?|how|when|by\s+(?:whom|what)|in\s+(?:which|what)\s+\w+)(?:\s+else)?\s+(?:is|are|was|were|gets?|does|do|can|could)\s+"
    rf"(?P<a>.+?)\s+(?:be\s+|being\s+|get\s+|gets\s+|both\s+)?(?P<v>{_PASSIVE}(?:{_AND}{_PASSIVE})*)"
    r"(?:\s+(?:in|inside|within|by|from|to|at|for)\b.*)?"
)
# "Is it used anywhere?" asks where.
_YES_NO = _form(
    rf"(?:is|are)\s+(?P<a>[^\s]+(?:\s+(?:function|method|class|variable|constant))?)\s+(?:ever\s+|still\s+|really\s+|actually\s+)?"
    rf"(?P<v>{_PASSIVE})(?:\s+(?:anywhere|somewhere|at\s+all|yet|in|inside|within|by|from)\b.*)?"
)
_INVERTED = _form(
    rf"(?:where|how|when)\s+(?P<a>.+?)\s+(?:is|are|gets?)\s+(?:being\s+)?(?P<v>{_PASSIVE}(?:{_AND}{_PASSIVE})*)(?:\s+(?:in|by|from|to|at)\b.*)?"
)
_BREAKS = _form(
    r"(?:what|who|which\s+\w+)\s+(?:breaks?|(?:is|are|gets?)\s+(?:affected|broken)|(?:would|will|could|might)\s+(?:break|be\s+affected))\s+"
    r"(?:if|when|by)\s+(?:(?:i|we|you|one)\s+)?(?:chang\w+|remov\w+|renam\w+|delet\w+|touch\w*|break\w*)?\s*(?:to\s+)?(?P<a>.+?)"
    r"(?:\s+(?:is\s+)?(?:changes|changed|removed|renamed|deleted|breaks))?"
)
_LIVES = _form(
    r"where\s+(?:do|does|can\s+i\s+find|is|are|to\s+find)\s+(?P<a>.+?)(?:\s+(?:live|lives|reside|sit|come\s+from|found))?"
)
_ACTIVELY = _form(
    rf"(?:where|how|when)\s+(?:do|does|did|can|could|should)\s+(?:we|you|i|it|they|one|the\s+(?:code|program|app|project)|this\s+\w+)\s+"
    rf"(?P<v>{_ACTIVE})\s+(?P<a>.+)"
)
_DOES = _form(rf"{_WHO}\s+(?:can\s+|could\s+|may\s+|might\s+)?(?P<v>{_ACTIVE}(?:{_AND}{_ACTIVE})*)\s+(?P<a>.+)")
_NOUNS = (
    (Intent.CALLGRAPH, _form(rf"{_LIST}(?:callers?|call\s+sites?|calls)\s+(?:of|to|for)\s+(?P<a>.+)")),
    (Intent.USAGE, _form(rf"{_LIST}(?:usages?|uses|references?|mentions?)\s+(?:of|to|for)\s+(?P<a>.+)")),
    (Intent.SYMBOL, _form(rf"{_LIST}(?:definition|declaration|implementation|signature)s?\s+(?:of|for)\s+(?P<a>.+)")),
    (Intent.USAGE, _BREAKS),
    (Intent.RAISE, _form(rf"{_WHO}\s+(?:code\s+)?(?:is|are)\s+(?:throwing|raising)\s+(?P<a>.+)")),
    (Intent.CALLGRAPH, _form(rf"{_DOING}\s+(?:calling|invoking)\s+(?P<a>.+)")),
    (Intent.CATCH, _form(rf"{_DOING}\s+(?:catching|handling)\s+(?P<a>.+)")),
    (Intent.RAISE, _form(rf"{_DOING}\s+(?:throwing|raising)\s+(?P<a>.+)")),
    (Intent.USAGE, _form(rf"{_DOING}\s+(?:using|referencing|extending|subclassing|inheriting\s+from)\s+(?P<a>.+)")),
    (Intent.USAGE, _form(rf"{_LIST}(?:sub-?class(?:es)?|(?:derived|child)\s+classes|heirs?)\s+of\s+(?P<a>.+)")),
)  # fmt: skip
_TESTS = (
    _form(
        rf"{_LIST}(?:(?:what|which|are\s+there(?:\s+any)?)\s+)?(?:unit\s+)?tests?\s+(?:that\s+|which\s+)?"
        r"(?:(?:cover|exercise|reach|check|verif(?:y|ie)|test|call|use|run)(?:e?s)?|for|of|covering|testing)\s+(?P<a>.+)"
    ),
    _form(
        r"(?:is|are|how\s+(?:is|are)|where\s+(?:is|are))\s+(?P<a>.+?)\s+(?:tested|covered)(?:\s+by\s+(?:any\s+)?tests?)?"
    ),
)
_MEMBERS = (
    _form(
        rf"(?:what|which|how\s+many)\s+{_PARTS}\s+(?:do|does)\s+(?P<a>.+?)\s+"
        r"(?:have|define|contain|offer|provide|expose|declare|hold|implement)"
    ),
    _form(rf"{_LIST}{_PARTS}\s+(?:of|in|on)\s+(?P<a>.+)"),
    _form(rf"(?:what|which)\s+{_PARTS}\s+(?:is|are)\s+(?:defined\s+|declared\s+|there\s+)?(?:in|on|by)\s+(?P<a>.+)"),
)
_WHAT = (
    _form(r"what(?:'s|\s+is|\s+are|\s+was)\s+(?P<a>.+?)(?:\s+(?:for|about))?"),
    _form(r"what\s+(?:do|does)\s+(?P<a>.+?)\s+(?:do|mean|return|look\s+like|take|contain|hold)"),
    _form(r"(?:define|describe|explain|show(?:\s+me)?|find|locate|look\s+up|where'?s)\s+(?P<a>.+)"),
    _form(r"(?:is\s+there|do\s+we\s+have|does\s+this\s+have)\s+(?P<a>.+)"),
)


def parse_question(question: str) -> list[CodeQuestion]:
    """Return the questions in a text, in order; a search for the text if no form matches."""
    found: list[CodeQuestion] = []
    for part in _NEXT.split(" ".join(question.split())):
        text = _PLACE.sub("", _POLITE.sub("", part.strip().strip("?!.;, \t\n")).rstrip("?!.,; "))
        if text:
            before = next((one.subject for one in reversed(found) if one.subject.text), None)
            found += [_resolve_pronoun(parsed, before) for parsed in _parse_sentence(text)]
    return list(dict.fromkeys(found))[:MAX_QUESTIONS] or [CodeQuestion(Intent.SEARCH, Subject(question.strip()))]


def names_in(text: str) -> list[str]:
    """Return the words of a text that can only be names, in order, without duplicates."""
    quoted = [match["in"] for match in _QUOTED.finditer(text)]
    words = [
        word.strip("`'\"()?!.,;:\u2018\u2019\u201c\u201d")
        for word in text.split()
        if _CODE.search(word.strip("?!.,;:"))
    ]
    known = [_bare(name) for name in (*quoted, *words)]
    return list(dict.fromkeys(name for name in known if name and _IDENTIFIER.fullmatch(name)))


def subject_of(text: str) -> Subject:
    """Parse a noun phrase: a name, or a description."""
    text = text.strip().strip(",")
    while (shorter := _ARTICLE.sub("", text)) != text:
        text = shorter
    if (quoted := _QUOTED.search(text)) and _is_name(_bare(quoted["in"])):
        return Subject(text, _bare(quoted["in"]), certain=True)
    bare = text
    # "class Foo" and "Foo class" mean Foo; a lone "class" means itself.
    for pattern in (_KIND_AFTER, _KIND_BEFORE, _KIND_AFTER):
        shorter = pattern.sub("", bare)
        bare = _ARTICLE.sub("", shorter) if shorter else bare
    if " " not in bare and _is_name(_bare(bare)):
        has_kind = any(map(_NAMED_KIND.fullmatch, text.split())) and bare != text
        return Subject(text, _bare(bare), certain=has_kind or _CODE.search(bare) is not None)
    certain = names_in(bare)
    if len(certain) == 1:
        return Subject(text, certain[0], certain=True)
    return Subject(text)


def _parse_sentence(text: str) -> list[CodeQuestion]:
    if len(text) <= MAX_SENTENCE:
        for asked in (_parse_parts, _parse_two, _parse_files, _parse_verbs, _parse_flow, _parse_things):
            if found := asked(text):
                return found
    if " " not in text and _is_name(_bare(text)):
        return [CodeQuestion(Intent.SYMBOL, subject_of(text))]
    named = [CodeQuestion(Intent.SYMBOL, Subject(name, name, certain=True)) for name in names_in(text)]
    return [*named, CodeQuestion(Intent.SEARCH, Subject(text))]


def _parse_parts(text: str) -> list[CodeQuestion]:
    for wanted, forms in (
        (CodeQuestion(Intent.CALLGRAPH, NO_SUBJECT, only="tests"), _TESTS),
        (CodeQuestion(Intent.SYMBOL, NO_SUBJECT, only="members"), _MEMBERS),
    ):
        for form in forms:
            if (match := form.fullmatch(text)) and (subject := subject_of(match["a"])).name:
                return [wanted._replace(subject=subject, parts=match.groupdict().get("parts", "").lower())]
    return []


def _parse_two(text: str) -> list[CodeQuestion]:
    for intent, forms in ((Intent.RELATIONSHIP, _TWO), (Intent.FLOW, _REACH)):
        for form in forms:
            if (match := form.fullmatch(text)) is not None:
                first, second = subject_of(match["a"]), subject_of(match["b"])
                if first.name and second.name:
                    return [CodeQuestion(intent, first, second)]
    return []


def _parse_files(text: str) -> list[CodeQuestion]:
    for incoming, forms in ((True, _IMPORT_IN), (False, _IMPORT_OUT)):
        for form in forms:
            if (match := form.fullmatch(text)) and (subject := subject_of(match["a"])).name:
                return [CodeQuestion(Intent.IMPORT, subject, incoming=incoming)]
    for form in _FILE:
        if match := form.fullmatch(text):
            return [CodeQuestion(Intent.FILE, subject_of(match["a"]))]
    return []


def _parse_verbs(text: str) -> list[CodeQuestion]:
    for form in _SETTINGS:
        if match := form.fullmatch(text):
            subject = subject_of(match["a"]) if "a" in form.groupindex else NO_SUBJECT
            if subject.name or "a" not in form.groupindex:
                return [CodeQuestion(Intent.CONFIGURATION, subject)]
    for intent, form in _OUT:
        if (match := form.fullmatch(text)) and (subject := subject_of(match["a"])).name:
            return [CodeQuestion(intent, subject, incoming=False)]
    for intent, form in _NOUNS:
        if (match := form.fullmatch(text)) and (subject := subject_of(match["a"])).name:
            return [CodeQuestion(intent, subject)]
    for form in (_PASSIVELY, _YES_NO, _INVERTED, _ACTIVELY, _DOES):
        if match := form.fullmatch(text):
            return _intents_of_verbs(match["v"], subject_of(match["a"]))
    return []


def _intents_of_verbs(verbs: str, subject: Subject) -> list[CodeQuestion]:
    intents = [_INTENT_OF[verb] for verb in re.findall(r"[a-z]+", verbs.lower()) if verb in _INTENT_OF]
    if not subject.name:
        # "where is the login handled" is a search, whatever the verb.
        return [CodeQuestion(Intent.SEARCH, subject)]
    return [CodeQuestion(intent, subject) for intent in dict.fromkeys(intents)]


def _parse_flow(text: str) -> list[CodeQuestion]:
    for form in _FLOW:
        if match := form.fullmatch(text):
            return [CodeQuestion(Intent.FLOW, subject_of(match["a"]))]
    return []


def _parse_things(text: str) -> list[CodeQuestion]:
    for form in (_LIVES, *_WHAT):
        if match := form.fullmatch(text):
            subject = subject_of(match["a"])
            if subject.name:
                return [CodeQuestion(Intent.SYMBOL, subject)]
    return []


def _resolve_pronoun(parsed: CodeQuestion, before: Subject | None) -> CodeQuestion:
    if before is None or not _PRONOUN.fullmatch(parsed.subject.text or "-"):
        return parsed
    return parsed._replace(subject=before)


def _bare(name: str) -> str:
    return re.sub(r"\([^()]*\)$", "", name.strip().strip("`'\"")).rstrip(":")


def _is_name(text: str) -> bool:
    return bool(text) and (_IDENTIFIER.fullmatch(text) or _PATH.fullmatch(text)) is not None
