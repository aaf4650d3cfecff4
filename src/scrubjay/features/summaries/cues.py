"""Words by which people and agents mark requests, decisions, results, open points and withdrawn work.

The lists are English, with the commonest German words. In a session without any of them, utterances are chosen by their
terms and their place.
"""

import re
from functools import cache

from scrubjay.core.lazy_regex import lazy_pattern
from scrubjay.search_index.terms import significant_terms

_I = re.IGNORECASE

# Words of greetings, thanks and assent; a text of nothing else has no content.
_SOCIAL = """
    hi hello hey hallo moin morning good evening afternoon day night thanks thank thx ty please ok okay great nice cool
    perfect super awesome bye cheers welcome sure yes yep yeah no nope right fine hm hmm well wow lol sorry there help
    today test testing ping nothing yet guten tag danke bitte ciao tschüss hola bonjour
"""
# Words that say nothing about the subject of a request.
_VAGUE = """
    help find fix look check need want make get go thing stuff decision question problem issue work something give take
    tell know think see try start begin time like add build create write implement
"""


@cache
def social_terms() -> frozenset[str]:
    return frozenset(significant_terms(_SOCIAL))


@cache
def vague_terms() -> frozenset[str]:
    return frozenset(significant_terms(_VAGUE))


_OPENERS = (
    r"(?:(?:hm+|uh+|ugh+|argh+|eh|ew|well|ok(?:ay)?|sorry|ah|oh|actually|"
    r"yeah|yes|right|so|and|but|also|btw|great|good|now)[\s,.!:-]+)*"
)

