"""Wording around passwords and keys in German, French, Spanish and Chinese, and short forms of all languages.

English has its rules in `scrubjay.core.secrets`. All patterns match lower-case text.
"""

from typing import Final, NamedTuple

from scrubjay.core.lazy_regex import lazy_pattern


class PhraseLanguage(NamedTuple):
    """How texts of a language name a secret and what stands between the name and the value."""

    gates: tuple[str, ...]
    """An ASCII text with none of these has no phrase of the language."""
    other_gates: tuple[str, ...]
    """The same for texts with other characters, in addition."""
    passwords: str
    passphrases: str
    keys: str
    prepositions: str
    """They start words that say what the secret is for."""
    connectors: str
    """Words before the value."""


GERMAN: Final = PhraseLanguage(
    gates=("passwort", "passphrase", "kennwort", "zug", "schluessel"),
    other_gates=("schlüssel",),
    passwords="passwort|kennwort|zugangscode",
    passphrases="passphrase",
    keys="api-?(?:schlüssel|schluessel)|geheime[nrs]? (?:schlüssel|schluessel)|zugriffs-?token|zugangs-?token"
    "|(?:zugriffs|zugangs|lizenz)(?:schlüssel|schluessel)",
    prepositions="für|fuer|fürs|von|vom|zu|zum|zur|des|der|dem|im|in|am|an|bei|beim|unter|auf",
    connectors="(?:ist|war|lautete?|heißt|heisst|wurde|wird)(?: (?:jetzt|nun|neu|aktuell))?(?: auf)?(?::| =)?|auf",
)
FRENCH: Final = PhraseLanguage(
    gates=("de passe", "mdp", "jeton"),
    other_gates=("clé", "phrase secrète", "d’acc", "d'acc"),
    passwords="mots? de passe|mdp|code d['’]acc[eè]s",
    passphrases="phrase secrète|phrase de passe",
    keys="clé (?:d['’]|de l['’])?(?:api|acc[eè]s)|clé (?:secrète|privée)|jeton(?: d['’]acc[eè]s| secret)?",
    prepositions="de|du|des|pour|sur|à|au|chez|administrateur|admin|root|principal|actuel|temporaire|wifi|dans",
    connectors="(?:est|était|devient|sera)(?: (?:désormais|maintenant))?(?: ?:)?|,? ?c['’]est|en",
)
SPANISH: Final = PhraseLanguage(
    gates=("contrasena", "clave", "de acceso"),
    other_gates=("contraseñ",),
    passwords="contrase[ñn]a|clave|c[oó]digo de acceso",
    passphrases="frase de contrase[ñn]a",
    keys="clave (?:secreta|privada|api|(?:de )?(?:la )?api|de acceso)|(?:token|ficha) de acceso",
    prepositions="de|del|para|en|al|por|maestra|actual|nueva|temporal|root|admin",
    connectors="(?:ahora |ya )?(?:es|era|será)(?: (?:ahora|ya))?:?|a|por",
)
CHINESE: Final = PhraseLanguage(
    gates=(),
    other_gates=("密码", "密碼", "密钥", "密鑰", "口令", "令牌"),
    passwords="密[码碼]|口令",
    passphrases="",
    keys="密[钥鑰]|令牌",
    prepositions="",
    connectors="(?:现在|現在|已经|已經|已|就|都|默认|默認|临时|臨時)?被?(?:是|[为為]|(?:重置|更新|修)?改?[为為成]了?|[设設](?:置)?[为為成]|[换換]成了?|如下)",
)
# Abbreviations that several languages use. A variable of code can have this name.
SHORT: Final = PhraseLanguage(
    gates=("pw:", "pw=", "pw "),
    other_gates=(),
    passwords="(?<![a-z0-9_.$-])pw",
    passphrases="",
    keys="",
    prepositions="for|of|für|von",
    connectors="(?:is|ist|lautet|was)(?: now)?:?",
)
LANGUAGES: Final = (GERMAN, FRENCH, SPANISH, CHINESE, SHORT)

_QUOTE = r"(?:(?:\*\*|«[ \u00a0\u202f]|[\"'`„“”‘’«「『《])+)"
_VALUE = r"[^\s\"'`„“”‘’«»「」『』《》，。；！？、：:=|<>(\[{,;][^\s\"'`„“”‘’«»「」『』《》，。；！？、<>,;]{4,4095}"
_SPACE = r"[ \t\u00a0\u202f\u3000]"


def _pattern(language: PhraseLanguage) -> str:
    names = "|".join(
        f"(?P<{kind}>{names})"
        for kind, names in (
            ("passphrase", language.passphrases),
            ("key", language.keys),
            ("password", language.passwords),
        )
        if names
    )
    is_spaced = language is not CHINESE
    value = _VALUE if is_spaced else "[!#-&*+./0-9@-Z^_a-z~][!#-&()*+./0-9:=?@-Z^_a-z~-]{4,4095}"
    word = rf"{_SPACE}{{1,3}}[\w.'’@-]{{1,40}}"
    about = rf"(?:{_SPACE}{{1,3}}(?:{language.prepositions})(?:{word}){{0,5}}?)?" if language.prepositions else ""
    end, before, after = (
        (r"(?![\w-])", rf"(?:{_SPACE}{{1,3}}|(?=,))", rf"{_SPACE}{{1,3}}")
        if is_spaced
        else ("", rf"{_SPACE}{{0,3}}", rf"{_SPACE}{{0,3}}[:：]?{_SPACE}{{0,3}}")
    )
    said = rf"{before}(?:{language.connectors}){after}"
    next_to = f"{_SPACE}{{{int(is_spaced)},3}}"
    note = rf"(?:{_SPACE}{{0,3}}[(（][^()（）\n]{{1,40}}[)）])?"
    sign = rf"[*]{{0,2}}{note}{_SPACE}{{0,3}}(?:[:：=]|=>|:=)[*]{{0,2}}{_SPACE}{{0,3}}"
    other = rf"|(?P<other>{word}){_SPACE}{{0,3}}:{_SPACE}{{1,3}}" if is_spaced else ""
    return (
        rf"(?:{names}){end}(?:{about}(?:(?P<said>{said})|(?P<sign>{sign})){other}|{next_to})"
        rf"(?P<quote>{_QUOTE})?(?P<value>{value})"
    )


PHRASES: Final = tuple(
    ((*language.gates, *language.other_gates), lazy_pattern(_pattern(language))) for language in LANGUAGES
)
"""For each language: what a text with a phrase contains, and the phrase."""
LOGIN_NAMES: Final = ("login", "credentials", "creds", "zugangsdaten", "identifiant", "credenciales")
LOGIN: Final = lazy_pattern(
    r"(?:logins?|credentials|creds|zugangsdaten|identifiants?|credenciales)(?![\w-])[^\n:/]{0,60}:[ \t]{0,3}"
    r"[\w.@+-]{1,60} / [\"'`]?(?P<value>[^\s\"'`<>,;]{6,100})"
)
"""A user name and a password after the word for both: `login for grafana: admin / VALUE`."""
GATES: Final = tuple(gate for language in LANGUAGES for gate in language.gates)
"""Each phrase in an ASCII text contains one of these."""
OTHER_GATES: Final = tuple(gate for language in LANGUAGES for gate in language.other_gates)
"""Each phrase contains one of these or of `GATES`."""
