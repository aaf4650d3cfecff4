"""The vocabulary of the model and its tokenizer."""

from models.vocabulary import bert_pieces, build_tokenizer, mine_words, split_words, words_by_id


def test_unused_and_special_tokens_of_bert_are_removed():
    assert bert_pieces(["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "##s", ""]) == [
        "[PAD]",
        "[UNK]",
        "the",
        "##s",
    ]


def test_identifiers_are_split_to_words():
    assert split_words("readHTTPHeader(max_size2, x)") == {"read", "http", "header", "max", "size2"}


def test_a_word_is_mined_when_three_packages_share_it_or_prose_uses_it_often():
    packages = (
        [(package, "kwargs") for package in ("a", "b", "c")] * 3 + [("a", "private")] * 60 + [("b", "known")] * 60
    )
    sentences = ["A whale is a whale."] * 8 + ["A barque."] * 7

    assert mine_words(packages, sentences, ["known"]) == ["kwargs", "whale"]


def test_the_tokenizer_splits_camel_case_lowercases_and_falls_back_to_word_pieces():
    tokenizer = build_tokenizer(["[PAD]", "[UNK]", "read", "http", "head", "##er", "(", ")"])

    assert tokenizer.encode("readHTTPHeader(?)", add_special_tokens=False).tokens == [
        "read", "http", "head", "##er", "(", "[UNK]", ")",
    ]  # fmt: skip


def test_tokens_are_ordered_by_id() -> None:
    tokens = ["[PAD]", "[UNK]", "zebra", "apple", "##s"]
    assert words_by_id(build_tokenizer(tokens)) == tokens
