"""The one table of failures over HTTP."""

import json
from http import HTTPStatus

from scrubjay.core.errors import Busy, ErrorCode, InvalidRequest, NotFound, RateLimited
from scrubjay.servers.http.errors import STATUS, MalformedBody, error_response, meanings


def test_every_failure_has_a_registered_status():
    assert set(STATUS) == set(ErrorCode)
    assert all(HTTPStatus(status) >= HTTPStatus.BAD_REQUEST for status in STATUS.values())


def test_every_failure_is_explained_under_its_status():
    said = meanings()
    assert list(said) == sorted({400, *STATUS.values()})
    for code, status in STATUS.items():
        assert f"`{code}`: " in said[status]


def test_an_error_is_told_with_code_message_hint_details_and_request_id():
    response = error_response(NotFound("no such thing", hint="look", details={"near": ["x"]}), "req_1")
    assert (response.status_code, response.media_type) == (404, "application/json")
    assert json.loads(bytes(response.body)) == {
        "error": {"code": "not_found", "message": "no such thing", "hint": "look", "details": {"near": ["x"]}},
        "request_id": "req_1",
    }


def test_details_that_json_does_not_know_are_told_as_text():
    response = error_response(InvalidRequest("no", details={"what": object, "how_much": float("nan")}), "req_1")
    assert json.loads(bytes(response.body))["error"]["details"] == {"what": "<class 'object'>", "how_much": None}


def test_who_may_try_again_is_told_when():
    assert error_response(Busy("later"), "req_1").headers["retry-after"] == "1"


def test_a_malformed_body_is_a_bad_request_and_a_given_status_is_kept():
    assert error_response(MalformedBody("no"), "req_1").status_code == 400
    assert error_response(InvalidRequest("no"), "req_1", status=405, headers={"Allow": "GET"}).headers["allow"] == "GET"


def test_who_writes_too_often_is_told_when_to_try_again():
    limited = RateLimited("too often", details={"retry_after_seconds": 1.2})
    response = error_response(limited, "req_1")
    assert (response.status_code, response.headers["retry-after"]) == (429, "2")
