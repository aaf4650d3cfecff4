"""Jobs and their leases in SQLite."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from scrubjay.core.clock import Clock
from scrubjay.core.errors import Cancelled, ErrorRecord
from scrubjay.core.ids import new_id
from scrubjay.core.progress import Progress
from scrubjay.db.sqlite.columns import json_text, microseconds
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.tooling.jobs.models import Job, JobState
from scrubjay.tooling.jobs.rows import error_text, job_from, progress_values

_SQL = load_queries(__file__)

_KEY_ENDED = error_text(
    Cancelled(
        "the key that started this job was revoked or has expired", hint="start the job again with a valid key"
    ).record
)


def cancel_jobs_of_ended_keys(connection: Connection, now: int) -> None:
    """Cancel the jobs of keys that have ended at `now`, in microseconds; the jobs say why."""
    connection.execute(_SQL["cancel_of_ended_keys"], {"now": now, "reason": _KEY_ENDED})


class SqliteJobs:
    """Jobs in the tables `job` and `job_memory`; implements `JobStore`."""

    def __init__(self, writer: Writer, readers: Readers, clock: Clock, lease_seconds: float) -> None:
        self._writer = writer
        self._readers = readers
        self._clock = clock
        self._lease = round(lease_seconds * 1_000_000)

    async def add(self, kind: str, payload: Mapping[str, Any], *, owner: str | None) -> Job:
        return await self._writer.write(lambda connection: _add(connection, kind, payload, owner, self._times()))

    async def add_unless_recent(
        self, kind: str, payload: Mapping[str, Any], *, owner: str | None, minimum_interval: float
    ) -> Job | None:
        def work(connection: Connection) -> Job | None:
            times = self._times()
            began_after = times["now"] - round(minimum_interval * 1_000_000)
            if connection.value(_SQL["under_way"], {"kind": kind, "began_after": began_after}) is not None:
                return None
            return _add(connection, kind, payload, owner, times)

        return await self._writer.write(work)

    async def get(self, job_id: str) -> Job | None:
        return await self._readers.read(lambda connection: _find_job(connection, job_id, self._times()))

    async def list(self, *, states: Collection[JobState] = (), kind: str | None = None, limit: int) -> Sequence[Job]:
        def work(connection: Connection) -> Sequence[Job]:
            wanted = {"states": json_text(list(states)) if states else None, "kind": kind, "limit": limit}
            return [job_from(row) for row in connection.execute(_SQL["all"], self._times() | wanted)]

        return await self._readers.read(work)

    async def counts(self) -> Mapping[JobState, int]:
        def work(connection: Connection) -> Mapping[JobState, int]:
            found = {str(state): int(count) for state, count in connection.execute(_SQL["counts"])}
            return {state: found.get(state, 0) for state in JobState}

        return await self._readers.read(work)

    async def claim(self, kinds: Collection[str], owner: str) -> Job | None:
        def work(connection: Connection) -> Job | None:
            times = self._times()
            connection.execute(_SQL["end_abandoned"], times)
            cancel_jobs_of_ended_keys(connection, times["now"])
            job_id = connection.value(_SQL["claimable"], times | {"kinds": json_text([*kinds])})
            if job_id is None:
                return None
            connection.execute(_SQL["take"], times | {"id": job_id, "owner": owner})
            return _job(connection, job_id, times)

        return await self._writer.write(work)

    async def renew(self, owner: str, progress: Mapping[str, Progress]) -> Mapping[str, JobState]:
        def work(connection: Connection) -> Mapping[str, JobState]:
            times = self._times()
            cancel_jobs_of_ended_keys(connection, times["now"])
            states: dict[str, JobState] = {}
            for job_id, steps in progress.items():
                values = times | progress_values(steps) | {"id": job_id, "owner": owner}
                if (state := connection.value(_SQL["renew"], values)) is not None:
                    states[job_id] = JobState(state)
            return states

        return await self._writer.write(work)

    async def finish(
        self,
        job_id: str,
        owner: str,
        state: JobState,
        *,
        progress: Progress,
        result: Mapping[str, Any] | None = None,
        error: ErrorRecord | None = None,
        memory_ids: Collection[str] = (),
    ) -> bool:
        def work(connection: Connection) -> bool:
            values = self._times() | progress_values(progress) | {"id": job_id, "owner": owner, "state": state}
            memories = {"memories": json_text(sorted(memory_ids))}
            # Checked before writing: forgotten content must never reach the file again.
            if memory_ids and connection.value(_SQL["mentions_forgotten"], memories):
                return connection.value(_SQL["finish_erased"], values) is not None
            end = {
                "result": None if result is None else json_text(dict(result)),
                "error": None if error is None else error_text(error),
            }
            seq = connection.value(_SQL["finish"], values | end)
            if memory_ids and seq is not None:
                connection.execute(_SQL["note_memories"], memories | {"job": seq})
            return seq is not None

        return await self._writer.write(work)

    async def release(self, job_id: str, owner: str) -> None:
        def work(connection: Connection) -> None:
            connection.execute(_SQL["release"], self._times() | {"id": job_id, "owner": owner})

        await self._writer.write(work)

    async def forget_ended(self, kept_for: timedelta) -> int:
        def work(connection: Connection) -> int:
            before = microseconds(self._clock() - kept_for)
            return len(connection.execute(_SQL["forget_ended"], {"before": before}))

        return await self._writer.write(work)

    async def request_cancel(self, job_id: str) -> Job | None:
        def work(connection: Connection) -> Job | None:
            times = self._times()
            connection.execute(_SQL["request_cancel"], times | {"id": job_id})
            return _find_job(connection, job_id, times)

        return await self._writer.write(work)

    def _times(self) -> dict[str, Any]:
        """Return the current time and the end of a lease granted now, in microseconds."""
        now = microseconds(self._clock())
        return {"now": now, "leased_until": now + self._lease}


def _add(
    connection: Connection, kind: str, payload: Mapping[str, Any], owner: str | None, times: Mapping[str, Any]
) -> Job:
    running = owner is not None
    job_id = new_id("job")
    job = {
        "id": job_id,
        "kind": kind,
        "payload": json_text(dict(payload)),
        "state": JobState.RUNNING if running else JobState.QUEUED,
        "attempts": 1 if running else 0,
        "owner": owner,
        "now": times["now"],
        "leased_until": times["leased_until"] if running else None,
        "started_at": times["now"] if running else None,
    }
    connection.execute(_SQL["add"], job)
    return _job(connection, job_id, times)


def _find_job(connection: Connection, job_id: str, times: Mapping[str, Any]) -> Job | None:
    rows = connection.execute(_SQL["get"], {**times, "id": job_id})
    return job_from(rows[0]) if rows else None


def _job(connection: Connection, job_id: str, times: Mapping[str, Any]) -> Job:
    job = _find_job(connection, job_id, times)
    if job is None:
        raise LookupError(job_id)
    return job
