"""Vocabulary and tokenizer: BERT's word pieces, and words of packages and prose that BERT has no whole token for."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

MAX_WORDS = 18_000
_MIN_PACKAGES = 3
_MIN_USES = 8
# Limits, so that no single package dominates the vocabulary.
_MAX_TEXTS_PER_PACKAGE = 600
_MAX_USES_IN_ONE_PACKAGE = 60
_MAX_MEAN_USES_PER_PACKAGE = 40

_CAMEL = (r"(?<=[a-z0-9])(?=[A-Z])", r"(?<=[A-Z])(?=[A-Z][a-z])")
_BOUNDARY = re.compile("|".join(_CAMEL))
_WORD = re.compile(r"[a-z][a-z0-9]{2,19}")


def bert_pieces(vocabulary: Sequence[str]) -> list[str]:
    """Return BERT's vocabulary without its unused and special tokens, except `[PAD]` and `[UNK]`."""
    return [token for token in vocabulary if token and not re.fullmatch(r"\[(?:unused\d+|CLS|SEP|MASK)\]", token)]


def split_words(text: str) -> set[str]:
    return set(_WORD.findall(_BOUNDARY.sub(" ", text).replace("_", " ").lower()))


def mine_words(package_texts: Iterable[tuple[str, str]], sentences: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return the most used words that at least three packages share or that prose uses often, most used first."""
    by_package: dict[str, Counter[str]] = defaultdict(Counter)
    read: Counter[str] = Counter()
    for package, text in package_texts:
        read[package] += 1
        if read[package] <= _MAX_TEXTS_PER_PACKAGE:
            by_package[package].update(split_words(text))
    packages: Counter[str] = Counter()
    uses: Counter[str] = Counter()
    for counted in by_package.values():
        packages.update(counted.keys())
        for word, count in counted.items():
            uses[word] += min(count, _MAX_USES_IN_ONE_PACKAGE)
    in_prose: Counter[str] = Counter()
    for sentence in sentences:
        in_prose.update(set(_WORD.findall(sentence.lower())))
    for word, count in in_prose.items():
        if count >= _MIN_USES:
            uses[word] += count
            packages[word] += _MIN_PACKAGES
    weights = {
        word: min(uses[word], _MAX_MEAN_USES_PER_PACKAGE * packages[word])
        for word in uses.keys() - set(known)
        if packages[word] >= _MIN_PACKAGES and uses[word] >= _MIN_USES
    }
    return sorted(weights, key=lambda word: (-weights[word], word))[:MAX_WORDS]


def build_tokenizer(tokens: Sequence[str]) -> Tokenizer:
    """Return a WordPiece tokenizer over these tokens that also splits camelCase."""
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


def words_by_id(tokenizer: Tokenizer) -> list[str]:
    """Return the tokens of a tokenizer ordered by id."""
    numbered = tokenizer.get_vocab()
    return sorted(numbered, key=numbered.__getitem__)
