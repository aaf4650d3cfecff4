"""The order in which matching files are ranked, and the signals that decide it."""

from collections.abc import Sequence

import numpy as np
import pytest

from scrubjay.code_index.discovery.file_traits import traits_by_path
from scrubjay.code_index.facts.digest import digest
from scrubjay.code_index.facts.tokenizer import query_words
from scrubjay.code_index.models import Language
from scrubjay.code_index.search import ranker as ranking
from scrubjay.code_index.search.commit_history import CommitHistory
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.code_index.search.ranker import SIMILARITY_SHARE_FOR_NAMES, WEIGHTS, Ranker, SignalToggles
from scrubjay.code_index.store import Content, IndexedFile
from scrubjay.code_index.term_counts.counter import embed_texts

SAME = "def handle(value: int) -> int:\n    return value\n"


def corpus_of(files: dict[str, str]) -> Corpus:
    corpus = Corpus()
    languages = {path: Language.TYPESCRIPT if path.endswith("ts") else Language.PYTHON for path in files}
    corpus.update(
        (
            IndexedFile(path, Content(path, languages[path]), len(text), traits_by_path(path), False, 1),
            digest(text.encode(), languages[path]),
        )
        for path, text in files.items()
    )
    return corpus


def order(query: str, files: dict[str, str], commits: Sequence[tuple[str, Sequence[str]]] = ()) -> list[str]:
    corpus = corpus_of(files)
    return [corpus.files[hit.file].path for hit in Ranker(corpus, CommitHistory(commits)).rank(query, 9)]


def history_scores(query: str, commits: Sequence[tuple[str, Sequence[str]]], *paths: str) -> list[float]:
    history, row_of = CommitHistory(commits), {path: row for row, path in enumerate(paths)}
    scores = history.scores(query_words(query), history.activity_of(row_of, len(paths)))
    return np.round(scores, 3).tolist()


# -- history ---------------------------------------------------------------------------------------


def test_one_commit_with_all_words_outweighs_many_commits_with_one_word() -> None:
    others = [("Tidy", ["other.py"])] * 2_000
    commits = [*[("Cache pages", ["hub.py"])] * 30, ("Cache expired tokens", ["tokens.py"]), *others]
    hub, tokens = history_scores("cache of expired tokens", commits, "hub.py", "tokens.py")
    assert hub < tokens / 5
    files = {"hub.py": SAME, "tokens.py": SAME}
    assert order("expired entries of the cache", files, commits)[0] == "tokens.py"


def test_a_commit_with_one_of_three_words_scores_less_than_a_third() -> None:
    commits = [("Tokens", ["one.py"]), ("Renew expired tokens", ["all.py"]), *[("Tidy", ["other.py"])] * 9]
    one, whole = history_scores("renew expired tokens", commits, "one.py", "all.py")
    assert one < whole / 5


def test_a_commit_counts_less_for_a_file_that_changes_often() -> None:
    commits = [("Renew tokens", ["hub.py", "tokens.py"]), *[("Tidy", ["hub.py"])] * 50]
    hub, tokens = history_scores("renew tokens", commits, "hub.py", "tokens.py")
    assert 0 < hub < tokens == 1


def test_commit_scores_are_scaled_by_the_share_of_the_query_in_the_best_commit() -> None:
    commits = [("Renew tokens", ["tokens.py"]), ("Tidy", ["other.py"])]
    (whole,), (half,), (none,) = (
        history_scores(query, commits, "tokens.py") for query in ("renew", "renew roofs", "roofs")
    )
    assert none == 0 < half < whole == 1


# -- penalties -------------------------------------------------------------------------------------

RUNNER = "def run_failed() -> None:\n    # run the tests that failed again\n    return None\n"
ITS_TEST = "def test_run_failed() -> None:\n    # run the tests that failed again, and again\n    run_failed()\n"


def test_code_ranks_above_its_tests() -> None:
    files = {"src/rerun.py": RUNNER, "tests/test_rerun.py": ITS_TEST}
    assert order("running the tests that failed again", files) == ["src/rerun.py", "tests/test_rerun.py"]


def test_a_query_for_a_test_ranks_the_test_first() -> None:
    cart = "def total(cart: list[int]) -> int:\n    return sum(cart)\n"
    test = "def test_total() -> None:\n    assert total([1]) == 1  # of a cart\n"
    files = {"src/cart.py": cart, "tests/test_cart.py": test}
    assert order("test of the cart's total", files)[0] == "tests/test_cart.py"
    assert order("the cart's total", files)[0] == "src/cart.py"


@pytest.mark.parametrize(
    ("query", "first"), [("retries of the worker", "worker.py"), ("configuration of worker retries", "worker.yaml")]
)
def test_configuration_ranks_below_the_program_unless_the_query_asks_for_it(query: str, first: str) -> None:
    files = {
        "worker.py": "class Worker:\n    def run(self) -> int:\n        return self.retries\n",
        "worker.yaml": "worker:\n  retries: 3\n  more: retries of the worker, configured here\n",
    }
    assert order(query, files)[0] == first


