"""The commands that create and revoke API keys of HTTP clients."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from scrubjay.app.command_output import json_option, print_result
from scrubjay.app.command_runtime import run_with_store
from scrubjay.app.settings import load_settings
from scrubjay.app.store import Store
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.core.callers import OWNER
from scrubjay.core.clock import system_clock
from scrubjay.features.keys.issuer import IssuedKey, KeyIssuer
from scrubjay.features.keys.models import StoredKey
from scrubjay.features.monitoring.audit.log import AuditLog
from scrubjay.servers.cli.errors import show_json
from scrubjay.servers.cli.groups import ScrubjayGroup
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.security_events import security_event

T = TypeVar("T")


@click.group(cls=ScrubjayGroup)
def keys() -> None:
    """Create, list and revoke API keys of HTTP clients. Running servers apply changes at once."""


@keys.command()
@click.option("--name", required=True, help="Name of the key: the person or program that uses it.")
@click.option(
    "--scopes",
    default="*",
    show_default=True,
    metavar="LIST",
    help="Tool families that the key may use, separated by commas; `family:read` allows reads only, * everything.",
)
@click.option(
    "--expires", metavar="TIME", help="When the key expires: 90d, 12h, 2w, 2027-01-31, never.  [default: never]"
)
@json_option
def create(name: str, scopes: str, expires: str | None, as_json: bool) -> None:
    """Create a key and print it. It is shown only once: the store holds a digest, not the key.

    docs/keys.md says what each scope opens. A tool that returns memories also needs memory:read. Sessions are no
    boundary between keys: memory:read opens the memories of every project and session.
    """
    issued = _with_issuer(lambda issuer: issuer.create(name, scopes, expires))
    _audit("key_created", name, issued.stored)
    _print_issued(issued, as_json)


@keys.command("list")
@click.option("--all", "with_ended", is_flag=True, help="Include revoked keys.")
@json_option
def list_keys(with_ended: bool, as_json: bool) -> None:
    """List the keys with their scopes, expiry and use."""
    found = _with_issuer(lambda issuer: issuer.list(with_ended=with_ended))
    views = [_view(key) for key in found]
    if as_json:
        show_json({"keys": views})
        return
    if not views:
        click.echo("There are no keys.")
    for view in views:
        expiry = f", expires {view['expires_at']}" if view["expires_at"] else ""
        use = f"used {view['uses']} times, last {view['last_used_at']}" if view["uses"] else "never used"
        click.echo(f"{view['name']}  {view['state']}  {','.join(view['scopes'])}{expiry}, {use}  ({view['id']})")


@keys.command()
@click.argument("name")
@json_option
def revoke(name: str, as_json: bool) -> None:
    """Revoke key NAME immediately, on every protocol."""
    revoked = _with_issuer(lambda issuer: issuer.revoke(name))
    _audit("key_revoked", name)
    print_result(f"Revoked the key {name}.", {"name": name, "revoked": revoked}, as_json)


@keys.command()
@click.argument("name")
@click.option("--grace", metavar="TIME", help="How long the old key stays valid: 1h, 30m.  [default: not at all]")
@click.option(
    "--expires", metavar="TIME", help="When the new key expires.  [default: after the lifetime of the old one]"
)
@json_option
def rotate(name: str, grace: str | None, expires: str | None, as_json: bool) -> None:
    """Replace key NAME by a new one with the same scopes, and print it."""
    issued = _with_issuer(lambda issuer: issuer.rotate(name, grace, expires))
    _audit("key_rotated", name, issued.stored)
    _print_issued(issued, as_json)


@keys.command()
@click.argument("name")
@json_option
def forget(name: str, as_json: bool) -> None:
    """Erase the records of revoked and expired keys called NAME.

    When no key is recorded at all, clients on this machine need none.
    """
    forgotten = _with_issuer(lambda issuer: issuer.delete_ended(name))
    _audit("key_forgotten", name)
    print_result(f"Erased the records of the key {name}.", {"name": name, "forgotten": forgotten}, as_json)


def _with_issuer(work: Callable[[KeyIssuer], Awaitable[T]]) -> T:
    async def run(store: Store) -> T:
        return await work(KeyIssuer(store.keys, Registry(TOOL_CATALOG).families))

    return run_with_store(run)


def _audit(event: str, name: str, key: StoredKey | None = None) -> None:
    """Record a change of keys in the log and the audit log."""
    loaded = load_settings()
    chosen = loaded.audit
    audit = AuditLog(loaded.home, max_bytes=chosen.max_bytes, keep_files=chosen.keep_files, enabled=chosen.enabled)
    audit.subscribe()
    try:
        security_event(
            event,
            level=logging.INFO,
            decision="allowed",
            caller=OWNER.name,
            surface="cli",
            key_id=key.id if key is not None else None,
            reason=f"{name} may use {','.join(sorted(key.scopes))}" if key is not None else name,
        )
    finally:
        audit.close()


def _print_issued(issued: IssuedKey, as_json: bool) -> None:
    key = issued.stored
    if as_json:
        show_json({"key": issued.text, **_view(key)})
        return
    click.echo(issued.text)
    expiry = f", valid until {key.expires_at.isoformat(timespec='seconds')}" if key.expires_at else ""
    click.echo(
        f"This is the key {key.name} with the scopes {', '.join(sorted(key.scopes))}{expiry}. It is not shown again.",
        err=True,
    )


def _view(key: StoredKey) -> dict[str, Any]:
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
