"""The commands that make keys for HTTP clients and take them back."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scrubjay.core.callers import OWNER
from scrubjay.servers.cli.groups import ScrubjayGroup

if TYPE_CHECKING:
    from scrubjay.app.store import Store
    from scrubjay.features.keys.issuer import IssuedKey, KeyIssuer
    from scrubjay.features.keys.models import KeptKey

T = TypeVar("T")

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")


@click.group(cls=ScrubjayGroup)
def keys() -> None:
    """Make keys for HTTP clients, see which there are, and take them back. Running servers heed it at once."""


@keys.command()
@click.option("--name", required=True, help="Who or what the key is for.")
@click.option(
    "--scopes",
    default="*",
    show_default=True,
    metavar="LIST",
    help="What it opens: families of tools joined by commas, each also with :read; * is everything.",
)
@click.option("--expires", metavar="TIME", help="How long it lives: 90d, 12h, 2w, 2027-01-31, never.  [default: never]")
@json_option
def create(name: str, scopes: str, expires: str | None, as_json: bool) -> None:
    """Make a key and print it. It is shown this one time only; what is kept does not tell it."""
    issued = _with_issuer(lambda issuer: issuer.create(name, scopes, expires))
    _note("key_created", name, issued.kept)
    _show_issued(issued, as_json)


@keys.command("list")
@click.option("--all", "with_ended", is_flag=True, help="Also those that were revoked.")
@json_option
def list_keys(with_ended: bool, as_json: bool) -> None:
    """Show the keys there are: what each opens, until when, and how it was used."""
    from scrubjay.servers.cli.errors import show_json

    found = _with_issuer(lambda issuer: issuer.list(with_ended=with_ended))
    views = [_view(key) for key in found]
    if as_json:
        show_json({"keys": views})
    elif not views:
        click.echo("There is no key.")
    for view in () if as_json else views:
        until = f", expires {view['expires_at']}" if view["expires_at"] else ""
        used = f"used {view['uses']} times, last {view['last_used_at']}" if view["uses"] else "never used"
        click.echo(f"{view['name']}  {view['state']}  {','.join(view['scopes'])}{until}, {used}  ({view['id']})")


@keys.command()
@click.argument("name")
@json_option
def revoke(name: str, as_json: bool) -> None:
    """Let nobody in by the key NAME any more, from now on, on every protocol."""
    from scrubjay.app.commands import tell

    revoked = _with_issuer(lambda issuer: issuer.revoke(name))
    _note("key_revoked", name)
    tell(f"The key {name} opens nothing any more.", {"name": name, "revoked": revoked}, as_json)


@keys.command()
@click.argument("name")
@click.option("--grace", metavar="TIME", help="How long the old key still works: 1h, 30m.  [default: not at all]")
@click.option("--expires", metavar="TIME", help="How long the new key lives.  [default: as long as the old one did]")
@json_option
def rotate(name: str, grace: str | None, expires: str | None, as_json: bool) -> None:
    """Put a new key in the place of the key NAME and print it. It opens the same."""
    issued = _with_issuer(lambda issuer: issuer.rotate(name, grace, expires))
    _note("key_rotated", name, issued.kept)
    _show_issued(issued, as_json)


@keys.command()
@click.argument("name")
@json_option
def forget(name: str, as_json: bool) -> None:
    """Erase what is known of keys NAME that were revoked or have expired.

    Once no key is known at all, clients on this machine need none again.
    """
    from scrubjay.app.commands import tell

    forgotten = _with_issuer(lambda issuer: issuer.forget(name))
    _note("key_forgotten", name)
    tell(f"The key {name} is forgotten.", {"name": name, "forgotten": forgotten}, as_json)


def _with_issuer(work: "Callable[[KeyIssuer], Awaitable[T]]") -> T:
    from scrubjay.app.commands import with_store
    from scrubjay.app.tool_catalog import ALL
    from scrubjay.features.keys.issuer import KeyIssuer
    from scrubjay.tooling.registry import Registry

    async def run(store: "Store") -> T:
        return await work(KeyIssuer(store.keys, Registry(ALL).families))

    return with_store(run)


def _note(event: str, name: str, key: "KeptKey | None" = None) -> None:
    """Let the log and the audit log tell who may come in from now on, and who not any more."""
    import logging

    from scrubjay.app.settings import load_settings
    from scrubjay.features.monitoring.audit.log import AuditLog
    from scrubjay.tooling.security_events import security_event

    settings = load_settings()
    chosen = settings.audit
    audit = AuditLog(settings.home, max_bytes=chosen.max_bytes, keep_files=chosen.keep_files, enabled=chosen.enabled)
    audit.subscribe()
    try:
        security_event(
            event,
            level=logging.INFO,
            decision="allowed",
            caller=OWNER.name,
            surface="cli",
            key_id=key.id if key is not None else None,
            reason=f"{name} opens {','.join(sorted(key.scopes))}" if key is not None else name,
        )
    finally:
        audit.close()


def _show_issued(issued: "IssuedKey", as_json: bool) -> None:
    from scrubjay.servers.cli.errors import show_json

    kept = issued.kept
    if as_json:
        show_json({"key": issued.text, **_view(kept)})
        return
    click.echo(issued.text)
    until = f" until {kept.expires_at.isoformat(timespec='seconds')}" if kept.expires_at else ""
    click.echo(
        f"This is the key {kept.name}, which opens {', '.join(sorted(kept.scopes))}{until}. It is not shown again.",
        err=True,
    )


def _view(key: "KeptKey") -> dict[str, Any]:
    from scrubjay.core.clock import system_clock

    return {
        "id": key.id,
        "name": key.name,
        "scopes": sorted(key.scopes),
        "state": key.state(system_clock()),
        "created_at": key.created_at.isoformat(timespec="seconds"),
        "expires_at": key.expires_at.isoformat(timespec="seconds") if key.expires_at else None,
        "revoked_at": key.revoked_at.isoformat(timespec="seconds") if key.revoked_at else None,
        "last_used_at": key.last_used_at.isoformat(timespec="seconds") if key.last_used_at else None,
        "uses": key.uses,
    }
