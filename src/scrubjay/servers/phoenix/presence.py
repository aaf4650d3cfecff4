"""Presence: the clients on each topic, in the format that the Presence class of Phoenix's client reads."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

Meta = dict[str, Any]
Group = tuple[str, str | None, str]
"""Topic, key id and caller name: clients with different keys do not see each other."""
Push = Callable[[str, Mapping[str, Any]], None]
"""Pushes an event to one member."""


class Presence:
    """The members of all topics. Each connection is one `meta` under the name of its agent."""

    def __init__(self) -> None:
        self._groups: defaultdict[Group, dict[Push, Meta]] = defaultdict(dict)
        self._numbers = count(1)

    def join(self, group: Group, agent: str, push: Push, meta: Meta) -> None:
        """Add a member: send it the current state, and the others the difference."""
        meta = {**meta, "phx_ref": self._next_ref()}
        members = self._groups[group]
        self._push_diff(members, _diff(agent, joins=meta))
        members[push] = meta
        push("presence_state", {agent: {"metas": list(members.values())}})

    def update(self, group: Group, agent: str, push: Push, meta: Meta) -> None:
        """Replace the `meta` of a member and send all members the difference."""
        members = self._groups[group]
        old = members[push]
        new = {**meta, "phx_ref": self._next_ref(), "phx_ref_prev": old["phx_ref"]}
        members[push] = new
        self._push_diff(members, _diff(agent, joins=new, leaves=old))

    def leave(self, group: Group, agent: str, push: Push) -> None:
        """Remove a member and send the others the difference."""
        members = self._groups.get(group, {})
        if (meta := members.pop(push, None)) is None:
            return
        if members:
            self._push_diff(members, _diff(agent, leaves=meta))
        else:
            del self._groups[group]

    def _push_diff(self, members: Mapping[Push, Meta], diff: Mapping[str, Any]) -> None:
        for push in list(members):
            push("presence_diff", diff)

    def _next_ref(self) -> str:
        return f"p{next(self._numbers)}"


def _diff(agent: str, *, joins: Meta | None = None, leaves: Meta | None = None) -> Mapping[str, Any]:
    return {
        name: {agent: {"metas": [meta]}} if meta is not None else {}
        for name, meta in (("joins", joins), ("leaves", leaves))
    }
