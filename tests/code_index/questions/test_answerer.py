"""Questions about a small shop are answered from its index."""

from pathlib import Path

import pytest

from scrubjay.code_index.index.indexer import Indexer
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.questions.answerer import IndexAnswer, answer_question
from scrubjay.code_index.service import CodeService, LoadedIndex
from scrubjay.core.progress import SilentReporter
from scrubjay.features.code.sqlite import SqliteCode
from tests.code_index.diff.shop_history import write
from tests.code_index.indexes import opened
from tests.code_index.questions.shop import FILES

Shop = tuple[CodeService, LoadedIndex]


async def ask(shop: Shop, question: str, token_budget: int = 4_000, context_lines: int = 0) -> IndexAnswer:
    return await answer_question(question, *shop, context_lines=context_lines, token_budget=token_budget)


def steps(answer: IndexAnswer) -> list[tuple[str, str, int]]:
    return [(step.intent.value, step.query, step.results_count) for step in answer.steps]


def locations(answer: IndexAnswer) -> list[tuple[str, int, int]]:
    return [(one.file.path, one.excerpt.span.first_line, one.excerpt.span.last_line) for one in answer.evidence]


async def test_117_callers_of_a_method_are_listed_with_their_calls(shop: Shop) -> None:
    answer = await ask(shop, "What functions call the validatePassword method?")
    assert steps(answer) == [("symbol", "validatePassword", 1), ("callgraph", "AuthService.validatePassword", 2)]
    assert answer.text == (
        "`AuthService.validatePassword` is called by `changePassword` (web/login.ts:16) [1] and "
        "`AuthService.authenticate` (web/AuthService.ts:17) [2]."
    )
    assert locations(answer) == [
        ("web/login.ts", 15, 17),
        ("web/AuthService.ts", 16, 18),
        ("web/AuthService.ts", 8, 14),
    ]
    assert [one.relevance for one in answer.evidence] == [0.891, 0.891, 0.6]
    assert not answer.truncated


@pytest.mark.parametrize(
    "question", ["Where is UserNotFoundError thrown?", "Where is the UserNotFoundError exception thrown?"]
)
async def test_117_places_where_an_error_is_thrown_are_listed_in_every_language(shop: Shop, question: str) -> None:
    answer = await ask(shop, question)
    assert steps(answer) == [("symbol", "UserNotFoundError", 2), ("raise", "UserNotFoundError", 2)]
    assert answer.text == (
        "`UserNotFoundError` is raised in `load_user` (shop/store.py:11) [1] and "
        "`AuthService.validatePassword` (web/AuthService.ts:11) [2]."
    )
    assert locations(answer)[:2] == [("shop/store.py", 8, 12), ("web/AuthService.ts", 8, 14)]


@pytest.mark.parametrize(
    ("question", "start", "path"),
    [
        (
            "How does the authentication system work in this codebase?",
            "AuthService.authenticate",
            "`AuthService.authenticate` → `AuthService.validatePassword` → `UserStore.findByName`",
        ),
        (
            "How does user authentication work?",
            "AuthService.authenticate",
            "`AuthService.authenticate` → `AuthService.validatePassword` → `UserNotFoundError`",
        ),
        (
            "How does user login work?",
            "Session.login, handle_login",
            "`Session.login` → `validate_password` → `load_user` → `UserNotFoundError`",
        ),
    ],
)
async def test_117_how_something_works_is_answered_by_its_calls(
    shop: Shop, question: str, start: str, path: str
) -> None:
    answer = await ask(shop, question)
    first = start.split(",")[0]
    assert steps(answer)[0] == ("symbol", start, start.count(",") + 1)
    assert [step[:2] for step in steps(answer)[1:3]] == [("callgraph", first), ("flow", first)]
    assert path in answer.text
    assert "No definition is named" in answer.text  # the words are not presented as a name
    assert answer.evidence[0].relevance == 1.0


