"""Questions are parsed into intents and subjects."""

import time

import pytest

from scrubjay.code_index.questions.intents import Intent
from scrubjay.code_index.questions.parser import CodeQuestion, Subject, names_in, parse_question, subject_of

INTENTS = {
    # The examples of the document that describes the tool.
    "How does user authentication work?": [("flow", "user authentication")],
    "How does the authentication system work in this codebase?": [("flow", "authentication system")],
    "What functions call the validatePassword method?": [("callgraph", "validatePassword")],
    "Where is the UserNotFoundError exception thrown?": [("raise", "UserNotFoundError")],
    "Where is UserNotFoundError thrown?": [("raise", "UserNotFoundError")],
    "How does user login work?": [("flow", "user login")],
    # Definitions.
    "what is `load_user`?": [("symbol", "load_user")],
    "where is Session.login defined?": [("symbol", "Session.login")],
    "how is Session defined and used?": [("symbol", "Session"), ("usage", "Session")],
    "What does the function load_user do?": [("symbol", "load_user")],
    "what is the definition of Foo::bar?": [("symbol", "Foo::bar")],
    "validatePassword": [("symbol", "validatePassword")],
    # Files and imports.
    "which file handles login": [("file", "login")],
    "Which file contains the price function?": [("file", "price")],
    "what does shop/auth.py import": [("import out", "shop/auth.py")],
    "who imports shop.errors": [("import", "shop.errors")],
    "what depends on shop.store?": [("import", "shop.store")],
    "what does shop.auth depend on": [("import out", "shop.auth")],
    "find imports of shop.errors": [("import", "shop.errors")],
    # Calls and uses.
    "who calls validate_password()?": [("callgraph", "validate_password")],
    "what does Session.login call": [("callgraph out", "Session.login")],
    "list callers of load_user": [("callgraph", "load_user")],
    "where is validatePassword called": [("callgraph", "validatePassword")],
    "where is SESSION_TTL used?": [("usage", "SESSION_TTL")],
    "how is load_user used": [("usage", "load_user")],
    "find all usages of load_user": [("usage", "load_user")],
    "What classes inherit from ShopError?": [("usage", "ShopError")],
    "what breaks if I change load_user": [("usage", "load_user")],
    # Flow and relationship.
    "trace the flow of handle_login": [("flow", "handle_login")],
    "walk me through handle_login": [("flow", "handle_login")],
    "explain how Session.login works": [("flow", "Session.login")],
    "how does handle_login reach load_user?": [("flow", "handle_login", "load_user")],
    "does handle_login call load_user?": [("flow", "handle_login", "load_user")],
    "how does AuthService relate to UserStore": [("relationship", "AuthService", "UserStore")],
    "what is the relationship between `A` and `B`?": [("relationship", "A", "B")],
    # Errors and settings.
    "where do we raise ValueError": [("raise", "ValueError")],
    "which functions throw UserNotFoundError?": [("raise", "UserNotFoundError")],
    "Please tell me where the UserNotFoundError is thrown": [("raise", "UserNotFoundError")],
    "What exceptions does load_user raise?": [("raise out", "load_user")],
    "where is UserNotFoundError caught?": [("catch", "UserNotFoundError")],
    "where is SESSION_TTL set?": [("configuration", "SESSION_TTL")],
    "where is DATABASE_URL read": [("configuration", "DATABASE_URL")],
    "how do I set SESSION_TTL": [("configuration", "SESSION_TTL")],
    "which environment variables are read?": [("configuration", "")],
    # Other phrasings.
    "whats calling load_user": [("callgraph", "load_user")],
    "who is calling load_user?": [("callgraph", "load_user")],
    "how many functions call load_user?": [("callgraph", "load_user")],
    "does anything still call load_user?": [("callgraph", "load_user")],
    "is load_user used in tests?": [("usage", "load_user")],
    "is SESSION_TTL used anywhere?": [("usage", "SESSION_TTL")],
    "what are the subclasses of ShopError?": [("usage", "ShopError")],
    "what is using Session": [("usage", "Session")],
    "which tests cover load_user?": [("callgraph tests", "load_user")],
    "are there any tests for load_user?": [("callgraph tests", "load_user")],
    "is load_user tested?": [("callgraph tests", "load_user")],
    "what methods does Session have?": [("symbol members", "Session")],
    "list the methods of Session": [("symbol members", "Session")],
    "which functions are defined in shop/auth.py?": [("symbol members", "shop/auth.py")],
    # Several questions at once; references by "it".
    "Where is UserNotFoundError raised and who catches it?": [
        ("raise", "UserNotFoundError"),
        ("catch", "UserNotFoundError"),
    ],
    "Who calls load_user? Where is it defined?": [("callgraph", "load_user"), ("symbol", "load_user")],
    # Fallback to search.
    "Where are passwords hashed?": [("search", "Where are passwords hashed")],
    "the loadUser cache is stale": [("symbol", "loadUser"), ("search", "the loadUser cache is stale")],
}


def _summary(parsed: CodeQuestion) -> tuple[str, ...]:
    intent = parsed.intent.value if parsed.incoming else f"{parsed.intent.value} out"
    intent += f" {parsed.only}" if parsed.only else ""
    other = (parsed.other.name,) if parsed.other else ()
    return intent, parsed.subject.name or parsed.subject.text, *other


@pytest.mark.parametrize("question", INTENTS)
def test_questions_are_parsed_by_their_form(question: str) -> None:
    assert [_summary(one) for one in parse_question(question)] == INTENTS[question]


def test_names_are_distinguished_from_words() -> None:
    assert [
        subject_of(text)
        for text in (
            "the `login` method",
            "login",
            "class Session",
            "validatePassword()",
            "user login",
            "the new loadUser",
        )
    ] == [
        Subject("`login` method", "login", certain=True),
        Subject("login", "login"),
        Subject("class Session", "Session", certain=True),
        Subject("validatePassword()", "validatePassword", certain=True),
        Subject("user login"),
        Subject("new loadUser", "loadUser", certain=True),
    ]
    assert names_in("why does Session.login() call load_user and not `price`?") == [
        "price",
        "Session.login",
        "load_user",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "how does " + "and is " * 1400,
        "how are " + "x and " * 1660,
        "what " * 2000,
        "(`" * 5000,
        " " * 10_000,
        "? " * 5000,
        "list all " * 44,
        "which file has " + "in " * 120,
        "where is " + "x " * 180 + "defined",
    ],
)
def test_no_text_takes_long_to_parse(text: str) -> None:
    began = time.process_time()
    assert 1 <= len(parse_question(text)) <= 5
    assert time.process_time() - began < 0.25


def test_a_question_without_words_is_a_search() -> None:
    assert parse_question("???") == [CodeQuestion(Intent.SEARCH, Subject("???"))]
