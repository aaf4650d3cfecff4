"""Words counted and embeddings computed for many texts at once equal those of each text alone."""

import random
import re
import threading
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.code_index.facts.tokenizer import tokenize, tokenize_name
from scrubjay.code_index.term_counts import native_counter
from scrubjay.code_index.term_counts.counter import TermCounter
from scrubjay.code_index.term_counts.models import NAME_WEIGHT, TermCounts, split_ascii
from scrubjay.models.static_model import EmbeddingTable
from scrubjay.native.library import library
from scrubjay.search_index.token_segments import MAX_COUNT, token

TEXTS = [
    "def load_user(self, userID: int) -> User:\n    return self.cache[userID] or HTTPServer2().get(userID)\n",
    "",
    "  \n\t",
    "größe = prüfe_straße(größe)  # übrige 東京都\n",
    "x\x0cy \x00 z",
    "same same same " * 100,
    "__init__ _private a1b2 SHOUTING_CASE " + "z" * 200,
]
NAMES = [("load_user",), (), (), ("größe", "prüfe_straße"), (), ("same",), ("impl Reader for File", "__init__")]


@pytest.fixture(params=[True, False], ids=["native", "numpy"])
def make_counter(request: pytest.FixtureRequest) -> Callable[[], TermCounter]:
    return lambda: TermCounter(compiled=request.param)


CounterFactory = Callable[[], TermCounter]


def words(counts: TermCounts, row: int) -> dict[int, int]:
    span = slice(int(counts.starts[row]), int(counts.starts[row + 1]))
    return dict(zip(counts.words[span].tolist(), counts.counts[span].tolist(), strict=True))


def expected(text: str, names: tuple[str, ...]) -> dict[int, int]:
    counts = Counter(token(word) for word in tokenize(text))
    for name in names:
        for word in tokenize(name):
            counts[token(word)] += NAME_WEIGHT
    return {word: min(count, MAX_COUNT) for word, count in counts.items()}


def test_words_are_counted_and_defined_names_count_more(make_counter: CounterFactory):
    counts = make_counter().count(TEXTS, NAMES)
    assert [words(counts, row) for row in range(len(TEXTS))] == list(map(expected, TEXTS, NAMES))
    assert max(map(max, (words(counts, 5).values(), [0]))) == MAX_COUNT


def test_the_embedding_of_a_text_is_that_of_the_model(make_counter: CounterFactory):
    vectors = make_counter().count(TEXTS, NAMES).vectors.astype(np.float32)
    expected_vectors = EmbeddingTable().encode([text.replace("[", " ") for text in TEXTS])
    for text, vector, expected_vector in zip(TEXTS, vectors, expected_vectors, strict=True):
        if not expected_vector or "\x0c" in text:  # the model also reads the control character
            continue
        assert vector @ np.frombuffer(expected_vector, "<f2").astype(np.float32) == pytest.approx(1, abs=2e-3), text
    assert not vectors[1].any()
    assert not vectors[2].any()


def test_results_do_not_depend_on_earlier_texts(make_counter: CounterFactory):
    used, fresh = make_counter(), make_counter()
    rng = random.Random(1)
    for _ in range(5):
        others = ["".join(rng.choices("abcXYZ_ .(", k=200)) for _ in range(9)]
        used.count(others, [()] * len(others))
    for one, other in zip(used.count(TEXTS, NAMES), fresh.count(TEXTS, NAMES), strict=True):
        assert one.tobytes() == other.tobytes()


def test_many_texts_give_the_same_counts_as_a_few(make_counter: CounterFactory):
    many = TEXTS * 20
    counts, few = make_counter().count(many, NAMES * 20), make_counter().count(TEXTS, NAMES)
    assert [words(counts, row) for row in range(len(many))] == [words(few, row) for row in range(len(TEXTS))] * 20
    assert np.allclose(counts.vectors.astype(np.float32), np.tile(few.vectors.astype(np.float32), (20, 1)), atol=2e-3)


def test_no_texts_have_no_words(make_counter: CounterFactory):
    counts = make_counter().count([], [])
    assert [len(array) for array in counts] == [1, 0, 0, 0]
    assert len(make_counter().embed([])) == len(make_counter().whole_name_words([])) == 0


def test_the_native_library_is_available_where_there_is_a_compiler():
    assert library() is not None


# Letters, digits and signs of all kinds, with every special case of the tokenizer.
LETTERS = list("abcxyzABCXYZ019__  \n\t()[].,:=-'\"\x00\x7féß東京\u0301“…🎉İ")
PIECES = ["HTTPServer", "getURLFor2", "self", "größe", "naïve_Bayes", "x" * 101, "Y" * 128, "z" * 129, "running", "###"]


