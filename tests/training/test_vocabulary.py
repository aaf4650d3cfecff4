from models.vocabulary import bert_pieces, in_order, mined_words, tokenizer_of, words_of


def test_berts_vocabulary_loses_the_tokens_that_no_text_contains():
    assert bert_pieces(["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "##s", ""]) == [
        "[PAD]",
        "[UNK]",
        "the",
        "##s",
    ]


def test_identifiers_are_read_as_their_words():
    assert words_of("readHTTPHeader(max_size2, x)") == {"read", "http", "header", "max", "size2"}


def test_a_word_is_mined_when_three_packages_share_it_or_prose_uses_it_often():
    packages = (
        [(package, "kwargs") for package in ("a", "b", "c")] * 3 + [("a", "private")] * 60 + [("b", "known")] * 60
    )
    sentences = ["A whale is a whale."] * 8 + ["A barque."] * 7

    assert mined_words(packages, sentences, ["known"]) == ["kwargs", "whale"]


def test_the_tokenizer_splits_camel_case_lowers_and_falls_back_to_pieces():
    tokenizer = tokenizer_of(["[PAD]", "[UNK]", "read", "http", "head", "##er", "(", ")"])

    assert tokenizer.encode("readHTTPHeader(?)", add_special_tokens=False).tokens == [
        "read", "http", "head", "##er", "(", "[UNK]", ")",
    ]  # fmt: skip


def test_words_come_in_the_order_of_their_numbers() -> None:
    tokens = ["[PAD]", "[UNK]", "zebra", "apple", "##s"]
    assert in_order(tokenizer_of(tokens)) == tokens