TOTAL = "export function total(cart: Cart): number {\n  // sum up the prices of a cart\n  return cart.sum\n}\n"


@pytest.mark.parametrize(
    ("query", "first"), [("total of a cart", "shop/sums.ts"), ("exports of cart and total", "shop/cart/total/index.ts")]
)
def test_an_index_file_that_only_re_exports_ranks_below_the_exported_file(query: str, first: str) -> None:
    files = {"shop/sums.ts": TOTAL, "shop/cart/total/index.ts": "export { total, Cart } from '../../sums'\n"}
    assert order(query, files)[0] == first


def test_an_index_file_with_definitions_has_no_penalty() -> None:
    corpus = corpus_of({"shop/index.ts": TOTAL, "shop/all/index.ts": "export * from '..' // total\n"})
    found = {
        corpus.files[one.file].path: one.penalty for one in Ranker(corpus, CommitHistory()).rank("total of carts", 9)
    }
    assert found == {"shop/index.ts": 1, "shop/all/index.ts": 0.5}


@pytest.mark.parametrize(
    ("query", "lowered"), [("parse a cart", ["shop/parseAsync.ts"]), ("parse a cart asynchronously", [])]
)
def test_an_async_variant_ranks_below_its_sync_file_unless_the_query_asks_for_it(
    query: str, lowered: list[str]
) -> None:
    names = ("parse", "parseAsync", "loadAsync", "desync")
    corpus = corpus_of({f"shop/{name}.ts": f"export function {name}(cart) {{}} // parse\n" for name in names})
    found = Ranker(corpus, CommitHistory()).rank(query, 9)
    assert len(found) == len(names)
    assert [corpus.files[one.file].path for one in found if one.penalty < 1] == lowered


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
def test_files_of_type_declarations_have_a_penalty(path: str, is_lowered: bool) -> None:
    found = Ranker(corpus_of({path: TOTAL}), CommitHistory()).rank("prices of a cart", 1)
    assert (found[0].penalty < 1) == is_lowered


# -- names -----------------------------------------------------------------------------------------

USES = "def handle(context: Context) -> None:\n    # the context keeps values\n    context.keep(values)\n"
DEFINES = "class Context:\n    def keep(self, value: int) -> None:\n        self.value = value\n"


def test_a_capitalized_word_inside_a_query_boosts_the_file_that_defines_it() -> None:
    corpus = corpus_of({"app/handling.py": USES, "app/state.py": DEFINES})
    ranker = Ranker(corpus, CommitHistory())

    def defining(query: str) -> dict[str, float]:
        return {corpus.files[one.file].path: one.signals["defines"] for one in ranker.rank(query, 9)}

    assert defining("how the Context keeps values") == {
        "app/state.py": pytest.approx(0.35, rel=0.1),
        "app/handling.py": 0,
    }
    assert set(defining("how the context keeps values").values()) == {0}
    assert set(defining("Context that keeps values").values()) == {0}


# -- meaning ---------------------------------------------------------------------------------------


def test_embeddings_count_less_when_the_query_contains_an_identifier() -> None:
    corpus = corpus_of({"users.py": "def load_user(name: str) -> str:\n    return name\n", "other.py": SAME})
    ranker = Ranker(corpus, CommitHistory())
    (plain, *_), (named, *_) = ranker.rank("load the user", 1), ranker.rank("load_user", 1)
    assert named.signals["embedding"] < plain.signals["embedding"]
    assert plain.signals["embedding"] == pytest.approx(WEIGHTS["embedding"])
    assert named.signals["embedding"] == pytest.approx(WEIGHTS["embedding"] * SIMILARITY_SHARE_FOR_NAMES)
    assert plain.signals["file_embedding"] == pytest.approx(WEIGHTS["file_embedding"])
    assert named.signals["file_embedding"] == pytest.approx(WEIGHTS["file_embedding"] * SIMILARITY_SHARE_FOR_NAMES)


def test_a_file_is_found_by_what_distinguishes_it_from_the_others() -> None:
    # All files and the query are about the payments of a shop; only one file is about refunds.
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
    found = Ranker(corpus, CommitHistory()).rank("refund of a payment in the shop", 9)
    about = sorted((one.signals["file_embedding"] for one in found), reverse=True)
    assert corpus.files[found[0].file].path == "shop/payments/refund.py"
    assert (about[0], found[0].signals["file_embedding"]) == (pytest.approx(WEIGHTS["file_embedding"]),) * 2
    assert about[1] < about[0] / 5


