"""Which files answer a question about code, and which part of each: a sum of signals that make sense anywhere.

The weights start from measured notes; see docs/decisions/0015-code-by-content.md. This module imports numpy, which
takes a while: import it where it is needed.
"""

import re
from collections.abc import Container, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrubjay.code_index.facts.words import names_in, query_words, words_of
from scrubjay.code_index.models import FileTrait, SymbolKind
from scrubjay.code_index.search.callers_text import Users
from scrubjay.code_index.search.commit_history import History
from scrubjay.code_index.search.corpus import KINDS, Corpus, turned
from scrubjay.code_index.search.distinctive_similarity import Distinct
from scrubjay.code_index.search.idf import rarity
from scrubjay.code_index.search.related_words import kindred
from scrubjay.code_index.search.top_k import best
from scrubjay.code_index.search.word_index import Occurrences
from scrubjay.code_index.term_counts.counter import vectors_of
from scrubjay.search_index.token_segments import length_norms, saturated_by, token
from scrubjay.search_index.unique_values import run_starts
from scrubjay.search_index.vector_codes import Codes

Column = NDArray[np.float32]

WEIGHTS: Final = {
    "text": 1.0,
    "path": 0.2,
    "covered": 0.2,
    "name": 0.6,
    "folders": 0.5,
    "scope": 0.4,
    "defines": 0.35,
    "history": 0.5,
    "lively": 0.1,
    "users": 0.2,
    "meaning": 0.6,
    "about": 0.375,
}
# What it counts that a file defines what the question consists of.
DEFINES_ALONE: Final = 1.0
# Whoever names an identifier means that one: what is similar then counts only so much of its weight.
SIMILAR_TO_NAMED: Final = 2 / 3
# What the words of its path count in each part of a file.
WORTH_OF_PATH: Final = 2.0
NEXT_CHUNKS: Final = (1.0, 0.5, 0.25)
# What is known of so many words, in so many rows of chunks together, is kept for the next question.
MOST_WORDS: Final = 1_000
MOST_ROWS: Final = 250_000
# So many words that are near one in meaning stand for it.
MOST_KINDRED: Final = 3
# Less similar than this share of the most similar says nothing.
LEAST_SIMILAR: Final = 0.4
# And any two texts are as similar as this.
LEAST_COSINE: Final = 0.2
# What a definition is worth for whoever looks for its name.
_WORTH: Final = {
    SymbolKind.CLASS: 1.0,
    SymbolKind.STRUCT: 1.0,
    SymbolKind.TRAIT: 1.0,
    SymbolKind.INTERFACE: 1.0,
    SymbolKind.ENUM: 1.0,
    SymbolKind.FUNCTION: 0.9,
    SymbolKind.METHOD: 0.9,
    SymbolKind.CONSTRUCTOR: 0.9,
    SymbolKind.TYPE: 0.9,
    SymbolKind.MACRO: 0.9,
    SymbolKind.MODULE: 0.5,
    SymbolKind.IMPL: 0.5,
    SymbolKind.SIGNATURE: 0.3,
}
_KIND_WORTH: Final = np.array([_WORTH.get(kind, 0.6) for kind in KINDS], dtype=np.float32)
LONG_BODY: Final = 100
# What counts less, and what it counts when the question has one of these words. Those of tests and pages are as often
# what the code is about, and who does ask for a test or a page finds it by its name.
_LOWERED: Final = (
    (FileTrait.TEST, 0.3, 0.6, "test tests testing tested spec fixture mock conftest"),
    (FileTrait.EXAMPLE, 0.4, 1.0, "example examples demo benchmark benchmarks script scripts sample"),
    (FileTrait.DOCUMENTATION, 0.4, 0.7, "doc docs documentation documented readme guide tutorial changelog"),
    (FileTrait.VENDORED, 0.6, 1.0, "vendor vendored"),
    (FileTrait.GENERATED, 0.6, 1.0, "generated"),
    (FileTrait.MINIFIED, 0.3, 1.0, "minified"),
    (FileTrait.DECLARATION, 0.7, 1.0, "declaration declarations typing typings stub"),
    (
        FileTrait.CONFIGURATION,
        0.5,
        1.0,
        "config configuration configure setting settings dependency dependencies package packages build workflow ci "
        "manifest",
    ),
)
_OLD: Final = re.compile(r"(?:^|[/_.-])(?:legacy|compat|deprecated|old)(?=$|[/_.-])", re.IGNORECASE)
OLD: Final = 0.6
_ASKING_OLD: Final = "legacy compat compatibility deprecated old"
_TYPES: Final = re.compile(
    r"(?i:(?:^|/)(?:types?|typings|interfaces)(?:\.[a-z]+|/[^/]*)$)"
    r"|(?:[.](?:types?|typings|interfaces?)|-(?:types|interfaces)|[a-z](?:Types|Interfaces))\.[cm]?tsx?$"
)
TYPES: Final = 0.85
_ASKING_TYPES: Final = "type types typing interface interfaces"
_INDEX: Final = re.compile(r"(?:^|/)index\.[cm]?[jt]sx?$")
# An index of scripts that defines nothing only hands on what others define.
HANDING_ON: Final = 0.5
_ASKING_INDEX: Final = "index export exports exported entry"
_IN_ANOTHER_WAY: Final = re.compile(r"((?:.*/)?[^/.]+?)[_-]?(?:async|sync)(\.[^/]*)", re.IGNORECASE)
# The same as a file beside it, but waiting or not waiting: who asks for neither means the one beside it.
IN_ANOTHER_WAY: Final = 0.85
_ASKING_WAY: Final = "async asynchronous await promise sync synchronous"
# Few combinations of what questions ask for are ever seen.
MOST_LOWERED: Final = 16
_VERSIONED: Final = re.compile(r"(?:^|/)v(\d{1,3})(?=/)")
SUPERSEDED: Final = 0.5
_SCOPE: Final = re.compile(r"\s*([\w./@-]{2,80})(?:\([\w ./@,-]{1,40}\))?!?:\s")


