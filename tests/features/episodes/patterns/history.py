"""Thirty episodes of a team, of four kinds of work with mixed outcomes, as an agent would record them.

Each kind has a way of working that succeeds and one whose steps succeed too, but whose episodes fail.
"""

from scrubjay.features.episodes.models import FailureOutcome, Outcome, SuccessOutcome, TaskType

Way = tuple[tuple[str, str], ...]

DEBUG_BY_TEST: Way = (
    ("grep", "search the log for the request id"),
    ("read", "check whether the session is expired"),
    ("pytest", "write a test that reproduces the failure"),
    ("edit", "compare the times in UTC"),
    ("pytest", "run the tests"),
)
DEBUG_BY_RESTART: Way = (
    ("edit", "raise the timeout of the client"),
    ("deploy", "restart the pods and hope that it is gone"),
    ("curl", "call the health endpoint, which has no errors"),
)
FLAKY_BY_CLOCK: Way = (
    ("pytest", "run the test a hundred times to see how often it fails"),
    ("read", "determine which test depends on the time of day"),
    ("edit", "freeze the clock in the fixture"),
    ("pytest", "run it a hundred times again"),
)
FLAKY_BY_SLEEP: Way = (
    ("edit", "add a sleep before the assertion"),
    ("pytest-retry", "mark the test as flaky with three retries"),
)
SPLIT_BY_MOVE: Way = (
    ("ast-grep", "list every import of the module"),
    ("git-mv", "move one class into its own file"),
    ("mypy", "verify that no import is missing"),
)
WRITE_GUIDE: Way = (
    ("read", "collect the settings from the source"),
    ("editor", "write the guide with an example for each setting"),
    ("linkcheck", "run the link checker"),
)

DOMAIN = "web-api"
DONE = SuccessOutcome(verdict="It works")
FAILED = FailureOutcome(reason="The problem came back the next day")

Entry = tuple[TaskType, str, Way, Outcome]


def _entries(kind: TaskType, way: Way, outcome: Outcome, *tasks: str) -> list[Entry]:
    return [(kind, task, way, outcome) for task in tasks]


HISTORY: tuple[Entry, ...] = (
    *_entries(
        TaskType.DEBUGGING,
        DEBUG_BY_TEST,
        DONE,
        "Users are logged out after a password reset",
        "Session cookie expires one hour early",
        "Login fails for users in another time zone",
        "Refresh token is rejected at midnight",
        "Invitation link is said to be expired",
        "Remember-me login lasts only a day",
    ),
    *_entries(TaskType.DEBUGGING, DEBUG_BY_TEST, FAILED, "Single sign-on fails for one customer"),
    *_entries(
        TaskType.DEBUGGING,
        DEBUG_BY_RESTART,
        FAILED,
        "Login request times out",
        "Session endpoint answers slowly",
        "Users see a gateway timeout at login",
        "Password reset mail request hangs",
        "Logout request times out",
    ),
    *_entries(
        TaskType.TESTING,
        FLAKY_BY_CLOCK,
        DONE,
        "Make the flaky calendar test reliable",
        "The invoice date test fails at the end of the month",
        "Flaky test of the weekly report",
        "The token expiry test fails once in fifty runs",
    ),
    *_entries(TaskType.TESTING, FLAKY_BY_CLOCK, FAILED, "Flaky upload test on the build server"),
    *_entries(
        TaskType.TESTING,
        FLAKY_BY_SLEEP,
        FAILED,
        "Flaky test of the websocket",
        "The search test fails now and then",
        "The payment test is not reliable",
        "Flaky end-to-end test of the cart",
    ),
    *_entries(
        TaskType.REFACTORING,
        SPLIT_BY_MOVE,
        DONE,
        "Split the user module",
        "Move the mail code into its own package",
        "Take the tax rules out of the order class",
        "Split the settings module",
    ),
    *_entries(TaskType.REFACTORING, SPLIT_BY_MOVE, FAILED, "Split the legacy import module"),
    *_entries(
        TaskType.DOCUMENTATION,
        WRITE_GUIDE,
        DONE,
        "Write the guide of the retry settings",
        "Document the webhook settings",
        "Explain the cache settings to operators",
    ),
)
