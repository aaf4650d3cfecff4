"""Which of the files that have a question's words comes first, and why."""

from collections.abc import Sequence

import numpy as np
import pytest

from scrubjay.code_index.discovery.file_traits import traits_by_path
from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.facts.words import query_words
from scrubjay.code_index.models import Language
from scrubjay.code_index.search import ranker as ranking
from scrubjay.code_index.search.commit_history import History
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.ranker import SIMILAR_TO_NAMED, WEIGHTS, Ranker, Toggles
from scrubjay.code_index.store import Content, IndexedFile
from scrubjay.code_index.term_counts.counter import vectors_of

SAME = "def handle(value: int) -> int:\n    return value\n"


def corpus_of(files: dict[str, str]) -> Corpus:
    corpus = Corpus()
    languages = {path: Language.TYPESCRIPT if path.endswith("ts") else Language.PYTHON for path in files}
    corpus.put(
        (
            IndexedFile(path, Content(path, languages[path]), len(text), traits_by_path(path), False, 1),
            digest(text.encode(), languages[path]),
        )
        for path, text in files.items()
    )
    return corpus


def order(query: str, files: dict[str, str], commits: Sequence[tuple[str, Sequence[str]]] = ()) -> list[str]:
    corpus = corpus_of(files)
    return [corpus.files[one.file].path for one in Ranker(corpus, History(commits)).rank(query, 9)]


def said(query: str, commits: Sequence[tuple[str, Sequence[str]]], *paths: str) -> list[float]:
    history, row_of = History(commits), {path: row for row, path in enumerate(paths)}
    found = history.files(query_words(query), history.touched(row_of, len(paths)))
    return np.round(found, 3).tolist()


# -- history ---------------------------------------------------------------------------------------


def test_many_commits_that_have_a_word_say_no_more_than_one_that_has_all() -> None:
    others = [("Tidy", ["other.py"])] * 2_000
    commits = [*[("Cache pages", ["hub.py"])] * 30, ("Cache expired tokens", ["tokens.py"]), *others]
    hub, tokens = said("cache of expired tokens", commits, "hub.py", "tokens.py")
    assert hub < tokens / 5
    files = {"hub.py": SAME, "tokens.py": SAME}
    assert order("expired entries of the cache", files, commits)[0] == "tokens.py"


def test_a_commit_that_has_one_word_says_less_than_its_share() -> None:
    commits = [("Tokens", ["one.py"]), ("Renew expired tokens", ["all.py"]), *[("Tidy", ["other.py"])] * 9]
    one, whole = said("renew expired tokens", commits, "one.py", "all.py")
    assert one < whole / 5


def test_a_commit_says_less_for_a_file_that_changes_all_the_time() -> None:
    commits = [("Renew tokens", ["hub.py", "tokens.py"]), *[("Tidy", ["hub.py"])] * 50]
    hub, tokens = said("renew tokens", commits, "hub.py", "tokens.py")
    assert 0 < hub < tokens == 1


def test_commits_count_by_how_much_of_the_question_the_best_has() -> None:
    commits = [("Renew tokens", ["tokens.py"]), ("Tidy", ["other.py"])]
    (whole,), (half,), (none,) = (said(query, commits, "tokens.py") for query in ("renew", "renew roofs", "roofs"))
    assert none == 0 < half < whole == 1


# -- what counts less ------------------------------------------------------------------------------

RUNNER = "def run_failed() -> None:\n    # run the tests that failed again\n    return None\n"
ITS_TEST = "def test_run_failed() -> None:\n    # run the tests that failed again, and again\n    run_failed()\n"


def test_what_tests_are_about_comes_before_the_tests_of_it() -> None:
    files = {"src/rerun.py": RUNNER, "tests/test_rerun.py": ITS_TEST}
    assert order("running the tests that failed again", files) == ["src/rerun.py", "tests/test_rerun.py"]


def test_who_asks_for_a_test_finds_it_by_its_name() -> None:
    cart = "def total(cart: list[int]) -> int:\n    return sum(cart)\n"
    test = "def test_total() -> None:\n    assert total([1]) == 1  # of a cart\n"
    files = {"src/cart.py": cart, "tests/test_cart.py": test}
    assert order("test of the cart's total", files)[0] == "tests/test_cart.py"
    assert order("the cart's total", files)[0] == "src/cart.py"


@pytest.mark.parametrize(
    ("query", "first"), [("retries of the worker", "worker.py"), ("configuration of worker retries", "worker.yaml")]
)
def test_configuration_comes_after_the_program_unless_it_is_asked_for(query: str, first: str) -> None:
    files = {
        "worker.py": "class Worker:\n    def run(self) -> int:\n        return self.retries\n",
        "worker.yaml": "worker:\n  retries: 3\n  more: retries of the worker, configured here\n",
    }
    assert order(query, files)[0] == first


TOTAL = "export function total(cart: Cart): number {\n  // sum up the prices of a cart\n  return cart.sum\n}\n"


