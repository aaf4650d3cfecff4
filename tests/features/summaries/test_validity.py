"""Which statements of a session hold at its end."""

import pytest

from scrubjay.features.summaries.selection import extract_outcome
from scrubjay.features.summaries.validity import judge

ASKED = "Please speed up the report page of the shop."


def text_of(*turns: tuple[str, str]) -> str:
    return "\n".join(extract_outcome(turns).lines)


def validity(text: str, *turns: tuple[str, str]) -> float:
    (one,) = [one for one in judge(turns).judged if one.utterance.text == text]
    return one.validity


@pytest.mark.parametrize(
    ("answer", "reaction", "last", "gone"),
    [
        (
            "I would cache the tables in memcached.",
            "No, no new service. Keep it in the database.",
            "I added a materialized view.",
            "memcached",
        ),
        (
            "I cached the tables in memcached; the page takes 40 ms.",
            "People see old tables. Caching was a bad idea, drop memcached.",
            "Memcached is gone, the page has 50 rows now.",
            "takes 40 ms",
        ),
        (
            "I added an index and the page is fast now.",
            "It still takes 9 seconds.",
            "The view was missing; I created it and the page takes 80 ms.",
            "is fast now",
        ),
        (
            "The slow part is probably the tax lookup.",
            "Check that.",
            "The root cause is the missing index on orders; I added it.",
            "probably the tax",
        ),
        (
            "Three options:\n- a cache in memcached\n- a materialized view\n- fewer rows",
            "Take the view.",
            "I created the materialized view, the page takes 80 ms.",
            "memcached",
        ),
        (
            "I set the limit to 500 rows.",
            "Better 50.",
            "Then I set the limit to 50 rows.",
            "500 rows",
        ),
    ],
)
def test_work_that_does_not_hold_is_not_quoted(answer: str, reaction: str, last: str, gone: str) -> None:
    found = text_of((ASKED, answer), (reaction, last))
    assert gone not in found.replace(reaction, "")
    assert last.split(";")[0].rstrip(".") in found


@pytest.mark.parametrize(
    "reaction",
    ["No, that's all. Thanks!", "No need.", "Not now.", "Good, no further questions.", "And the mobile page?"],
)
def test_a_polite_no_rejects_nothing(reaction: str) -> None:
    done = "I added an index on orders and the page takes 80 ms."
    assert validity(done, (ASKED, f"{done} Shall I do the mobile page too?"), (reaction, "All right.")) == 1.0
    assert done in text_of((ASKED, f"{done} Shall I do the mobile page too?"), (reaction, "All right."))


def test_an_open_point_that_was_done_later_is_not_open() -> None:
    turns = (
        (
            ASKED,
            "I added the index.\n\nStill open:\n- the systemd timer is prepared but not enabled\n- a panel for errors",
        ),
        ("Enable the timer.", "The systemd timer is enabled on all workers."),
    )
    outcome = extract_outcome(turns)
    assert outcome.open == ("a panel for errors.",)
    assert "The systemd timer is enabled on all workers." in outcome.ended


def test_measurements_that_were_options_are_no_results() -> None:
    turns = (
        (ASKED, "I measured the report page."),
        ("What would it bring?", "Two ways of doing it would bring:\n- memcached: 40 ms\n- materialized view: 80 ms"),
        ("The view is enough.", "I created the view."),
    )
    assert "40 ms" not in text_of(*turns)


def test_code_is_left_out_but_results_of_commands_and_tables_are_read() -> None:
    answer = (
        "I ran the tests:\n```\nimport secrets_of_the_code\n===== 214 passed in 31.2s =====\n```\n"
        "| | before | after |\n|---|---|---|\n| red runs | 33 % | 1.7 % |"
    )
    found = text_of(("Please make the test suite of the backend stable.", answer))
    assert "214 passed in 31.2s" in found
    assert "red runs: 33 %, 1.7 %" in found
    assert "secrets_of_the_code" not in found


def test_a_session_in_another_language_keeps_its_request_and_last_answer() -> None:
    turns = (
        ("请修复登录页面的错误。", "问题在会话令牌。"),
        ("谢谢,请再加一个测试。", "登录错误已经修复,测试已经添加到登录模块。"),
    )
    outcome = extract_outcome(turns)
    assert outcome.title == "请修复登录页面的错误"
    assert any("登录错误已经修复" in text for text in outcome.ended)