def test_overloads_of_one_name_count_once_in_the_file_embedding() -> None:
    often = "".join(f"export function pipe(a: A{number}): void\n" for number in range(90))
    once = "export function pipe(a: A): void\n"
    rest = "export function refund(payment: Payment): void { return }\n"

    def about(overloads: str) -> float:
        files = {"shop/one.ts": overloads + rest, **{f"other_{number}.py": SAME for number in range(9)}}
        corpus = corpus_of(files)
        question = corpus.file_vectors.to_codes(embed_texts(["refund of a payment"]))
        return float(corpus.file_vectors.searchable(corpus.alive).cosines(question)[0])

    assert about(often) == pytest.approx(about(once))


# -- related words ---------------------------------------------------------------------------------

UNPACKING = "def unpack(stream: Stream) -> Stream:\n    # by gzip\n    return stream\n"
OTHERS = {f"other_{number}.py": SAME for number in range(9)}


def text_of(query: str, files: dict[str, str], toggles: SignalToggles = SignalToggles()) -> dict[str, float]:  # noqa: B008 - frozen
    """Return the nonzero text scores of the files."""
    corpus = corpus_of(files)
    hits = Ranker(corpus, CommitHistory()).rank(query, 99, toggles)
    return {corpus.files[hit.file].path: score for hit in hits if (score := hit.signals["text"])}


def test_a_missing_word_matches_a_related_word() -> None:
    assert text_of("gunzip", {"unpack.py": UNPACKING, **OTHERS}) == {"unpack.py": pytest.approx(WEIGHTS["text"])}


def test_a_related_word_counts_less_than_the_word_itself() -> None:
    files = {"near.py": UNPACKING, "same.py": UNPACKING.replace("gzip", "gunzip"), **OTHERS}
    scores = text_of("gunzip", files)
    assert scores == {"same.py": pytest.approx(WEIGHTS["text"]), "near.py": scores["near.py"]}
    assert 0 < scores["near.py"] < 0.7 * WEIGHTS["text"]


def test_a_related_word_adds_nothing_where_the_word_itself_occurs() -> None:
    files = {"both.py": UNPACKING.replace("gzip", "gunzip gzip"), "one.py": UNPACKING.replace("gzip", "gunzip roof")}
    scores = text_of("gunzip", files | OTHERS)
    assert scores["both.py"] == pytest.approx(scores["one.py"])


def test_a_common_word_weighs_no_more_when_it_replaces_a_rare_one() -> None:
    common = {f"gzip_{number}.py": UNPACKING for number in range(9)}
    files = {"rare.py": UNPACKING.replace("gzip", "unpacking of archives"), **common}
    scores = text_of("gunzip archives", files)
    assert max(score for path, score in scores.items() if path != "rare.py") < scores["rare.py"] / 5


def test_words_of_the_query_do_not_replace_each_other() -> None:
    files = {"gzip.py": UNPACKING, **OTHERS}
    corpus = corpus_of(files)
    found = Ranker(corpus, CommitHistory()).rank("gzip or gunzip", 1)[0]
    assert found.signals["coverage"] < WEIGHTS["coverage"] * 0.6


def test_related_words_are_not_used_when_the_vector_signal_is_disabled() -> None:
    assert text_of("gunzip", {"unpack.py": UNPACKING, **OTHERS}, SignalToggles(vector=False)) == {}


def test_a_score_is_the_sum_of_its_signals() -> None:
    corpus = corpus_of({"src/rerun.py": RUNNER, "tests/test_rerun.py": ITS_TEST, "worker.yaml": "retries: 3\n"})
    ranker = Ranker(corpus, CommitHistory([("Run failed tests again", ["src/rerun.py"])]))
    for toggles in (
        SignalToggles(),
        SignalToggles(vector=False),
        SignalToggles(symbol=False),
        SignalToggles(graph=False),
    ):
        for query in ("running failed tests", "run_failed", "failed"):
            for found in ranker.rank(query, 9, toggles):
                assert found.score == pytest.approx(sum(found.signals.values()), rel=1e-5)


# -- caches between queries ------------------------------------------------------------------------


def test_the_word_cache_is_bounded_and_does_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"f{number}.py": f"def cookie{number}(request):\n    return token{number}\n" for number in range(9)}
    ranker = Ranker(corpus_of(files), CommitHistory())
    questions = ["cookie request", *(f"token{number} of a request" for number in range(9)), "cookie request"]
    unbounded = [ranker.rank(question, 9) for question in questions]
    for limit in ("MAX_CACHED_WORDS", "MAX_CACHED_ROWS"):
        monkeypatch.setattr(ranking, limit, 2)
        bounded = Ranker(corpus_of(files), CommitHistory())
        assert [bounded.rank(question, 9) for question in questions] == unbounded
        assert len(bounded._match_cache) <= 2  # pyright: ignore[reportPrivateUsage]
        monkeypatch.undo()