class Found(NamedTuple):
    """A file that may answer."""

    file: int
    score: float
    chunk: int
    """The row of the part that fits best; -1 when the file has no parts."""
    signals: Mapping[str, float]
    """What each witness adds to the score."""
    lowered: float = 1.0
    """By which all of them are multiplied: less than 1 for tests and the like."""


@dataclass(frozen=True, slots=True)
class Toggles:
    """Which witnesses are heard."""

    vector: bool = True
    symbol: bool = True
    graph: bool = True


class Ranker:
    """Ranks the files of one corpus. What can be known before a question is worked out once."""

    def __init__(self, corpus: Corpus, history: History, users: Users | None = None) -> None:
        self._corpus = corpus
        self.history = history
        self.users = users or Users()
        chunks = corpus.chunks
        self._alive = corpus.alive[chunks.files] if len(chunks.files) else np.empty(0, dtype=np.bool_)
        self._all_alive = bool(self._alive.all())
        self._firsts = np.flatnonzero(np.diff(chunks.files, prepend=-1))
        """The first chunk of each file that has any: the chunks of a file are neighbours."""
        self._owners = chunks.files[self._firsts]
        """The file of each of these."""
        files = len(corpus.files)
        self._starts, self._behind = np.zeros((2, files), dtype=np.int64)
        self._starts[self._owners] = self._firsts
        self._behind[self._owners] = np.append(self._firsts, len(chunks.files))[1:]
        living = corpus.words.lengths[self._alive]
        average = float(living.mean()) if len(living) else 0.0
        self._norms = length_norms(corpus.words.lengths + np.float32(WORTH_OF_PATH), average)
        """By chunk what its length takes from how often a word occurs."""
        self._living_chunks = max(1, len(living))
        self._living_files = max(1, int(corpus.alive.sum()))
        paths = [file.path for file in corpus.files]
        self._traits = np.array([int(file.traits) for file in corpus.files], dtype=np.int64)
        told = [_told_by(path) for path in paths]
        self._old = np.array([own.is_old for own in told], dtype=np.bool_)
        self._types = np.array([own.is_types for own in told], dtype=np.bool_)
        defining = np.bincount(corpus.symbols.files, minlength=files) > 0
        self._handing_on = np.array([own.is_index for own in told], dtype=np.bool_) & ~defining
        self._in_another_way = np.array([own.beside in corpus.row_of for own in told], dtype=np.bool_)
        self._superseded = _superseded(told, corpus.alive)
        self._touched = history.touched(corpus.row_of, files)
        self._had: dict[str, _Had] = {}
        """What was found of words, as the corpus does not change: questions one after the other share many."""
        self._had_rows = 0
        self._lowered_by: dict[tuple[object, ...], Column] = {}
        self._users_of_files = self.users.of_files(corpus)
        self._distinct = Distinct(corpus.abouts.codes, corpus.alive)
        self._vectors = corpus.vectors.only(self._alive)
        self._abouts = corpus.abouts.only(corpus.alive)

    def knowing(self, users: Users) -> "Ranker":
        """The same when it is known who uses what, which is found out last."""
        made = copy(self)
        made.users, made._users_of_files = users, users.of_files(self._corpus)
        return made

    def rank(self, query: str, limit: int, toggles: Toggles = Toggles()) -> list[Found]:  # noqa: B008 - frozen
        """The files that fit best, best first."""
        corpus = self._corpus
        words = query_words(query)
        if not words or not len(corpus.files):
            return []
        plain = [(word, weight) for word, weight in words if not word.startswith("=")]
        by_text = self._by_text(words, plain, by_meaning=toggles.vector)
        text, fittest = self._by_file(by_text.chunks)
        signals: dict[str, Column] = {"text": _share(text), "path": _share(by_text.paths)}
        covered = by_text.covered[fittest] / np.float32(by_text.total or 1) if len(self._alive) else text
        signals["covered"] = np.where(fittest >= 0, covered, np.float32(0))
        worths = [weight * by_text.rarities[word] for word, weight in plain]
        fit = corpus.places.fit([word for word, _ in plain], worths)
        signals["name"] = np.sqrt(fit.asked * fit.named)
        signals["folders"] = fit.folders
        signals["scope"] = self._scope(query)
        weights = dict(WEIGHTS)
        identifiers = [word for word, weight in words if word.startswith("=") and weight == 1.0]
        if toggles.symbol:
            alone = len(query.split()) == 1
            named = [*identifiers, *names_in(query)]
            signals["defines"] = self._defines(named or ([words[0][0]] if alone else []))
            weights["defines"] = DEFINES_ALONE if alone else WEIGHTS["defines"]
        if toggles.graph:
            signals["history"] = self.history.files(words, self._touched)
            signals["users"] = self._users_of_files.fit(words)
        cosines = np.zeros(len(self._alive), dtype=np.float32)
        if toggles.vector:
            if identifiers:
                weights |= {name: WEIGHTS[name] * SIMILAR_TO_NAMED for name in ("meaning", "about")}
            meaning = corpus.vectors.encoded(vectors_of([query]))
            cosines = self._vectors.cosines(meaning)
            signals["meaning"] = _standing_out(np.maximum(self._greatest(cosines), 0))
            signals["about"] = self._about(meaning)
        scores = sum((np.float32(weights[name]) * column for name, column in signals.items()), np.float32(0))
        if toggles.graph:  # how much a file changes says nothing for it alone
            signals["lively"] = np.where(np.asarray(scores) > 0, self._touched.lively, np.float32(0))
            scores = scores + np.float32(weights["lively"]) * signals["lively"]
        lowered = self._lowered({*words_of(query), *(word for word, _ in words)})
        scores = np.where(corpus.alive, np.asarray(scores) * lowered, 0)
        rows = best(scores, limit)
        lowering = lowered[rows]
        said = [(np.float32(weights[name]) * column[rows] * lowering).tolist() for name, column in signals.items()]
        return [
            Found(
                row,
                score,
                chunk if chunk >= 0 or not toggles.vector else self._nearest_chunk(row, cosines),
                dict(zip(signals, own, strict=True)),
                by,
            )
            for row, score, chunk, by, *own in zip(
                rows.tolist(), scores[rows].tolist(), fittest[rows].tolist(), lowering.tolist(), *said, strict=True
            )
        ]

    # -- text ----------------------------------------------------------------------------------------

    def _by_text(
        self, words: Sequence[tuple[str, float]], plain: Sequence[tuple[str, float]], by_meaning: bool
    ) -> "_ByText":
        """What the words say of each chunk and of each path."""
        scores, covered = np.zeros((2, len(self._alive)), dtype=np.float32)
        path = np.zeros(len(self._corpus.files), dtype=np.float32)
        is_plain, total = {word for word, _ in plain}, 0.0
        rarities: dict[str, float] = {}
        for word, weight in words:
            had = self._having(word)
            value = weight * had.rarity
            path[had.on_path] += np.float32(weight * rarity(self._living_files, len(had.on_path)))
            scores[had.rows] += np.float32(value) * had.shares
            if word not in is_plain:
                continue
            rarities[word] = had.rarity_in_texts
            total += value
            covered[had.rows] += np.float32(value)
            if by_meaning and (near := self._near(word, is_plain)):
                self._add_kindred(scores, covered, weight, had, near)
        if not self._all_alive:
            scores[~self._alive] = 0
        return _ByText(scores, path, covered, total, rarities)

    def _having(self, word: str) -> "_Had":
        """The chunks that have a word, or that are in a file that has it on its path."""
        known = self._had.get(word)
        if known is None:
            known = self._had[word] = self._looked_up(word)
            self._had_rows += len(known.rows)
            if self._had_rows > MOST_ROWS or len(self._had) > MOST_WORDS:
                # Whoever searches beside us goes on with what it has.
                self._had, self._had_rows = {word: known}, len(known.rows)
        return known

    def _looked_up(self, word: str) -> "_Had":
        number = token(word)
        had = self._living(self._corpus.words.having(number))
        on_path = _living(self._corpus.paths.having(number), self._corpus.alive)
        rows, counts = had.rows, had.counts
        if len(on_path.rows):
            every = np.zeros(len(self._alive), dtype=np.float32)
            every[self._chunks_of(on_path.rows)] = WORTH_OF_PATH
            every[had.rows] += had.counts
            rows = np.flatnonzero(every > 0)
            counts = every[rows]
        in_texts = min(len(had.rows), self._living_chunks)
        worth = worth_in_texts = rarity(self._living_chunks, in_texts)
        if not in_texts:
            worth = rarity(self._living_chunks, min(len(rows), self._living_chunks))
        return _Had(rows, saturated_by(counts, self._norms[rows]), worth, worth_in_texts, on_path.rows)

    def _living(self, found: Occurrences) -> Occurrences:
        return found if self._all_alive else _living(found, self._alive)

    def _chunks_of(self, files: NDArray[np.int64]) -> NDArray[np.int64]:
        """The chunks of these files, each file's one after the other."""
        starts = self._starts[files]
        sizes: NDArray[np.int64] = self._behind[files] - starts
        ends: NDArray[np.int64] = np.cumsum(sizes)
        return np.arange(int(ends[-1]), dtype=np.int64) + np.repeat(starts - ends + sizes, sizes)

    def _near(self, word: str, asked: Container[str]) -> "list[tuple[float, _Had]]":
        """The nearest words in meaning that some chunk has and that are not asked for: how near, and where."""
        near = ((likeness, self._having(other)) for other, likeness in kindred(word) if other not in asked)
        return list(islice(((likeness, had) for likeness, had in near if len(had.rows)), MOST_KINDRED))

    def _add_kindred(
        self, scores: Column, covered: Column, weight: float, had: "_Had", near: "Sequence[tuple[float, _Had]]"
    ) -> None:
        """Let words stand for one that they are near, in chunks without it: by how near, and the best of several.

        None is worth more than the word that it stands for.
        """
        instead, values = np.zeros((2, len(scores)), dtype=np.float32)
        for likeness, other in near:
            value = np.float32(weight * likeness * min(had.rarity, other.rarity))
            instead[other.rows] = np.maximum(instead[other.rows], value * other.shares)
            values[other.rows] = np.maximum(values[other.rows], value)
        instead[had.rows] = values[had.rows] = 0
        scores += instead
        covered += values

    def _about(self, meaning: Codes) -> Column:
        """How similar what each file is about as a whole is to the question, in what sets it apart from the others."""
        cosines = self._abouts.cosines(meaning)
        distinct = self._distinct.cosines(turned(meaning), cosines)
        similar = cosines >= LEAST_COSINE
        return _most(np.where(similar, np.maximum(distinct, 0), 0).astype(np.float32))

    def _by_file(self, scores: Column) -> tuple[Column, NDArray[np.int64]]:
        """Of each file the scores of its best three chunks together, and which is the best; -1 for none."""
        files = len(self._corpus.files)
        fittest = np.full(files, -1, dtype=np.int64)
        sums = np.zeros(files, dtype=np.float32)
        chunks = (scores > 0).nonzero()[0]
        left, owners = scores[chunks], self._corpus.chunks.files[chunks]
        starts = run_starts(owners)
        own, sizes = owners[starts], np.diff(starts, append=len(left))
        for turn, share in enumerate(NEXT_CHUNKS):
            if not len(left):
                break
            greatest = np.maximum.reduceat(left, starts)
            fitting = (left == np.repeat(greatest, sizes)).nonzero()[0]
            if len(fitting) > len(starts):  # of equal ones the first
                fitting = fitting[fitting.searchsorted(starts)]
            sums[own] += np.float32(share) * greatest
            if turn == 0:
                fittest[own] = chunks[fitting]
            others = np.ones(len(left), dtype=np.bool_)
            others[fitting] = False
            left, more = left[others], sizes > 1
            own, sizes = own[more], sizes[more] - 1
            starts = np.cumsum(sizes) - sizes
        return sums, fittest

    def _greatest(self, values: Column) -> Column:
        """Of each file the greatest of its chunks' values; 0 for one without chunks."""
        found = np.zeros(len(self._corpus.files), dtype=np.float32)
        if len(self._firsts):
            found[self._owners] = np.maximum.reduceat(values, self._firsts)
        return found

    def _nearest_chunk(self, file: int, cosines: NDArray[np.floating]) -> int:
        """The most similar chunk of a file, for where no word tells which is the best; -1 if it has none."""
        first, last = int(self._starts[file]), int(self._behind[file])
        return first + int(np.argmax(cosines[first:last])) if last > first else -1

    # -- names ---------------------------------------------------------------------------------------

    def _defines(self, words: Sequence[str]) -> Column:
        """How much each file defines what is called by one of these words as a whole."""
        corpus, symbols = self._corpus, self._corpus.symbols
        found = np.zeros(len(corpus.files), dtype=np.float32)
        for word in dict.fromkeys(words):
            rows = corpus.definitions_of(word)
            if not len(rows):
                continue
            spans = symbols.spans[rows]
            lines = np.minimum(spans[:, 3] - spans[:, 2], LONG_BODY).astype(np.float32)
            worth = _KIND_WORTH[symbols.kinds[rows]] * (1 + np.float32(0.1 / LONG_BODY) * lines)
            owners = symbols.files[rows]
            most = np.zeros(len(corpus.files), dtype=np.float32)
            np.maximum.at(most, owners, worth.astype(np.float32))
            found += most / np.float32(np.count_nonzero(most) ** 0.5)
        return np.minimum(found, 1)

    def _scope(self, query: str) -> Column:
        """Whether a path has the parts that a question begins with, as in `db/models: …`."""
        found = np.zeros(len(self._corpus.files), dtype=np.float32)
        if (named := _SCOPE.match(query)) is None:
            return found
        wanted = [part.lower() for part in re.split(r"[/.]", named[1]) if part]
        if wanted:
            for row, file in enumerate(self._corpus.files):
                parts = {part.lower() for part in file.path.split("/")}
                parts.add(file.path.rsplit("/", 1)[-1].split(".", 1)[0].lower())
                found[row] = sum(part in parts for part in wanted) / len(wanted)
        return found

    def _lowered(self, words: set[str]) -> Column:
        """By what the scores of each file are multiplied; most questions have none of the words that matter here."""
        asked = tuple(not words.isdisjoint(names) for names in _asking())
        versions = tuple(version for version in self._superseded if version in words)
        known = self._lowered_by.get((asked, versions))
        if known is None:
            if len(self._lowered_by) >= MOST_LOWERED:
                self._lowered_by.clear()
            known = self._lowered_by[asked, versions] = self._factors(asked, versions)
        return known

    def _factors(self, asked: Sequence[bool], versions: Container[str]) -> Column:
        *traits, old, types, index, way = asked
        factors = np.ones(len(self._corpus.files), dtype=np.float32)
        for (trait, factor, asked_for, _), is_asked in zip(_LOWERED, traits, strict=True):
            own = asked_for if is_asked else factor
            if own < 1:
                factors[(self._traits & int(trait)) != 0] *= np.float32(own)
        if not old:
            factors[self._old] *= np.float32(OLD)
        if not types:
            factors[self._types] *= np.float32(TYPES)
        if not index:
            factors[self._handing_on] *= np.float32(HANDING_ON)
        if not way:
            factors[self._in_another_way] *= np.float32(IN_ANOTHER_WAY)
        for version, rows in self._superseded.items():
            if version not in versions:
                factors[rows] *= np.float32(SUPERSEDED)
        return factors


