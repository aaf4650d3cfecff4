"""Evidence is merged, cut to a budget and free of secrets."""

from pathlib import Path

from scrubjay.code_index.index.indexer import Indexer
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.questions.evidence import EvidencePool, Item, Sentence
from scrubjay.code_index.service import CodeService, LoadedIndex
from scrubjay.core.progress import SilentReporter
from scrubjay.features.code.sqlite import SqliteCode

Shop = tuple[CodeService, LoadedIndex]


async def test_overlapping_ranges_are_merged(shop: Shop) -> None:
    code, loaded = shop
    pool = EvidencePool(loaded)
    file = loaded.corpus.row_of["shop/auth.py"]
    pieces = [pool.lines(file, 1, 3, 0.5), pool.lines(file, 20, 22, 0.9), pool.lines(file, 3, 5, 0.7)]
    sentences = [Sentence("See", [Item("this", (pieces[0], pieces[2])), Item("that", (pieces[1],))])]
    shown = await pool.render(code, sentences, 1, 4_000)
    assert [(one.excerpt.span.first_line, one.excerpt.span.last_line, one.relevance) for one in shown.evidence] == [
        (20, 22, 0.9),
        (1, 5, 0.7),
    ]
    assert shown.answer == "See this [2] and that [1]."
    first = shown.evidence[0].excerpt
    assert (first.before, first.text.split("\n")[0], first.after) == (
        "\n",
        "    def login(self, password: str) -> bool:",
        "\n            return validate_password(self.name, password)",
    )


async def test_evidence_that_does_not_fit_is_cut_or_omitted_together_with_its_claims(shop: Shop) -> None:
    code, loaded = shop
    pool = EvidencePool(loaded)
    rows = [loaded.corpus.row_of[path] for path in ("shop/auth.py", "web/AuthService.ts", "web/login.ts")]
    sentences = [Sentence("Of", [Item(str(row), (pool.lines(row, 1, 17, 0.9),)) for row in rows])]
    whole = await pool.render(code, sentences, 0, 4_000)
    assert (len(whole.evidence), whole.truncated) == (3, False)
    cut = await pool.render(code, sentences, 0, 350)
    assert (len(cut.evidence), cut.truncated) == (2, True)
    assert cut.evidence[1].excerpt.span.last_line < 17
    assert cut.answer == f"Of {rows[0]} [1], {rows[1]} [2] and 1 more."
    nothing = await pool.render(code, sentences, 0, 50)
    assert (nothing.evidence, nothing.answer, nothing.truncated) == ([], "", True)


async def test_secrets_are_never_shown_not_even_in_part(tmp_path: Path) -> None:
    root = tmp_path / "code"
    root.mkdir()
    inside = [f"{'MIIEow' + 'Ab1' * 18}{number:04}" for number in range(12)]
    key = ["-----BEGIN RSA PRIVATE KEY-----", *inside, "-----END RSA PRIVATE KEY-----"]
    (root / "keys.py").write_text("KEY = '''\n" + "\n".join(key) + "\n'''\n\n\ndef sign():\n    return KEY\n")
    store = await SqliteCode.open(tmp_path)
    indexer = Indexer(store, tmp_path / "locks")
    built = await indexer.build(str(root), "HEAD", IndexOptions(), SilentReporter())
    code = CodeService(store, indexer)
    loaded = await code.load(built.record.id)
    pool = EvidencePool(loaded)
    pool.lines(0, 9, 10, 1.0)
    pool.lines(0, 19, 20, 0.9)
    shown = await pool.render(code, [], 4, 4_000)
    await store.close()
    texts = [one.excerpt.before + one.excerpt.text + one.excerpt.after for one in shown.evidence]
    assert "MIIEow" not in "".join(texts)
    assert shown.evidence[1].excerpt.text == "def sign():\n    return KEY"