ANSWERS = {
    "where is Session.login defined?": "`Session.login` is a method at shop/auth.py:20, "
    "`def login(self, password: str) -> bool` (Let a user in) [1].",
    "what is shop.auth": "`shop.auth` is shop/auth.py (Authentication: who may come in) [1].",
    "what does Session.login call": "`Session.login` calls `validate_password` (shop/auth.py:8) [1].",
    "what does handle_login call?": "`handle_login` calls `Session.__init__` (shop/auth.py:16) [1] and `Session.login` "
    "(shop/auth.py:20) [1]. External or unresolved names that it calls are `ValueError` [1].",
    "how is Session used?": "`Session` is instantiated by `handle_login` (shop/handlers.py:9) [1] and `test_login` "
    "(tests/test_auth.py:5) [2].",
    "where is SESSION_TTL used?": "`SESSION_TTL` occurs as text at shop/auth.py:4 [2] and shop/auth.py:18 [3].",
    "What classes inherit from ShopError?": "`ShopError` is inherited from by `UserNotFoundError` (shop/errors.py:5) "
    "[1]. `ShopError` is caught in `handle_login` (shop/handlers.py:10) [2].",
    "what does shop/settings.py import": "From outside this repository, shop/settings.py imports `os` [1].",
    "what does shop.auth depend on": "shop/auth.py imports shop/errors.py [1], shop/settings.py [2] and shop/store.py "
    "[3].",
    "who imports shop.store": "shop/store.py is imported by shop/auth.py [1].",
    "what depends on shop": "`shop` is imported by tests/test_auth.py [1].",
    "who imports os": "`os` is not in this repository; it is imported by shop/settings.py:3 [1].",
    "what does Session depend on": "`Session` uses `validate_password` (shop/auth.py:8) [1] and `UserNotFoundError` "
    "(shop/errors.py:5) [1].",
    "how does handle_login reach load_user?": "`handle_login` reaches `load_user` via `handle_login` → `Session.login` "
    "→ `validate_password` → `load_user` [1][2][3][4].",
    "how does load_user reach handle_login?": "No calls lead from `load_user` to `handle_login` within 6 steps. In the "
    "opposite direction there is `handle_login` → `Session.login` → `validate_password` → `load_user` [1][2][3][4].",
    "how does AuthService relate to UserStore?": "`AuthService` and `UserStore` are connected: "
    "`AuthService.constructor` refers to the type `UserStore` [1]. They are also connected: "
    "`AuthService.validatePassword` calls `UserStore.findByName` [2].",
    "how does Cache relate to AuthService?": "Nothing connects `Cache` and `AuthService` within 5 steps.",
    "where is UserNotFoundError caught?": "`UserNotFoundError` is caught in `Session.login` (shop/auth.py:24) [1] and "
    "`loginHandler` (web/login.ts:8) [2]. Its base type `ShopError` is caught in `handle_login` "
    "(shop/handlers.py:10) [3].",
    "where is ShopError raised?": "No place where `ShopError` is raised is known in this repository. "
    "Its subtype `UserNotFoundError` is raised in `load_user` (shop/store.py:11) [1].",
    "where do we raise ValueError?": "`ValueError` is not defined in this repository (from builtins); it is "
    "raised in `handle_login` (shop/handlers.py:11) [1].",
    "what exceptions does load_user raise?": "`load_user` raises `UserNotFoundError` (shop/errors.py:5) [1].",
    "where is DATABASE_URL read?": "`DATABASE_URL` is an entry at config.yaml:3, `DATABASE_URL: sqlite` [1]. "
    "`DATABASE_URL` is read from the environment at web/UserStore.ts:8 [2].",
    "where is session.cookie_name set?": "`session.cookie_name` is an entry at config.yaml:2, `cookie_name: shop` [1].",
    "which environment variables are read?": "These environment variables are read: `SESSION_TTL` "
    "(shop/settings.py:5) [1], `SHOP_DEBUG` (shop/settings.py:6) [2] and `DATABASE_URL` (web/UserStore.ts:8) [3].",
    "which file defines load_user?": "`load_user` is a function at shop/store.py:8, `def load_user(name: str) -> str` "
    "(The password of a user) [1].",
}


@pytest.mark.parametrize("question", ANSWERS)
async def test_117_answers_match_their_evidence(shop: Shop, question: str) -> None:
    answer = await ask(shop, question)
    assert answer.text == ANSWERS[question]
    assert not answer.truncated
    for one in answer.evidence:
        content = FILES[one.file.path].encode()
        assert content[one.excerpt.span.start : one.excerpt.span.end].decode() == one.excerpt.text
        assert 0 < one.relevance <= 1


MISSING = {
    "What functions call the validatePasword method?": "This repository does not define `validatePasword`. "
    "Similar names are `validatePassword`, `validate_password`.",
    "Who calls Foo.login?": "This repository does not define `Foo.login`. Similar names are `Session.login`, "
    "`login`, `test_login`, `handle_login`, `loginHandler`.",
    "How does validate_passwrd work?": "This repository does not define `validate_passwrd`. Similar names are "
    "`validate_password`, `validatePassword`.",
    "Where is NO_SUCH_SETTING set?": "This repository does not define `NO_SUCH_SETTING`.",
    "Which file contains the price function?": "This repository does not define `price`.",
    "how does AuthService relate to UserStorage?": "This repository does not define `UserStorage`. Similar "
    "names are `UserStore`.",
}


@pytest.mark.parametrize("question", MISSING)
async def test_117_an_unknown_name_is_reported_with_similar_names_and_no_evidence(shop: Shop, question: str) -> None:
    answer = await ask(shop, question)
    assert (answer.text, answer.evidence, answer.truncated) == (MISSING[question], [], False)


async def test_117_a_word_that_is_not_a_name_is_searched_for(shop: Shop) -> None:
    answer = await ask(shop, "What is authentication?")
    assert answer.text.startswith("This repository does not define `authentication`. ")
    assert "The best text matches are web/AuthService.ts:1-19 (`AuthService`) [1]" in answer.text


