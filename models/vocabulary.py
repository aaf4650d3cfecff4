"""The tokenizer: BERT's word pieces, and the words of packages and prose that BERT has no whole token for."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

WORDS = 18_000
_LEAST_PACKAGES = 3
_LEAST_USES = 8
# One package, and one word of it, must not decide what the world's words are.
_MOST_TEXTS_OF_A_PACKAGE = 600
_MOST_USES_IN_A_PACKAGE = 60
_MOST_USES_PER_PACKAGE = 40

_CAMEL = (r"(?<=[a-z0-9])(?=[A-Z])", r"(?<=[A-Z])(?=[A-Z][a-z])")
_BOUNDARY = re.compile("|".join(_CAMEL))
_WORD = re.compile(r"[a-z][a-z0-9]{2,19}")


def bert_pieces(vocabulary: Sequence[str]) -> list[str]:
    """BERT's vocabulary without the tokens that no text of ours contains."""
    return [token for token in vocabulary if token and not re.fullmatch(r"\[(?:unused\d+|CLS|SEP|MASK)\]", token)]


def words_of(text: str) -> set[str]:
    return set(_WORD.findall(_BOUNDARY.sub(" ", text).replace("_", " ").lower()))


def mined_words(package_texts: Iterable[tuple[str, str]], sentences: Iterable[str], known: Sequence[str]) -> list[str]:
    """The most used words that at least three packages share, or that prose uses often, most used first."""
    by_package: dict[str, Counter[str]] = defaultdict(Counter)
    read: Counter[str] = Counter()
    for package, text in package_texts:
        read[package] += 1
        if read[package] <= _MOST_TEXTS_OF_A_PACKAGE:
            by_package[package].update(words_of(text))
    packages: Counter[str] = Counter()
    uses: Counter[str] = Counter()
    for counted in by_package.values():
        packages.update(counted.keys())
        for word, count in counted.items():
            uses[word] += min(count, _MOST_USES_IN_A_PACKAGE)
    in_prose: Counter[str] = Counter()
    for sentence in sentences:
        in_prose.update(set(_WORD.findall(sentence.lower())))
    for word, count in in_prose.items():
        if count >= _LEAST_USES:
            uses[word] += count
            packages[word] += _LEAST_PACKAGES
    weights = {
        word: min(uses[word], _MOST_USES_PER_PACKAGE * packages[word])
        for word in uses.keys() - set(known)
        if packages[word] >= _LEAST_PACKAGES and uses[word] >= _LEAST_USES
    }
    return sorted(weights, key=lambda word: (-weights[word], word))[:WORDS]


def tokenizer_of(tokens: Sequence[str]) -> Tokenizer:
    """A WordPiece tokenizer over these tokens that also splits camelCase."""
    tokenizer = Tokenizer(
        models.WordPiece(
            {token: number for number, token in enumerate(tokens)}, unk_token="[UNK]", max_input_chars_per_word=100
        )
    )
    tokenizer.normalizer = normalizers.Sequence(
        [
            *(normalizers.Replace(Regex(boundary), " ") for boundary in _CAMEL),
            normalizers.BertNormalizer(lowercase=True),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = [AddedToken("[PAD]"), AddedToken("[UNK]")]
    tokenizer.add_special_tokens(special)  # pyright: ignore[reportUnknownMemberType] - the stub's list is bare
    return tokenizer


def in_order(tokenizer: Tokenizer) -> list[str]:
    """The words of a tokenizer by their numbers."""
    numbered = tokenizer.get_vocab()
    return sorted(numbered, key=numbered.__getitem__)