class _ByText(NamedTuple):
    """What words say."""

    chunks: Column
    paths: Column
    """By file what they say of its path."""
    covered: Column
    """By chunk what those words are worth together that it has."""
    total: float
    """What all of them are worth."""
    rarities: Mapping[str, float]
    """What each is worth by how many texts have it."""


class _Had(NamedTuple):
    """The chunks that have a word."""

    rows: NDArray[np.int64]
    shares: Column
    """What it counts in each, by how often and how long."""
    rarity: float
    """What it is worth; by how many paths have it, where no text has."""
    rarity_in_texts: float
    on_path: NDArray[np.int64]
    """The files that have it on their path."""


def _living(found: Occurrences, alive: NDArray[np.bool_]) -> Occurrences:
    """Those in files as they are now: what they were before counts for nothing."""
    kept = alive[found.rows]
    return found if kept.all() else Occurrences(found.rows[kept], found.counts[kept])


@cache
def _asking() -> Sequence[frozenset[str]]:
    """The words that ask for each sort of what is lowered, then those for what is old, types, indexes, ways."""
    names = [names for *_, names in _LOWERED]
    return [frozenset(words_of(one)) for one in (*names, _ASKING_OLD, _ASKING_TYPES, _ASKING_INDEX, _ASKING_WAY)]


