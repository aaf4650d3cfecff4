"""Detect whether linked code has changed, moved or disappeared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio.to_thread

from scrubjay.features.code_links.current_code import CurrentCode
from scrubjay.features.memory.link_state import CodeLinkStatus, Comparison
from scrubjay.features.memory.links import CodeLink, CodeState

# Largest number of files in which missing code is searched.
MAX_MOVE_CANDIDATES = 25


async def compare_links(now: CurrentCode, links: Sequence[CodeLink]) -> list[Comparison]:
    """Compare each link with the current code. Each file is read once; the index only if code is not where it was."""
    by_root: dict[str, list[CodeLink]] = {}
    for link in links:
        by_root.setdefault(link.root, []).append(link)
    found: dict[CodeLink, Comparison] = {}
    for root, own in by_root.items():
        found |= await _compare_in_repository(now, root, own)
    return [found[link] for link in links]


async def _compare_in_repository(now: CurrentCode, root: str, links: Iterable[CodeLink]) -> dict[CodeLink, Comparison]:
    found: dict[CodeLink, Comparison] = {}
    looked_up: list[tuple[CodeLink, CodeState]] = []
    for link in links:
        if link.code is None:
            found[link] = Comparison(link, CodeLinkStatus.PENDING)
        else:
            looked_up.append((link, link.code))
    if not looked_up:
        return found
    record = await now.record(root)
    # Security: an imported link may name any file, so only indexed files are read.
    if record is None or not await anyio.to_thread.run_sync(Path(root).is_dir):
        return found | {link: Comparison(link, CodeLinkStatus.UNKNOWN) for link, _ in looked_up}
    blobs: Mapping[str, str] = await now.blobs(root, {code.path for _, code in looked_up})
    differing = [(link, code) for link, code in looked_up if blobs.get(code.path) != code.blob]
    found |= {link: Comparison(link, CodeLinkStatus.CURRENT, code) for link, code in looked_up}
    if not differing:
        return found
    commit = await now.commit(root)
    files = await now.files(record, root, {code.path for _, code in differing} & await now.paths(record))
    for link, code in differing:
        states = files[code.path].states(code.symbol, commit) if code.path in files else []
        same = [state for state in states if state.digest == code.digest]
        nearest = min(same or states, key=lambda state: abs(state.first_line - code.first_line), default=None)
        if nearest is None:
            nearest = await now.find_moved(record, code, MAX_MOVE_CANDIDATES)
        if nearest is None:
            found[link] = Comparison(link, CodeLinkStatus.GONE, None, commit)
        elif nearest.digest != code.digest:
            found[link] = Comparison(link, CodeLinkStatus.CHANGED, nearest, commit)
        else:
            is_there = (nearest.path, nearest.first_line) == (code.path, code.first_line)
            state = replace(nearest, commit=commit)
            found[link] = Comparison(link, CodeLinkStatus.CURRENT if is_there else CodeLinkStatus.MOVED, state, commit)
    return found