QUESTION = lazy_pattern(r"\?[\"')\]]*$|^[^?]*\uff1f$")
ASKED = lazy_pattern(
    rf"^{_OPENERS}(?:what|why|how|when|where|who|which|does|do|did|is|are|can|could|should|shall|would|will|any|was|"
    r"wer|wie|wo|wann|warum)\b",
    _I,
)
PLAN = lazy_pattern(
    r"\b(?:i'?ll|i will|i'?d|we'?ll|would|could|can(?! only)|might|may|suggest\w*|recommend\w*|propos\w*|options?|"
    r"either|"
    r"alternativ\w*|let me|going to|plan(?:ned|ning)? (?:to|is)|should (?:i|we)|shall (?:i|we)|want me to|if you|"
    r"my (?:first )?(?:guess|plan|idea)|probably|likely|maybe|perhaps|seems?|looks like|"
    r"w\u00fcrde|k\u00f6nnte|vorschlag\w*|schlage|vielleicht|ich nehme)\b",
    _I,
)
FIRM_PLAN = lazy_pattern(r"\b(?:i'?ll|i'?d|would|could|can|suggest\w*|recommend\w*)\b", _I)
OPTIONS = lazy_pattern(
    r"\b(?:options?|ways?|alternatives?|candidates?|choices|possibilit\w+|approaches|ideas?|variants?|propos\w+|"
    r"plan|steps)\b",
    _I,
)
DONE = lazy_pattern(
    r"\b(?:done|fixed|implemented|completed?|finished|resolved|solved|works?|working|pass(?:es|ed|ing)?|green|added|"
    r"created|updated|removed|renamed|refactored|deployed|released|merged|pushed|committed|opened|published|tagged|"
    r"written|wrote|moved|changed|replaced|switched|reverted|rolled back|enabled|disabled|built|installed|shipped|"
    r"landed|now|(?:is|are|was|be|went|goes) (?:live|set)|i (?:have )?set|is (?:up|ready|in place|open|closed)|"
    r"are (?:up|ready|in place|open|closed)|reproduced|found|"
    r"verified|confirmed|measured|decided|chose|"
    r"fertig|behoben|erledigt|l\u00e4uft|laufen|stimmt|stimmen|geschrieben|ge\u00e4ndert|eingebaut|hinzugef\u00fcgt)\b",
    _I,
)
NOT_DONE = lazy_pattern(
    r"\b(?:not (?:yet )?(?:done|fixed|working|possible|finished|merged|deployed|enabled|released|found|reproduced|"
    r"pushed|"
    r"started)|could ?n[o']t|cannot|can'?t|unable to|did(?: not|n't)|has(?: not|n't)|have(?: not|n't)|"
    r"nothing (?:is|was|has been)|gave up|blocked|suspended|rolled back|reverted|on hold|paused|draft|off by default|"
    r"only on staging|unmerged)\b",
    _I,
)
REVERSAL = lazy_pattern(
    r"\b(?:revert\w*|roll(?:ed|ing)? (?:it )?back|undid|undone|undo|removed|took (?:\w+ ){0,4}out|taken out|dropped|"
    r"gone|"
    r"no longer|deleted|suspended|yanked|withdrew|abandoned|discarded|backed out|ripped out|scrapped|instead of|"
    r"replaced|"
    r"switched from|got rid of|threw away|closed without|ruled out|rejected|is not the (?:cause|problem|reason)|"
    r"made no difference|zur\u00fcckgenommen|entfernt|verworfen|stattdessen)\b",
    _I,
)
REMOVED_IT = lazy_pattern(
    r"\b(?:removed|reverted|dropped|deleted|undid|took|rolled|backed|scrapped|discarded)\s+(?:it|that|this|them|those|"
    r"both)\b|\b(?:it|that|they)(?:'s|'re| is| are) (?:gone|out again|removed)\b",
    _I,
)
REJECTION = lazy_pattern(
    rf"(?:^|[:,] ){_OPENERS}(?!no[,.!]? (?:that'?s (?:all|it|fine|good|ok\w*)|need|problem|worries|rush|more|"
    rf"further|idea|"
    r"objections?|questions?)\b)(?:no+\b(?=[\s,.!:]|$)|nope\b|nah\b|meh\b|nein\b|wrong\b|"
    r"not (?:like|what|that|quite|good)\b|that'?s (?:not|wrong)|"
    r"i don'?t (?:like|want (?:it|this|that|a|an|any)|think (?:so|that)|agree)|rather not|please don'?t)|"
    r"\b(?:revert|undo|roll(?:ed)? (?:\w+ ){0,3}back|scrap|ditch|bad idea|changed my mind|on second thought|"
    r"scratch that|"
    r"(?:go|going) back to|yank|zur\u00fcck)\b|\binstead(?! of)\b|\bstattdessen\b",
    _I,
)
# The object of a reversal, in one of several positions.
_REVERSED = (
    r"\b(?:revert(?:ed|ing)?|roll(?:ed|ing)? back|undo|undid|removed?|drop(?:ped)?|scrap(?:ped)?|ditch(?:ed)?|"
    r"yank(?:ed)?|"
    r"instead of|rather than|replaced?|switched from|deleted?|discarded|abandoned|suspended|withdrew|rejected:?|"
    r"ruled out:?|statt)\s+([^,.;:!?]{2,80})|"
    r"([^,.;:!?]{2,60}?)\s+(?:(?:is|are|was|were)\s+(?:out|gone|yanked|suspended|removed|reverted|dropped|a bad idea|"
    r"overkill|too \w+|not the (?:cause|problem|reason)|ruled out|off the table)|made no difference)\b|"
    r"\b(?:take|took|leave|left|throw)\s+([^,.;:!?]{2,60}?)\s+(?:out|away)\b|\broll(?:ed|"
    r"ing)? ([^,.;:!?]{2,40}?) back\b|"
    r"\bgot rid of ([^,.;:!?]{2,60})"
)
REVERSED = lazy_pattern(_REVERSED, _I)
# A user also rejects with "no X", "A, not X" and "don't use X".
REJECTED = lazy_pattern(
    rf"{_REVERSED}|(?:^|[,;:(] ?|\b(?:and|but|with) )(?:please )?(?:no|not|without|don'?t(?: want| use| add)?|"
    rf"do not(?: use| add)?|"
    r"forget|skip|kein\w*)\s+([^,.;:!?]{2,80})|\bi don'?t want ([^,.;:!?]{2,80})",
    _I,
)
TARGET_END = lazy_pattern(
    r"\b(?:and|but|because|since|so|as|until|yet|for|instead|with|to|by|now|again|please|then)\b", _I
)
# A result without one of the verbs above: "are now archived", "I rotated", "Backfilled the", "fell from 900 to 120 ms".
RESULT_FORM = lazy_pattern(
    r"(?:\b(?:is|are|was|were|been|got|now)|\w'(?:s|re))\s+(?:(?:now|all|both|fully|also|already|again|"
    r"only)\s+)*\w{3,}ed\b|"
    r"^(?:i|we)(?:'ve| have)?\s+(?:(?:now|also|just|then)\s+)*(?:\w{2,}ed|made|put|ran|took|got|kept|left|split|cut|"
    r"sent|did|"
    r"brought|gave|hid|swapped)\b|^\w{3,}ed(?=[:.,]|\s+(?:the|an?|all|"
    r"both|it|them|every\w*|to|into?|on|as|from|with|and|by|[`\"\d(])|$)|"
    r"\b(?:down (?:to|from)|went from|from \S*\d\S*(?: \w+)? to \S*\d|fell|halved|improved|faster|stays at|holds|"
    r"stable|"
    r"succeed\w*|healthy|clean|matches|match|identical|takes (?:only )?\d|scheduled|running|up and running)\b",
    _I,
)
# A user's report that something does not work.
PROBLEM = lazy_pattern(
    r"\bstill (?:\w+ )?(?:fail\w*|broken|wrong|slow|not|doesn'?t|does not|the same|get\w*|see\w*|take\w*|need\w*|"
    r"show\w*|return\w*|say\w*|happen\w*|crash\w*|"
    r"red)\b|"
    r"\b(?:fails|failed|failing|broken|breaks|broke|crash\w*|complain\w*|unreadable|"
    r"(?:does|did)(?: not|n't) (?:work|help|start|load|open|build|compile|run|match|show|change|fix|do|get|seem)\w*|"
    r"(?:is|are|was|looks?|came out) (?:all |still |now |completely )?(?:wrong|empty|blank|broken|missing|awful|"
    r"ugly|red|down|"
    r"stuck|unreadable|gone|slower|worse)|"
    r"(?:get|gets|getting|got|see|seeing|saw|throws?|gives?(?: me)?|shows?|with|there (?:is|are)|"
    r"returns?) (?:\w+ ){0,3}"
    r"(?:errors?|exceptions?|failures?|timeouts?|tracebacks?|duplicates?|5\d\d|4\d\d|wrong|empty)|"
    r"(?:went|keeps?|kept) (?:\w+ ){0,2}(?:grow\w*|fail\w*|empty|wrong|down|hang\w*)|not working|times out|"
    r"timed out|hangs|"
    r"is leaking|leaks|wrong \w+ again|pretty bad|kaputt|geht nicht|funktioniert nicht)\b|\w(?:Error|Exception|"
    r"NotFound)\b",
    _I,
)
# An agent's report of a failure; a report of a fix is none.
FAILURE = lazy_pattern(
    r"\b(?:fails?|failed|failing|broken|crash(?:es|ed|ing)?|does(?: not|n't) (?:work|start|load|build|compile|run)|red|"
    r"timed out|times out|flashes|leaks|hangs|(?:is|are) (?:wrong|missing|empty|stuck|down))\b",
    _I,
)
FIXED = lazy_pattern(
    r"\b(?:fixed|fixes|solved|resolved|no longer|not any ?more|repaired|gone|prevents?|without|no \w+|0 \w+)\b", _I
)
CONCESSION = lazy_pattern(
    r"^(?:you'?re (?:absolutely )?right|sorry|apolog\w*|my (?:mistake|bad|fault)|i was wrong|good (?:catch|point)|"
    r"then (?:the |it )?[\w ]{0,40}(?:is|was) not|(?:that|it)'?s (?:the|my|because|from)|that comes from|"
    r"i see (?:it|the)|"
    r"indeed|true\b|oops|fair)",
    _I,
)
AGAIN = lazy_pattern(
    r"\b(?:still|again|same|neither|did(?: not|n't) (?:help|work|fix)|doesn'?t (?:help|work)|immer noch|wieder)\b", _I
)
CORRECTION = lazy_pattern(
    r"^(?:changed|corrected|adjusted|reworked|fixed|repaired|ok(?:ay)?,? i (?:removed|reverted|changed)|"
    r"(?:ok(?:ay)?[,:.]? )?then\b|[^.!?:]{2,40}\bthen[:.,])",
    _I,
)
ACCEPTANCE = lazy_pattern(
    r"^(?:ok(?:ay)?|yes|yep|yeah|sure|fine|good|great|nice|perfect|super|cool|right|agreed?|exactly|alright|"
    r"sounds? (?:good|fine|right|great|reasonable)|makes sense|do (?:it|that|both)|go (?:ahead|for it)|ship it|"
    r"works for me|lgtm|better|love it|thanks?|thx|please do|ja|gut|passt|einverstanden)\b",
    _I,
)
# A clause with an instruction or a constraint.
DIRECTIVE = lazy_pattern(
    rf"(?:^{_OPENERS}|[,;:.]\s+|\b(?:and|but|then|so|please)\s+)(?:please\s+|then\s+|just\s+)*(?:use|keep|make|take|"
    rf"drop|leave|"
    r"skip|remove|stick|stay|go (?:with|for)|pick|choose|put|move|call|name|set|limit|cap|allow|avoid|don'?t|do not|"
    r"never|"
    r"always|only|no|not|without|let'?s|prefer|start|stop|treat|return|reject|accept|ignore|log|store|show|hide|"
    r"send|rename|"
    r"replace|switch|pin|cut|cancel|mark|follow|split|squash|wait|shrink|yank|roll|revert|enable|disable|turn|retry|"
    r"same|both|"
    r"nimm|kein\w*|nur|nie|immer)\b|"
    r"\b(?:must|may (?:not|never)|never|always|should(?:n'?t| not)?|needs? to|has to|have to|prefer|i'?d rather|"
    r"(?:i|we) (?:don'?t )?want|(?:we|i)(?:'ll| will)? (?:go|stick|stay|keep|use|take|need)|decid\w+|by default|"
    r"for now|at (?:least|most)|instead|rather than|as long as|fine|acceptable|"
    r"allowed|enough|as well|until|please|important|stays?|remains?|keeps|not now|make (?:it|sure)|only (?:for|if|"
    r"when|in|on|"
    r"after|the|one)|muss|darf|soll\w*|nie|immer)\b|^then\b|\bthen(?:[.,!]|$)",
    _I,
)
STRONG_CONSTRAINT = lazy_pattern(
    r"\b(?:must|never|always|don'?t|do not|keep|use|go with|make (?:it|that|sure)|prefer|should|has to|have to|"
    r"needs? to|let'?s|leave|drop)\b",
    _I,
)
# In the first prompt, which describes the task, only these make a sentence a decision.
GIVEN_CONSTRAINT = lazy_pattern(
    r"\b(?:must|never|always|important|don'?t|without|should|stays?|remains?|darf|muss)\b", _I
)
DECIDED = lazy_pattern(
    r"\b(?:decided|decisions?|agreed|agreement|chose|chosen|settled on|we (?:go|went|stick|stay|keep|use|take) |"
    r"we'?ll (?:go|keep|use|stick)|by design|policy|rejected|ruled out|noted|understood|entschieden|beschlossen)\b|"
    r"\bthen[.!]?$|^(?:ok(?:ay)?|agreed|noted|understood|right|gut)[,:.]",
    _I,
)
RESTRICTED = lazy_pattern(r"\b(?:instead|rather|only|must|never|always|not|don'?t|without|but)\b", _I)
TASK = lazy_pattern(
    rf"^{_OPENERS}(?:(?:then|please|can you|could you|let'?s|perfect|nice)[\s,.!:-]+)*"
    r"(?:commit|push|merge|deploy|run|check|look|show|explain|tell|write|add|fix|test|try|investigate|find|open|create|"
    r"document|summari[sz]e|start|continue|go on|next|do|review|update|implement|build|prepare|finish|ship|rerun|"
    r"repeat|"
    r"publish|release|tag)\b",
    _I,
)
REPORT = lazy_pattern(
    rf"^{_OPENERS}(?:still\b|i (?:ran|see|saw|get|got|tried|noticed|have to go|checked|just)|support\b|customers?\b|"
    r"users? (?:say|see|complain|report)|there (?:is|are|was)|last (?:time|week|year)|saw\b|"
    r"it (?:still|does|is|was|gives|says)|that (?:does|is|was|gives)|we (?:had|have|got) )",
    _I,
)
OWN_INTENT = lazy_pattern(rf"^{_OPENERS}(?:i'?ll|i have to|i need to|i will|i must)\b", _I)
OTHERS_REQUEST = lazy_pattern(r"\b(?!(?:i|we|you)\b)\w+ (?:wants|would like|asked|suggests?|proposes)\b", _I)
SMALL_TALK = lazy_pattern(
    r"\b(?:see you|talk (?:to you )?(?:later|soon|tomorrow)|bye|have a (?:good|nice|great)|good (?:night|work|job)|"
    r"(?:nice|great|good) (?:find|work|catch|one|job|stuff)|well done|thank(?:s| you))\b",
    _I,
)
USERS_RESULT = lazy_pattern(
    r"\b(?:merged|merging|deploying|deployed|works|passed|approved|released|tested|shipped|done|gemerged)\b", _I
)
OPEN_LEAD = lazy_pattern(
    r"\b(?:open|left|remain\w*|to ?do|todos?|next(?: steps?)?|missing|pending|follow[- ]?ups?|later|"
    r"not (?:covered|done|yet|included|tested|in)|unresolved|outstanding|questions?|blockers?|"
    r"known (?:issues?|limitations?|problems?|gaps?)|limitations?|before (?:the|we|you|release|next)|still|tomorrow|"
    r"needs?|"
    r"risks?|caveats?|deferred|out of scope|offen\w*|noch|ausstehend\w*|fehlt|n\u00e4chste)\b",
    _I,
)
OPEN = lazy_pattern(
    r"\b(?:still (?:open|missing|to|need\w*|has|have|uses?|not|pending|unclear|waiting)|"
    r"(?:is|are|one|two|three) (?:left|missing|open|pending|unclear|outstanding)|remain\w*|to ?do|not yet|yet to|"
    r"pending|"
    r"(?:need|needs|have|has) to|must (?:still|first)|wait(?:s|ing)? (?:for|on)|until|blocked (?:on|by)|later|"
    r"next (?:step|week|sprint|release|month|time|try|attempt)|tomorrow|follow[- ]?up|tickets?|backlog|unresolved|"
    r"unclear|"
    r"open (?:point|question|issue|item)s?|known (?:issue|limitation|problem|gap)s?|"
    r"not (?:covered|tested|implemented|merged|deployed|enabled|started|included|part of)|"
    r"(?:has|have|is|are|was|were|does|do|did)(?:n't| not) (?:been |yet )|have(?:n't| not)|has(?:n't| not)|deferred|"
    r"postponed|out of scope|for another (?:day|time)|separate(?:ly)?|depends on|monday|tuesday|wednesday|thursday|"
    r"friday|"
    r"offen\w*|noch (?:nicht|zu|aus|offen)|fehlt|fehlen|ausstehend|"
    r"muss (?:\w+ ){1,5}(?:freigeben|entscheiden|pr\u00fcfen|best\u00e4tigen))\b",
    _I,
)
CLEARLY_OPEN = lazy_pattern(r"\b(?:tickets?|not (?:yet|covered)|open|left|offen)\b", _I)
DEFERRAL = lazy_pattern(
    r"\b(?:not (?:now|today|yet)|later|another (?:day|time)|next (?:week|sprint|release|time|month)|tomorrow|"
    r"leave (?:that|it|this|the [\w ]+?) (?:for|out)|postpone|separate (?:ticket|issue|pr|task)|"
    r"(?:make|create|open|file|write) (?:a|an) (?:ticket|issue)|backlog|follow[- ]?up|"
    r"i'?ll (?:ask|check|talk|bring|write|do|take|look|ping|discuss)|i have to (?:ask|check|talk|discuss)|"
    r"\w+ (?:can|has to|needs to|should) (?:look|decide|approve|pick|check|confirm)|"
    r"on (?:monday|tuesday|wednesday|thursday|friday)|until)\b",
    _I,
)
FINDING = lazy_pattern(
    r"\b(?:root cause|because|caused by|reason|turns out|the (?:problem|cause|bug|culprit) (?:is|was)|ursache|weil)\b",
    _I,
)
# A cause that was found after other guesses.
REAL_CAUSE = lazy_pattern(
    r"\b(?:(?:real|actual|true) (?:cause|reason|problem|issue|culprit|bug|source)|turns? out|turned out|actually|"
    r"root cause)\b",
    _I,
)
GUESSED_CAUSE = lazy_pattern(
    r"\b(?:cause[sd]?|because|reason|due to|comes? from|culprit|suspect\w*|guess|probably|likely|seems?|looks like|"
    r"problem is|"
    r"issue is|bottleneck)\b",
    _I,
)
STATUS = lazy_pattern(
    r"\b(?:status|state of|things stand|where (?:we|things)|summary|in short|tl;?dr|so far|current(?:ly)?|recap|to sum|"
    r"overall|bottom line|final(?:ly)?|results?|what'?s in|stand|done|finished|shipped|completed|works|"
    r"what (?:works|changed|we did)|in place|erledigt|stand)\b",
    _I,
)
EARLIER = lazy_pattern(
    r"^(?:at first|initially|originally|my first|first,? i (?:tried|thought|used|had)|previously|zuerst|anfangs)\b", _I
)
MEASURED = lazy_pattern(
    r"\d[\d.,]*\s*(?:%|ms|s\b|sec|min|h\b|hours?|days?|MB|GB|KB|kB|x\b|times|tests?|cases?|examples|failures|"
    r"queries|rows|"
    r"runs|requests|users|customers|files|errors|lines)|\b(?:tests?|checks|CI|pipeline)\b",
    _I,
)
FILLER = lazy_pattern(
    r"^(?:sure|okay|ok|great|thanks|thank you|hello|hi\b|let me|let's see|i'?ll (?!ask|check with|leave)|i will|"
    r"i'm (?:going|now)|sorry|perfect|sounds good|here(?:'s| is| are)|of course|certainly|absolutely|now,? let|"
    r"you'?re (?:absolutely )?(?:right|welcome)|good (?:question|idea|point|catch|fit|luck|night|compromise)|"
    r"understood|"
    r"bye|noted|makes sense|does that|have a|enjoy|see you|nice|agreed|glad|happy to|good to|"
    r"sounds)\b[^.]{0,60}[.!?]?$",
    _I,
)
# Removed from the beginning of a quoted utterance.
ACKNOWLEDGEMENT = lazy_pattern(
    r"^(?:(?:ok(?:ay)?|great|good|nice|perfect|sure|yes|yeah|hm+|hey|hi|hello|and|so|also|then|right|noted|understood|"
    r"well|fine|agreed|good point|makes sense|thanks)\b\s*[,:.!;-]+\s+|(?:and|so|also|but)\s+)+",
    _I,
)
REFERENCE = lazy_pattern(
    r"\b(?i:PR|MR|pull request|merge request|issue|ticket)s?\s+(?:[#!]?\d+|[A-Z][A-Z0-9]{1,9}-\d+)\b|"
    r"(?<![\w&/#])#\d+\b|(?<![\w&/!])!\d+\b|\b(?!UTF-|ISO-|SHA-|AES-|RSA-|MD-|HTTP-|TLS-|GPT-|RFC-|UTC-|GMT-|COVID-)"
    r"[A-Z][A-Z0-9]{1,9}-\d+\b"
)
OVERRIDE = lazy_pattern(
    rf"^{_OPENERS}(?:make (?:it|that) |actually|on second thought|or rather|no,? wait|correction)", _I
)
POLITE = lazy_pattern(
    r"^(?:(?:hi|hello|hey|hallo|moin|good (?:morning|afternoon|evening)|morning|guten \w+|ok|okay|so|now|well|please|"
    r"bitte|thanks|great|and|then|also|alright|right)\b(?: (?:there|all|team|again))?[\s,!.:-]*|"
    r"(?:can|could|would|will) (?:you|we) (?:please |help me (?:to |with )?|maybe )?|"
    r"i(?:'d| would) like (?:you )?to (?:have )?|i'?d like |i (?:want|need) (?:you to |to )?|help me (?:to |with )?|"
    r"we(?:'d| would)? (?:like|need|want|have) to |let'?s |(?:it'?s )?time (?:for|to) |your task is to )+",
    _I,
)
ASKS = lazy_pattern(
    r"\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|\bbitte\b|\b(?:i|we)(?:'d| would)? (?:like|want|need)\b|"
    r"\blet'?s\b|"
    r"\bhelp\b|\btime (?:for|to)\b|"
    r"^(?:\w+ly )?(?:add|build|fix|write|find|move|make|create|implement|investigate|refactor|migrate|update|"
    r"upgrade|remove|"
    r"replace|set up|debug|review|change|port|speed up|convert|design|plan|document|test|look|check|improve|rename|"
    r"split|"
    r"extract|clean|figure|analy[sz]e|compare|explain|release|deploy|prepare|give|show|generate|rewrite|reduce|"
    r"support)\b",
    _I,
)
# Where the clause that asks begins in a longer sentence.
ASKING_CLAUSE = lazy_pattern(
    r"(?:,\s*(?:so|and|but)?\s*|\b(?:and|so)\s+)(?=(?:please|can you|could you|i(?:'d)? (?:want|need|like)|want to|"
    r"need\b|"
    r"we need)\b)",
    _I,
)
PRONOUN = lazy_pattern(
    r"\b(?:it|them)\b|\b(?:this|that|these|those)(?=\s*(?:[.,;!?]|$)|\s+(?:is|was|are|were|does|happens?|should|has|"
    r"have|to|"
    r"properly|please|first|now)\b)",
    _I,
)