@pytest.mark.parametrize(
    ("query", "first"), [("total of a cart", "shop/sums.ts"), ("exports of cart and total", "shop/cart/total/index.ts")]
)
def test_an_index_that_only_hands_on_comes_after_what_it_hands_on(query: str, first: str) -> None:
    files = {"shop/sums.ts": TOTAL, "shop/cart/total/index.ts": "export { total, Cart } from '../../sums'\n"}
    assert order(query, files)[0] == first


def test_an_index_that_defines_something_counts_as_any_other_file() -> None:
    corpus = corpus_of({"shop/index.ts": TOTAL, "shop/all/index.ts": "export * from '..' // total\n"})
    found = {corpus.files[one.file].path: one.lowered for one in Ranker(corpus, History()).rank("total of carts", 9)}
    assert found == {"shop/index.ts": 1, "shop/all/index.ts": 0.5}


@pytest.mark.parametrize(
    ("query", "lowered"), [("parse a cart", ["shop/parseAsync.ts"]), ("parse a cart asynchronously", [])]
)
def test_who_does_not_ask_for_waiting_means_the_file_beside_it(query: str, lowered: list[str]) -> None:
    names = ("parse", "parseAsync", "loadAsync", "desync")
    corpus = corpus_of({f"shop/{name}.ts": f"export function {name}(cart) {{}} // parse\n" for name in names})
    found = Ranker(corpus, History()).rank(query, 9)
    assert len(found) == len(names)
    assert [corpus.files[one.file].path for one in found if one.lowered < 1] == lowered


@pytest.mark.parametrize(
    ("path", "is_lowered"),
    [
        ("shop/cart.interface.ts", True),
        ("shop/cart.types.ts", True),
        ("shop/cartTypes.ts", True),
        ("shop/cart-types.mts", True),
        ("shop/types.py", True),
        ("shop/types/cart.ts", True),
        ("shop/prototypes.ts", False),
        ("shop/interface.ts", False),
        ("shop/cart.types.py", False),
    ],
)
def test_files_of_types_come_after_what_they_are_for(path: str, is_lowered: bool) -> None:
    found = Ranker(corpus_of({path: TOTAL}), History()).rank("prices of a cart", 1)
    assert (found[0].lowered < 1) == is_lowered


# -- names -----------------------------------------------------------------------------------------

USES = "def handle(context: Context) -> None:\n    # the context keeps values\n    context.keep(values)\n"
DEFINES = "class Context:\n    def keep(self, value: int) -> None:\n        self.value = value\n"


def test_a_word_written_as_a_name_is_looked_for_where_it_is_defined() -> None:
    corpus = corpus_of({"app/handling.py": USES, "app/state.py": DEFINES})
    ranker = Ranker(corpus, History())

    def defining(query: str) -> dict[str, float]:
        return {corpus.files[one.file].path: one.signals["defines"] for one in ranker.rank(query, 9)}

    assert defining("how the Context keeps values") == {
        "app/state.py": pytest.approx(0.35, rel=0.1),
        "app/handling.py": 0,
    }
    assert set(defining("how the context keeps values").values()) == {0}
    assert set(defining("Context that keeps values").values()) == {0}


# -- meaning ---------------------------------------------------------------------------------------


def test_what_is_similar_counts_less_when_an_identifier_is_named() -> None:
    corpus = corpus_of({"users.py": "def load_user(name: str) -> str:\n    return name\n", "other.py": SAME})
    ranker = Ranker(corpus, History())
    (plain, *_), (named, *_) = ranker.rank("load the user", 1), ranker.rank("load_user", 1)
    assert named.signals["meaning"] < plain.signals["meaning"]
    assert plain.signals["meaning"] == pytest.approx(WEIGHTS["meaning"])
    assert named.signals["meaning"] == pytest.approx(WEIGHTS["meaning"] * SIMILAR_TO_NAMED)
    assert plain.signals["about"] == pytest.approx(WEIGHTS["about"])
    assert named.signals["about"] == pytest.approx(WEIGHTS["about"] * SIMILAR_TO_NAMED)


def test_a_file_is_found_by_what_sets_it_apart_from_the_others() -> None:
    # All are about the payments of a shop, as the question is; only one has to do with refunds.
    words = [
        "invoice",
        "ledger",
        "balance",
        "currency",
        "receipt",
        "discount",
        "voucher",
        "terminal",
        "batch",
        "report",
        "account",
        "limit",
    ]
    names = [f"{first}_{second}" for first in words[:6] for second in words]
    files = {f"shop/payments/{name}.py": f"def {name}_of_payment() -> None: ...\n" for name in names}
    files["shop/payments/refund.py"] = "def refund_of_payment() -> None: ...\n"
    corpus = corpus_of(files)
    found = Ranker(corpus, History()).rank("refund of a payment in the shop", 9)
    about = sorted((one.signals["about"] for one in found), reverse=True)
    assert corpus.files[found[0].file].path == "shop/payments/refund.py"
    assert (about[0], found[0].signals["about"]) == (pytest.approx(WEIGHTS["about"]),) * 2
    assert about[1] < about[0] / 5


