"""Damaged rows that the reads of one call left out, so that its answer can say that it is incomplete.

Reads report damage with `report_damage` wherever they find it; the code that started the call collects it:

>>> with collect_damage() as damage:
...     report_damage("task", 7)
>>> damage.notice()
'1 damaged row of task is left out: run `scrubjay store check`'
"""

from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar

from scrubjay.core.errors import StoreUnusable

REPAIR_HINT = "`scrubjay store check` lists all damage; `scrubjay store repair` recovers the rest of the store"


class DamageReport:
    """The damaged rows of one call. True if there are any."""

    def __init__(self) -> None:
        self._rows: dict[str, set[Hashable]] = {}

    def add(self, table: str, row: Hashable) -> None:
        self._rows.setdefault(table, set()).add(row)

    def __bool__(self) -> bool:
        return bool(self._rows)

    def notice(self) -> str | None:
        """Return the text for the field `degraded` of an answer; None without damage."""
        if not self._rows:
            return None
        counts = [_described(table, len(rows)) for table, rows in sorted(self._rows.items())]
        is_one = sum(map(len, self._rows.values())) == 1
        return f"{' and '.join(counts)} {'is' if is_one else 'are'} left out: run `scrubjay store check`"

    def error(self, problem: str) -> StoreUnusable:
        """Return the error of a call that failed because rows were left out."""
        return StoreUnusable(f"{problem}; {self.notice()}", hint=REPAIR_HINT)


def _described(table: str, count: int) -> str:
    if table == "memory":
        return f"{count} damaged {'memory' if count == 1 else 'memories'}"
    return f"{count} damaged {'row' if count == 1 else 'rows'} of {table}"


_current: ContextVar[DamageReport | None] = ContextVar("damage", default=None)


def current_damage() -> DamageReport | None:
    """Return the report of the current call; None in background work."""
    return _current.get()


def report_damage(table: str, row: Hashable) -> None:
    """Add a row, by anything that identifies it, to the report of the current call."""
    if (report := _current.get()) is not None:
        report.add(table, row)


@contextmanager
def collect_damage() -> Generator[DamageReport]:
    """Collect the damaged rows that the reads inside leave out, also those of threads and tasks started inside.

    A report outside of this one does not get them: the answer inside says it already.
    """
    report = DamageReport()
    before = _current.set(report)
    try:
        yield report
    finally:
        _current.reset(before)