async def test_117_a_guess_is_marked_as_one(shop: Shop) -> None:
    answer = await ask(shop, "who calls refill_now?")
    assert answer.text == (
        "Guessed by name alone: `Cache.refill_now` is called by `warm_up` (shop/handlers.py:16) [2]."
    )
    assert [one.relevance < 0.5 for one in answer.evidence] == [False, True]


async def test_117_several_questions_are_answered_in_order(shop: Shop) -> None:
    answer = await ask(shop, "Who calls load_user? And where is it defined?")
    assert steps(answer) == [("symbol", "load_user", 1), ("callgraph", "load_user", 1)]
    assert answer.text == (
        "`load_user` is called by `validate_password` (shop/auth.py:10) [2]. `load_user` is a function at "
        "shop/store.py:8, `def load_user(name: str) -> str` (The password of a user) [1]."
    )


async def test_117_any_other_question_is_answered_by_search(shop: Shop) -> None:
    answer = await ask(shop, "cookie of the session")
    assert steps(answer)[0][:2] == ("search", "cookie of the session")
    assert locations(answer)[0] == ("config.yaml", 1, 3)
    nothing = await ask(shop, "???")
    assert (nothing.text, nothing.evidence) == ("No code in this repository matches “???”.", [])


async def test_117_evidence_beyond_the_budget_is_omitted_and_reported(shop: Shop) -> None:
    question = "How does user login work?"
    whole = await ask(shop, question, context_lines=5)
    short = await ask(shop, question, 600, context_lines=5)
    assert (whole.truncated, short.truncated) == (False, True)
    assert 0 < len(short.evidence) < len(whole.evidence)
    shown = sum(len(one.excerpt.before + one.excerpt.text + one.excerpt.after) for one in short.evidence)
    assert (shown + len(short.text)) / 4 <= 600
    numbers = {int(part.split("]")[0]) for part in short.text.split("[")[1:] if part[0].isdigit()}
    assert numbers <= {*range(1, len(short.evidence) + 1)}


async def test_117_a_file_changed_since_indexing_is_not_quoted(tmp_path: Path) -> None:
    root = tmp_path / "code"
    root.mkdir()
    (root / "a.py").write_text("from b import late\n\n\ndef early():\n    return late()\n")
    (root / "b.py").write_text("def late():\n    return 1\n")
    store = await SqliteCode.open(tmp_path)
    indexer = Indexer(store, tmp_path / "locks")
    built = await indexer.build(str(root), "HEAD", IndexOptions(), SilentReporter())
    code = CodeService(store, indexer)
    loaded = await code.load(built.record.id)
    (root / "a.py").write_text("print('something else')\n" * 5)
    answer = await ask((code, loaded), "who calls late?")
    await store.close()
    assert locations(answer) == [("b.py", 1, 2)]
    assert answer.text == "Changed since indexing, so their content is omitted: a.py."
    assert answer.truncated


async def test_117_members_of_a_class_or_file_are_listed(shop: Shop) -> None:
    answer = await ask(shop, "What methods does Session have?")
    assert steps(answer)[-1][:2] == ("symbol", "Session")
    assert "the method `login` (shop/auth.py:" in answer.text
    assert "validate_password" not in answer.text
    assert "the field" not in answer.text
    answer = await ask(shop, "What fields does load_user have?")
    assert answer.text == "No fields are known to be defined in `load_user`."
    answer = await ask(shop, "Which functions are defined in shop/store.py?")
    assert "the function `load_user` (shop/store.py:8)" in answer.text
    answer = await ask(shop, "What methods does Sesion have?")
    assert answer.text.startswith("This repository does not define `Sesion`. Similar names are `Session`")


async def test_117_tests_that_reach_a_definition_are_listed(shop: Shop) -> None:
    answer = await ask(shop, "Which tests cover load_user?")
    assert answer.text.startswith("`load_user` is reached by the tests `test_login` (tests/test_auth.py:")
    assert ", via " in answer.text
    answer = await ask(shop, "Is handle_login tested?")
    assert answer.text == "No test is known to reach `handle_login`."


async def test_117_a_library_name_is_not_reported_as_unknown(shop: Shop) -> None:
    answer = await ask(shop, "Who catches ValueError?")
    assert answer.text.startswith(
        "No place where `ValueError` is caught is known in this repository. `ValueError` is not defined in this "
        "repository (from builtins); it is used in "
    )
    assert locations(answer)


async def test_go_methods_are_listed_from_all_files_of_the_package(tmp_path: Path) -> None:
    root = tmp_path / "gin"
    write(
        root,
        {
            "context.go": "package gin\n\ntype Context struct{ path string }\n\nfunc (c *Context) Query() {}\n",
            "deprecated.go": "package gin\n\nfunc (c *Context) BindWith() {}\n",
            "other/context.go": "package other\n\nfunc (c *Context) Elsewhere() {}\n",
        },
    )
    async with opened(tmp_path / "home") as home:
        loaded = await home.code.load((await home.build(root)).record.id)
        answer = await ask((home.code, loaded), "What methods does Context have?")
    assert answer.text == (
        "`Context` has the method `Query` (context.go:5) [1] and the method `BindWith` (deprecated.go:3) [2]."
    )