class _Told(NamedTuple):
    """What the path of a file tells of it."""

    is_old: bool
    is_types: bool
    is_index: bool
    beside: str
    """Of a file that is named after one beside it, with `async` or `sync` behind, the path of that one; else empty."""
    versioned: tuple[str, int] | None
    """The folder that has a folder `vN` around the file, and that number."""


@lru_cache(maxsize=65_536)  # from one change to the next the files are the same
def _told_by(path: str) -> _Told:
    version = _VERSIONED.search(path)
    versioned = (path[: version.start()], int(version[1])) if version else None
    another = _IN_ANOTHER_WAY.fullmatch(path) if "sync" in path.lower() else None
    beside = another[1] + another[2] if another else ""
    return _Told(bool(_OLD.search(path)), bool(_TYPES.search(path)), bool(_INDEX.search(path)), beside, versioned)


def _superseded(told: Sequence[_Told], alive: NDArray[np.bool_]) -> dict[str, NDArray[np.int64]]:
    """The files in a folder `vN` beside one with a greater number, by `vN`."""
    found = [(row, *own.versioned) for row, own in enumerate(told) if own.versioned is not None and alive[row]]
    newest: dict[str, int] = {}
    for _, place, number in found:
        newest[place] = max(number, newest.get(place, 0))
    old: dict[str, list[int]] = {}
    for row, place, number in found:
        if number < newest[place]:
            old.setdefault(f"v{number}", []).append(row)
    return {version: np.array(rows, dtype=np.int64) for version, rows in old.items()}


def _share(values: Column) -> Column:
    """Compared with the best."""
    return values / np.float32(values.max(initial=0) or 1)


def _standing_out(cosines: Column) -> Column:
    """Compared with the most similar, without what is hardly similar."""
    return _most(np.where(cosines >= LEAST_COSINE, cosines, np.float32(0)))


def _most(similar: Column) -> Column:
    """Compared with the most similar, those that come near it."""
    return np.maximum((_share(similar) - np.float32(LEAST_SIMILAR)) / np.float32(1 - LEAST_SIMILAR), 0)
