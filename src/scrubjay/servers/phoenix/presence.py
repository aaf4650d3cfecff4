"""Who is on a topic, as the Presence class of Phoenix's client reads it."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

Meta = dict[str, Any]
Group = tuple[str, str | None, str]
"""A topic, and whose it is: holders of different keys do not see each other."""
Tell = Callable[[str, Mapping[str, Any]], None]
"""Pushes an event to one member."""


class Presence:
    """All members of all topics. Each connection is one `meta` under the name of its agent."""

    def __init__(self) -> None:
        self._groups: defaultdict[Group, dict[Tell, Meta]] = defaultdict(dict)
        self._numbers = count(1)

    def join(self, group: Group, agent: str, tell: Tell, meta: Meta) -> None:
        """Tell the new member who is there, and the others who came."""
        meta = {**meta, "phx_ref": self._next_ref()}
        members = self._groups[group]
        self._tell_others(members, _diff(agent, joins=meta))
        members[tell] = meta
        tell("presence_state", {agent: {"metas": list(members.values())}})

    def update(self, group: Group, agent: str, tell: Tell, meta: Meta) -> None:
        """Tell all members what one of them is doing now."""
        members = self._groups[group]
        old = members[tell]
        new = {**meta, "phx_ref": self._next_ref(), "phx_ref_prev": old["phx_ref"]}
        members[tell] = new
        self._tell_others(members, _diff(agent, joins=new, leaves=old))

    def leave(self, group: Group, agent: str, tell: Tell) -> None:
        """Tell the others who has gone."""
        members = self._groups.get(group, {})
        if (meta := members.pop(tell, None)) is None:
            return
        if members:
            self._tell_others(members, _diff(agent, leaves=meta))
        else:
            del self._groups[group]

    def _tell_others(self, members: Mapping[Tell, Meta], diff: Mapping[str, Any]) -> None:
        for tell in list(members):
            tell("presence_diff", diff)

    def _next_ref(self) -> str:
        return f"p{next(self._numbers)}"


def _diff(agent: str, *, joins: Meta | None = None, leaves: Meta | None = None) -> Mapping[str, Any]:
    return {
        name: {agent: {"metas": [meta]}} if meta is not None else {}
        for name, meta in (("joins", joins), ("leaves", leaves))
    }