def test_a_name_that_is_declared_many_times_tells_once_what_a_file_is_about() -> None:
    often = "".join(f"export function pipe(a: A{number}): void\n" for number in range(90))
    once = "export function pipe(a: A): void\n"
    rest = "export function refund(payment: Payment): void { return }\n"

    def about(overloads: str) -> float:
        files = {"shop/one.ts": overloads + rest, **{f"other_{number}.py": SAME for number in range(9)}}
        corpus = corpus_of(files)
        question = corpus.abouts.encoded(vectors_of(["refund of a payment"]))
        return float(corpus.abouts.only(corpus.alive).cosines(question)[0])

    assert about(often) == pytest.approx(about(once))


# -- words near in meaning -------------------------------------------------------------------------

UNPACKING = "def unpack(stream: Stream) -> Stream:\n    # by gzip\n    return stream\n"
OTHERS = {f"other_{number}.py": SAME for number in range(9)}


def text_of(query: str, files: dict[str, str], toggles: Toggles = Toggles()) -> dict[str, float]:  # noqa: B008 - frozen
    """What the words say for each file, of those they say anything for."""
    corpus = corpus_of(files)
    found = Ranker(corpus, History()).rank(query, 99, toggles)
    return {corpus.files[one.file].path: said for one in found if (said := one.signals["text"])}


def test_a_word_that_a_file_does_not_have_is_found_by_one_near_it_in_meaning() -> None:
    assert text_of("gunzip", {"unpack.py": UNPACKING, **OTHERS}) == {"unpack.py": pytest.approx(WEIGHTS["text"])}


def test_a_word_near_another_in_meaning_counts_less_than_the_word() -> None:
    files = {"near.py": UNPACKING, "same.py": UNPACKING.replace("gzip", "gunzip"), **OTHERS}
    found = text_of("gunzip", files)
    assert found == {"same.py": pytest.approx(WEIGHTS["text"]), "near.py": found["near.py"]}
    assert 0 < found["near.py"] < 0.7 * WEIGHTS["text"]


def test_a_word_near_another_in_meaning_adds_nothing_to_the_word() -> None:
    files = {"both.py": UNPACKING.replace("gzip", "gunzip gzip"), "one.py": UNPACKING.replace("gzip", "gunzip roof")}
    found = text_of("gunzip", files | OTHERS)
    assert found["both.py"] == pytest.approx(found["one.py"])


def test_a_common_word_is_worth_no_more_where_it_stands_for_a_rare_one() -> None:
    common = {f"gzip_{number}.py": UNPACKING for number in range(9)}
    files = {"rare.py": UNPACKING.replace("gzip", "unpacking of archives"), **common}
    found = text_of("gunzip archives", files)
    assert max(said for path, said in found.items() if path != "rare.py") < found["rare.py"] / 5


def test_words_that_are_both_asked_for_do_not_stand_for_each_other() -> None:
    files = {"gzip.py": UNPACKING, **OTHERS}
    corpus = corpus_of(files)
    found = Ranker(corpus, History()).rank("gzip or gunzip", 1)[0]
    assert found.signals["covered"] < WEIGHTS["covered"] * 0.6


def test_words_stand_for_none_that_are_near_them_where_no_meaning_is_asked_for() -> None:
    assert text_of("gunzip", {"unpack.py": UNPACKING, **OTHERS}, Toggles(vector=False)) == {}


def test_a_score_is_the_sum_of_what_the_witnesses_add() -> None:
    corpus = corpus_of({"src/rerun.py": RUNNER, "tests/test_rerun.py": ITS_TEST, "worker.yaml": "retries: 3\n"})
    ranker = Ranker(corpus, History([("Run failed tests again", ["src/rerun.py"])]))
    for toggles in (Toggles(), Toggles(vector=False), Toggles(symbol=False), Toggles(graph=False)):
        for query in ("running failed tests", "run_failed", "failed"):
            for found in ranker.rank(query, 9, toggles):
                assert found.score == pytest.approx(sum(found.signals.values()), rel=1e-5)


# -- what is kept from one question to the next ----------------------------------------------------


def test_what_is_known_of_words_is_bounded_and_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"f{number}.py": f"def cookie{number}(request):\n    return token{number}\n" for number in range(9)}
    ranker = Ranker(corpus_of(files), History())
    questions = ["cookie request", *(f"token{number} of a request" for number in range(9)), "cookie request"]
    free = [ranker.rank(question, 9) for question in questions]
    for most in ("MOST_WORDS", "MOST_ROWS"):
        monkeypatch.setattr(ranking, most, 2)
        bounded = Ranker(corpus_of(files), History())
        assert [bounded.rank(question, 9) for question in questions] == free
        assert len(bounded._had) <= 2  # pyright: ignore[reportPrivateUsage]
        monkeypatch.undo()
