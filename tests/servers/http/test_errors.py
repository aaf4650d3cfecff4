"""The table of error codes and HTTP statuses, and the error responses."""

import json
from http import HTTPStatus

from scrubjay.core.errors import Busy, ErrorCode, InvalidRequest, NotFound, RateLimited
from scrubjay.servers.http.errors import STATUS, MalformedBody, error_response, status_descriptions


def test_every_error_code_has_a_registered_status():
    assert set(STATUS) == set(ErrorCode)
    assert all(HTTPStatus(status) >= HTTPStatus.BAD_REQUEST for status in STATUS.values())


def test_every_error_code_is_described_under_its_status():
    descriptions = status_descriptions()
    assert list(descriptions) == sorted({400, *STATUS.values()})
    for code, status in STATUS.items():
        assert f"`{code}`: " in descriptions[status]


def test_the_error_body_has_code_message_hint_details_and_request_id():
    response = error_response(NotFound("no such thing", hint="look", details={"near": ["x"]}), "req_1")
    assert (response.status_code, response.media_type) == (404, "application/json")
    assert json.loads(bytes(response.body)) == {
        "error": {"code": "not_found", "message": "no such thing", "hint": "look", "details": {"near": ["x"]}},
        "request_id": "req_1",
    }


def test_details_that_json_cannot_represent_become_text():
    response = error_response(InvalidRequest("no", details={"what": object, "how_much": float("nan")}), "req_1")
    assert json.loads(bytes(response.body))["error"]["details"] == {"what": "<class 'object'>", "how_much": None}


def test_a_busy_response_has_retry_after():
    assert error_response(Busy("later"), "req_1").headers["retry-after"] == "1"


def test_a_malformed_body_is_400_and_an_explicit_status_is_kept():
    assert error_response(MalformedBody("no"), "req_1").status_code == 400
    assert error_response(InvalidRequest("no"), "req_1", status=405, headers={"Allow": "GET"}).headers["allow"] == "GET"


def test_a_rate_limited_response_has_retry_after():
    limited = RateLimited("too often", details={"retry_after_seconds": 1.2})
    response = error_response(limited, "req_1")
    assert (response.status_code, response.headers["retry-after"]) == (429, "2")