@given(st.text(st.sampled_from(LETTERS), max_size=40))
def test_words_with_non_ascii_characters_are_split_off(text: str):
    odd = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*+[^\x00-\x7f][A-Za-z0-9_\x80-\U0010ffff]*+")
    plain, removed = split_ascii(text)
    assert (plain, [*removed]) == (odd.sub(" ", text), odd.findall(text))


@pytest.mark.parametrize("seed", range(40))
def test_the_native_counter_gives_the_same_results_as_numpy(seed: int):
    rng = random.Random(seed)

    def text(max_pieces: int) -> str:
        return "".join(rng.choice(LETTERS if rng.random() < 0.9 else PIECES) for _ in range(rng.randrange(max_pieces)))

    texts = [text(400) for _ in range(20)]
    names = [[text(12) for _ in range(rng.randrange(4))] for _ in texts]
    native, numpy = (TermCounter(compiled=compiled) for compiled in (True, False))
    for _ in range(2):
        one, other = native.count(texts, names), numpy.count(texts, names)
        assert one.starts.tolist() == other.starts.tolist()
        assert [words(one, row) for row in range(len(texts))] == [words(other, row) for row in range(len(texts))]
        assert np.allclose(one.vectors.astype(np.float32), other.vectors.astype(np.float32), atol=2e-3)
        assert np.allclose(native.embed(texts), other.vectors, atol=2e-3)
    all_names = [name for own in names for name in own]
    assert native.whole_name_words(all_names).tolist() == numpy.whole_name_words(all_names).tolist()


@pytest.mark.parametrize("odd", ["", "größe = 1\n"])
def test_spans_of_a_content_are_counted_like_separate_texts(make_counter: CounterFactory, odd: str):
    content = f"def load_user(self):\n    pass\n{odd}class User:\n    userID = 1\n".encode()
    names = ["load_user", "User", "of\ntwo lines", "User", "userID", "nowhere", *([odd.split()[0]] if odd else [])]
    spans, owners = [(0, 21, 1, 1), (21, len(content), 2, 5)], [0, 1, 1, 1, 1, -1, 0]
    texts = [content[start:end].decode() for start, end, _, _ in spans]
    defined = [{name: None for name, own in zip(names, owners, strict=False) if own == i} for i in range(2)]
    counts, whole_names = make_counter().count_spans(
        content, np.array(spans, dtype=np.int32), names, np.array(owners[: len(names)], dtype=np.int32)
    )
    for one, other in zip(counts, make_counter().count(texts, [[*own] for own in defined]), strict=True):
        assert one.tobytes() == other.tobytes()
    assert [words(counts, row) for row in range(2)] == [expected(texts[i], tuple(defined[i])) for i in range(2)]
    assert whole_names.tolist() == make_counter().whole_name_words(names).tolist()


def test_the_word_of_a_whole_name_is_its_last_word(make_counter: CounterFactory):
    names = ["load_user", "__init__", "x", "", "größe", "impl Reader for File", "__", "***", "a" * 200, "Straße_2"]
    assert make_counter().whole_name_words(names).tolist() == [token(tokenize_name(name)[-1]) for name in names]


def test_a_full_identifier_cache_is_cleared(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(native_counter, "MAX_IDENTIFIERS", 10)
    counter = TermCounter()
    for turn in range(4):
        text = " ".join(f"name{letter}{turn}" for letter in "abcdefghijkl")
        assert words(counter.count([text], [()]), 0) == expected(text, ())


def test_a_memory_error_is_raised_and_the_counter_stays_usable(monkeypatch: pytest.MonkeyPatch):
    counter, text = TermCounter(), "def load_user(self): pass"

    def failing(name: str) -> Callable[[str], str]:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(native_counter, "stem_part", failing)
        with pytest.raises(MemoryError):
            counter.count([text], [()])
    assert words(counter.count([text], [()]), 0) == expected(text, ())


def test_two_threads_can_count_at_the_same_time(make_counter: CounterFactory):
    counter, failures = make_counter(), list[BaseException]()

    def count(seed: int) -> None:
        rng = random.Random(seed)
        try:
            for _ in range(30):
                text = " ".join("".join(rng.choices("abcdefgh_", k=8)) for _ in range(300))
                assert words(counter.count([text], [()]), 0) == expected(text, ())
        except BaseException as error:  # exceptions of a thread are lost otherwise
            failures.append(error)

    threads = [threading.Thread(target=count, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
