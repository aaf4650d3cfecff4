"""Answer a question from an index, with evidence; guesses and gaps are marked as such.

This module imports numpy, which is slow to load.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scrubjay.code_index.questions.answer_builder import AnswerBuilder, ReasoningStep
from scrubjay.code_index.questions.configuration_answers import ConfigurationAnswers
from scrubjay.code_index.questions.definition_answers import DefinitionAnswers
from scrubjay.code_index.questions.error_answers import ErrorAnswers
from scrubjay.code_index.questions.evidence import AnswerEvidence, printable
from scrubjay.code_index.questions.import_answers import ImportAnswers
from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.parser import CodeQuestion, parse_question
from scrubjay.code_index.questions.path_answers import PathAnswers
from scrubjay.code_index.questions.use_answers import UseAnswers
from scrubjay.code_index.service import CodeService, LoadedIndex


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """An answer with the steps and evidence that it is based on."""

    steps: Sequence[ReasoningStep]
    evidence: Sequence[AnswerEvidence]
    """Most relevant first; the text refers to them by number, counted from 1."""
    text: str
    truncated: bool


async def answer_question(
    question: str, code: CodeService, loaded: LoadedIndex, *, context_lines: int, token_budget: int
) -> IndexAnswer:
    """Answer a question within a token budget."""
    builder = AnswerBuilder(code, loaded, await code.use_graph(loaded))
    answerer = QuestionAnswerer(builder)
    for parsed in parse_question(question):
        await answerer.answer(parsed)
    shown = await builder.pool.render(code, builder.sentences, context_lines, token_budget)
    text = shown.answer
    for paths, consequence in (
        (shown.changed, "their content is omitted"),
        (sorted({printable(one.file.path) for one in shown.evidence if one.stale}), "the indexed content is shown"),
    ):
        if paths:
            shown_paths = ", ".join(paths[:3]) + (" and more" if len(paths) > 3 else "")
            text = f"{text} Changed since indexing, so {consequence}: {shown_paths}.".strip()
    truncated = shown.truncated or builder.walker.ended_early or builder.unread > 0
    return IndexAnswer(builder.steps, shown.evidence, text, truncated or bool(shown.changed))


class QuestionAnswerer:
    """Dispatches each parsed question to the class that answers its intent."""

    def __init__(self, builder: AnswerBuilder) -> None:
        self._definitions = DefinitionAnswers(builder)
        self._uses = UseAnswers(builder, self._definitions)
        self._imports = ImportAnswers(builder, self._definitions, self._uses)
        self._paths = PathAnswers(builder, self._definitions)
        self._errors = ErrorAnswers(builder, self._definitions, self._uses)
        self._configuration = ConfigurationAnswers(builder, self._definitions)

    async def answer(self, parsed: CodeQuestion) -> None:
        """Add the answer to one question."""
        match parsed.intent:
            case Intent.SYMBOL if parsed.only == "members":
                await self._definitions.members(parsed.subject, parsed.parts)
            case Intent.SYMBOL:
                await self._definitions.symbol(parsed.subject)
            case Intent.FILE:
                await self._definitions.file(parsed.subject)
            case Intent.IMPORT:
                await self._imports.imports(parsed.subject, incoming=parsed.incoming)
            case Intent.CALLGRAPH if parsed.only == "tests":
                await self._uses.tests(parsed.subject)
            case Intent.CALLGRAPH:
                await self._uses.calls(parsed.subject, incoming=parsed.incoming)
            case Intent.USAGE:
                await self._uses.usage(parsed.subject)
            case Intent.FLOW if parsed.other is not None:
                await self._paths.reach(parsed.subject, parsed.other)
            case Intent.FLOW:
                await self._paths.flow(parsed.subject)
            case Intent.RAISE | Intent.CATCH:
                await self._errors.errors(parsed)
            case Intent.CONFIGURATION:
                await self._configuration.configuration(parsed.subject)
            case Intent.RELATIONSHIP:
                await self._paths.relationship(parsed.subject, parsed.other or parsed.subject)
            case Intent.SEARCH:
                await self._definitions.search(parsed.subject.text)
