"""Which folders the code tools index and read: never the store, and with a key only those that the owner allowed."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import CodeSettings, FileSettings, Settings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.code_index import CodeService, Indexer, IndexOptions
from scrubjay.core.callers import OWNER, Caller
from scrubjay.core.errors import Forbidden, NotFound, ScrubjayError
from scrubjay.core.progress import SilentReporter
from scrubjay.features.code.file_changes import FileChanges
from scrubjay.features.hooks.models import HookCall, HookEvent
from scrubjay.tooling.call_events import CallEvents, StreamEvent, WatchedFileChange, may_see
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService
from tests.code_index.discovery.repository import git, write

CODE_KEY = Caller("ci", frozenset({"code"}), "key_ci")
FULL_KEY = Caller("admin", frozenset({"*"}), "key_admin")
SECRET = "the merger with Initech closes on Friday"
PROGRAM = 'def merger():\n    """The merger with Initech closes on Friday."""\n'
CODE_TOOLS = [place.load() for place in TOOL_CATALOG.places if place.family == "code"]
# Arguments that name a folder or an index. Every other argument that could is listed below, so that a new one fails.
FOLDERS, INDEXES = ("path", "project"), ("index_id", "index_ids")
NEITHER = {
    *("file_path", "folder", "include", "exclude", "excludes"),  # within the root of the index
    *("index_opts", "include_git", "source", "target"),
}


@dataclass
class House:
    """An application with a store, an allowed project and places that are not allowed."""

    app: Application
    base: Path

    @property
    def home(self) -> Path:
        return self.base / "home"

    async def call(self, tool: str, caller: Caller = OWNER, **arguments: Any) -> dict[str, Any]:
        context = CallContext(surface="rest", caller=caller, client=f"client of {caller.name}", patience=30)
        return (await self.app.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

    async def code(self) -> CodeService:
        return await self.app.services.get(CodeService)

    async def index_ids(self) -> set[str]:
        return {record.id for record in await (await self.code()).store.indexes()}

    def forbidden_places(self) -> Sequence[str]:
        """Return folders that no key may index, by every kind of path."""
        base = self.base
        return [
            *(str(base / name) for name in ("home", "home/backups", "home/../home", "HOME", "private", "user/.ssh")),
            *(
                str(base / "allowed" / name)
                for name in ("to-home", "to-ssh", "to-etc", "to-private", ".ssh", "../home")
            ),
            *("~/.ssh", "~", "/etc/ssl", "/etc", "/proc/self", "/proc/self/cwd/../../etc", "/", str(base)),
        ]


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = tmp_path.resolve()
    write(base / "home" / "backups", {"weekly.py": PROGRAM, "weekly.json": f'{{"content": "{SECRET}"}}\n'})
    (base / "home" / "code").mkdir()
    write(base / "private", {"plan.py": PROGRAM})
    write(base / "user" / ".ssh", {"config.py": PROGRAM})
    write(base / "files", {"own.py": "def own(): pass\n"})
    write(base / "allowed", {"good.py": "def good(): pass\n", ".env": "PLAN=merger\n", ".ssh/inner.py": PROGRAM})
    for name, target in (("home", "home"), ("ssh", "user/.ssh"), ("private", "private")):
        (base / "allowed" / f"to-{name}").symlink_to(base / target)
    (base / "allowed" / "to-etc").symlink_to("/etc")
    monkeypatch.setenv("HOME", str(base / "user"))
    return base


@pytest.fixture
async def house(base: Path) -> AsyncGenerator[House]:
    async with running(Settings(home=base / "home", files=FileSettings(root=base / "files"))) as app:
        house = House(app, base)
        await house.call("set_project", path=str(base / "allowed"))
        yield house


def arguments_of(tool: Tool, field: str, value: str) -> dict[str, Any]:
    """Return the arguments of the tool's first example that has no other target, with this one."""
    schema: Any = tool.request.model_config.get("json_schema_extra")
    arguments: dict[str, Any] = {**schema["examples"][0]}
    for other in (*FOLDERS, *INDEXES):
        arguments.pop(other, None)
    if "action" in tool.request.model_fields:
        arguments["action"] = "start" if tool.name == "watch_repo" else "project"
    return {**arguments, field: [value] if field == "index_ids" else value}


def targets() -> list[tuple[str, str]]:
    return [
        (tool.name, field)
        for tool in CODE_TOOLS
        for field in (*FOLDERS, *INDEXES)
        if field in tool.request.model_fields
    ]


def test_every_argument_of_a_code_tool_that_could_name_a_folder_is_known() -> None:
    for tool in CODE_TOOLS:
        for name, field in tool.request.model_fields.items():
            text = f"{name} {field.description}".lower()
            if any(word in text for word in ("path", "folder", "project", "index")) and name.islower():
                is_text = str in getattr(field.annotation, "__args__", (field.annotation,))
                assert name in {*FOLDERS, *INDEXES, *NEITHER} or not is_text or name == "action", (tool.name, name)
    assert len(targets()) > 25


@pytest.mark.parametrize(("name", "field"), [one for one in targets() if one[1] in FOLDERS])
async def test_no_code_tool_reads_a_folder_that_a_key_may_not_index(house: House, name: str, field: str) -> None:
    tool, code = next(tool for tool in CODE_TOOLS if tool.name == name), await house.code()
    if field == "project":  # only what is indexed could be read
        await house.call("build_repo_index", path=str(house.base / "private"))
        old = Indexer(code.store, code.indexer.folder)
        await old.build(str(house.home), "HEAD", IndexOptions(), SilentReporter())
    before = await house.index_ids()
    for caller in (CODE_KEY, FULL_KEY):
        for place in house.forbidden_places():
            with pytest.raises(ScrubjayError) as refused:
                await house.call(name, caller, **arguments_of(tool, field, place))
            is_unknown_project = isinstance(refused.value, NotFound) and not Path(place).is_absolute()
            assert isinstance(refused.value, Forbidden) or is_unknown_project, (place, refused.value)
            assert SECRET not in str(refused.value.record)
    assert await house.index_ids() == before


@pytest.mark.parametrize(("name", "field"), [one for one in targets() if one[1] in INDEXES])
async def test_no_code_tool_reads_an_index_of_a_folder_that_a_key_may_not_index(
    house: House, name: str, field: str
) -> None:
    tool, code = next(tool for tool in CODE_TOOLS if tool.name == name), await house.code()
    private = (await house.call("build_repo_index", path=str(house.base / "private")))["result"]["index_id"]
    old = Indexer(code.store, code.indexer.folder)  # an index of the store, made by an earlier version
    home = (await old.build(str(house.home), "HEAD", IndexOptions(), SilentReporter())).record.id
    for index_id, caller in ((private, CODE_KEY), (home, CODE_KEY), (home, FULL_KEY), (home, OWNER)):
        arguments = arguments_of(tool, field, index_id)
        if name == "cancel":
            assert (await house.call(name, caller, **arguments))["message"] == "Pipeline not found"
            continue
        with pytest.raises(NotFound, match="there is no index"):
            await house.call(name, caller, **arguments)
    assert (await house.call("index", action="cleanup"))["removed"] == 1
    assert home not in await house.index_ids()


async def test_lists_of_indexes_have_only_those_that_the_key_may_read(house: House) -> None:
    allowed = (await house.call("build_repo_index", path=str(house.base / "allowed")))["result"]["index_id"]
    private = (await house.call("build_repo_index", path=str(house.base / "private")))["result"]["index_id"]
    await house.call("watch_repo", action="start", path=str(house.base / "private"))
    status = await house.call("index", CODE_KEY, action="status")
    assert [one["index_id"] for one in status["indexes"]] == [allowed]
    assert (status["watches"], (await house.call("watch_repo", CODE_KEY, action="list"))["watches"]) == ([], [])
    assert len((await house.call("index", action="status"))["indexes"]) == 2
    found = await house.call("search_repos", CODE_KEY, query="merger with Initech")
    assert [one["index_id"] for one in found["repositories"]] == [allowed]
    assert [one["index_id"] for one in (await house.call("repo_links", CODE_KEY))["repositories"]] == [allowed]
    context = CallContext(surface="mcp-http", caller=CODE_KEY)
    listed = [one.uri for one in await house.app.resources.listed(CODE_KEY)]
    assert any(allowed in uri for uri in listed)
    assert not any(private in uri for uri in listed)
    for file in ("status.json", "manifest.json", "log.md", "bundle.tar.zst"):
        await house.app.resources.read(f"mimir://indexes/{allowed}/{file}", context)
        with pytest.raises(NotFound, match="there is no index"):
            await house.app.resources.read(f"mimir://indexes/{private}/{file}", context)
    with pytest.raises(NotFound, match="there is no index"):
        await house.app.resources.mark(f"mimir://indexes/{private}/status.json", CODE_KEY)


@pytest.mark.parametrize("place", ["home", "home/backups", "allowed/to-home", "home/code"])
async def test_nobody_indexes_the_store(house: House, place: str) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [("index", {"action": "project"}), ("watch_repo", {"action": "start"})]
    calls += [(tool, {}) for tool in ("ensure_repo_index", "build_repo_index", "keep_repo_index")]
    for tool, arguments in calls:
        with pytest.raises(Forbidden, match="which is never indexed"):
            await house.call(tool, path=str(house.base / place), **arguments)
    with pytest.raises(Forbidden, match="which is never indexed"):
        await house.call("remember", content="x", about=["merger"], repository=str(house.base / place))
    code = await house.code()
    with pytest.raises(Forbidden, match="which is never indexed"):  # whatever called it
        await code.indexer.build(str(house.base / place), "HEAD", IndexOptions(), SilentReporter())


@pytest.mark.parametrize("is_git", [False, True])
async def test_the_index_of_a_parent_leaves_out_the_store_and_secrets(house: House, is_git: bool) -> None:
    if is_git:
        for arguments in (("init", "-q"), ("add", "-f", ".")):
            await anyio.run_process(["git", *arguments], cwd=house.base)
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        await anyio.run_process(["git", *identity, "commit", "-q", "-m", "All"], cwd=house.base)
    code = await house.code()
    for rev in ("HEAD", "HEAD~0") if is_git else ("HEAD",):
        built = (await house.call("build_repo_index", path=str(house.base), rev=rev))["result"]
        paths = await code.store.paths(built["index_id"])
        assert sorted(paths) == ["allowed/good.py", "files/own.py", "private/plan.py"]
        reasons = {one["reason"] for one in built["left_out"]}
        assert {"it belongs to the store of this server", "it may hold secrets"} <= reasons


async def test_files_that_an_earlier_version_indexed_are_not_shown(house: House) -> None:
    code = await house.code()
    old = Indexer(code.store, code.indexer.folder)
    index_id = (await old.build(str(house.base), "HEAD", IndexOptions(), SilentReporter())).record.id
    assert "home/backups/weekly.json" in await code.store.paths(index_id)
    for query in ("merger with Initech", "PLAN"):
        found = await house.call("search_repo", index_id=index_id, query=query)
        assert {one["path"] for one in found["results"]} <= {"private/plan.py", "allowed/good.py", "files/own.py"}
    found = await house.call("search_pattern", index_id=index_id, pattern="merger", literal=True)
    assert [one["path"] for one in found["files"]] == ["private/plan.py"]


async def test_a_key_reads_no_revision_of_a_repository_that_is_elsewhere(house: House) -> None:
    private, inner = house.base / "private", house.base / "allowed" / "inner"
    git(private, "init", "-q", "-b", "main")
    git(private, "add", ".")
    git(private, "commit", "-q", "-m", "Plan the merger")
    write(inner, {"own.py": "def own(): pass\n"})
    own = (await house.call("build_repo_index", CODE_KEY, path=str(inner)))["result"]["index_id"]
    (inner / ".git").write_text(f"gitdir: {private}/.git\n")
    for rev in ("HEAD", "main", "HEAD~0"):
        for tool in ("ensure_repo_index", "build_repo_index"):
            with pytest.raises(Forbidden, match="git reads objects of"):
                await house.call(tool, CODE_KEY, path=str(inner), rev=rev)
    for tool, arguments in (
        ("search_repo", {"query": "merger"}),
        ("diff_impact", {"base": "main"}),
    ):
        with pytest.raises(NotFound, match="there is no index"):
            await house.call(tool, CODE_KEY, index_id=own, **arguments)
    built = (await house.call("build_repo_index", path=str(inner), rev="main"))["result"]["index_id"]
    assert (await house.call("search_repo", index_id=built, query="merger"))["total"]  # the owner may
    with pytest.raises(NotFound):
        await house.call("search_repo", CODE_KEY, index_id=built, query="merger")


async def test_a_key_indexes_the_root_of_files_and_projects_of_the_owner(house: House) -> None:
    for place in ("allowed", "files"):
        built = (await house.call("build_repo_index", CODE_KEY, path=str(house.base / place)))["result"]
        assert built["files"] == 1
        found = await house.call("search_repo", CODE_KEY, index_id=built["index_id"], query="def")
        assert len(found["results"]) == 1
    assert (await house.call("index", CODE_KEY, action="project", path=str(house.base / "allowed")))["indexes"]


async def test_a_key_makes_a_root_by_a_project_only_with_all_scopes(house: House) -> None:
    path = str(house.base / "private")
    limited = Caller("agent", frozenset({"code", "projects", "sessions"}), "key_agent")
    for tool, argument in (("set_project", "path"), ("session_start", "project_path")):
        await house.call(tool, limited, **{argument: path})
        for caller in (limited, FULL_KEY):
            with pytest.raises(Forbidden, match="outside the folders that callers with a key may index"):
                await house.call("ensure_repo_index", caller, path=path)
            with pytest.raises(Forbidden):  # the active project
                await house.call("index", limited, action="project")
    await house.call("set_project", FULL_KEY, path=path)
    assert (await house.call("build_repo_index", limited, path=path))["result"]["files"] == 1
    for place in (house.home, "/etc/ssl", house.base / "user" / ".ssh"):  # not even as projects
        await house.call("set_project", path=str(place))
        with pytest.raises(Forbidden):
            await house.call("ensure_repo_index", FULL_KEY, path=str(place))


async def test_the_setting_replaces_the_default_roots(house: House, tmp_path: Path) -> None:
    base = house.base
    settings = Settings(home=tmp_path / "other", code=CodeSettings(roots=[base / "private", tmp_path / "other"]))
    async with running(settings) as app:
        other = House(app, base)
        await other.call("set_project", path=str(base / "allowed"))
        assert (await other.call("build_repo_index", CODE_KEY, path=str(base / "private")))["result"]["files"] == 1
        for caller in (OWNER, CODE_KEY, FULL_KEY):
            for place in (base / "allowed", tmp_path / "other", tmp_path / "other" / "derived"):
                with pytest.raises(Forbidden):
                    await other.call("ensure_repo_index", caller, path=str(place))


async def test_a_resumed_job_has_the_rights_of_the_key_that_started_it(house: House) -> None:
    jobs = await house.app.services.get(JobService)
    private = str(house.base / "private")
    for caller, state in ((CODE_KEY, JobState.FAILED), (OWNER, JobState.COMPLETED)):
        context = CallContext(surface="rest", caller=caller).kept()
        job = await jobs.start("build_repo_index", {"arguments": {"path": private}, "context": context})
        done = await jobs.wait(job.id, 30, SilentReporter())
        assert done.state is state, done.error
    for caller in (CODE_KEY, FULL_KEY, OWNER):
        assert CallContext.from_kept(CallContext(surface="rest", caller=caller).kept()).caller == caller


async def test_a_key_links_memories_only_to_code_of_its_roots(house: House) -> None:
    private = (await house.call("build_repo_index", path=str(house.base / "private")))["result"]["index_id"]
    await house.call("build_repo_index", path=str(house.base / "allowed"))
    caller = Caller("writer", frozenset({"memory", "facts", "code:read"}), "key_writer")
    for repository in (private, str(house.base / "private"), "/etc/ssl", str(house.home)):
        with pytest.raises((Forbidden, NotFound)):
            await house.call("remember", caller, content="x", about=["merger"], repository=repository)
    for project in (str(house.base / "private"), str(house.home)):
        await house.call("set_project", Caller("any", frozenset({"projects"}), "key_any"), path=project)
        with pytest.raises(Forbidden):
            await house.call("remember", caller, content="x", about=["merger"], project=project)
    allowed = str(house.base / "allowed")
    assert (await house.call("remember", caller, content="y", about=["good"], project=allowed))["about"]
    given = {"about": ["good"], "repository": str(house.base / "allowed")}
    assert (await house.call("remember", caller, content="x", **given))["about"][0]["path"] == "good.py"


async def test_jobs_and_file_changes_show_only_folders_that_the_key_may_read(house: House) -> None:
    events, changed, both = CallEvents(), dict[str, WatchedFileChange](), anyio.Event()
    house.app.services.ready(FileChanges).subscribe(partial(events.file_changed, "code"))

    def on_event(event: StreamEvent) -> None:
        if isinstance(event, WatchedFileChange):
            changed[event.path] = event
            if len(changed) == 2:
                both.set()

    events.listen(on_event)
    jobs: dict[str, str] = {}
    for place in ("private", "allowed"):
        built = await house.call("build_repo_index", path=str(house.base / place))
        jobs[place] = built["job_id"]
        await house.call("watch_repo", action="start", path=str(house.base / place))
    viewer = Caller("viewer", frozenset({"code", "jobs"}), "key_viewer")
    listed = {job["job_id"] for job in (await house.call("list_jobs", viewer))["jobs"]}
    assert (jobs["allowed"] in listed, jobs["private"] in listed) == (True, False)
    assert (await house.call("get_job", viewer, job_id=jobs["allowed"]))["state"] == "completed"
    for tool in ("get_job", "cancel_job"):
        with pytest.raises(NotFound):
            await house.call(tool, viewer, job_id=jobs["private"])
    assert (await house.call("get_job", job_id=jobs["private"]))["state"] == "completed"
    service = await house.app.services.get(JobService)
    with anyio.fail_after(30):
        for watch in (await house.call("watch_repo", action="list"))["watches"]:
            async for job in service.watch(watch["job_id"]):
                if job.progress.message.startswith("watching"):
                    break
            write(Path(watch["root"]), {"new.py": "def new(): pass\n"})
        await both.wait()
    visible = {path for path, one in changed.items() if may_see(viewer, one)}
    assert visible == {str(house.base / "allowed" / "new.py")}
    assert all(may_see(OWNER, one) for one in changed.values())


def scoped(*scopes: str) -> Caller:
    return Caller("limited", frozenset(scopes), "key_limited")


# Keys that may not read the code of `private`: without the scope, and with the scope but not the folder.
UNREADABLE = [scoped("memory", "facts", "projects"), scoped("memory", "facts", "projects", "code")]


@pytest.mark.parametrize("caller", UNREADABLE)
@pytest.mark.parametrize("name", ["merger", "no_such_name"])
async def test_names_in_about_do_not_show_whether_unreadable_code_has_them(
    house: House, caller: Caller, name: str
) -> None:
    private = str(house.base / "private")
    await house.call("build_repo_index", path=private)
    await house.call("set_project", caller, path=private)
    many = {"memories": [{"content": "x", "about": [name]}]}
    for tool, arguments in (
        ("remember", {"content": "x", "about": [name]}),
        ("remember_many", many),
        ("store_fact", {"content": "x", "about": [name], "category": "fact"}),
    ):
        with pytest.raises(Forbidden) as refused:
            await house.call(tool, caller, **arguments)
        assert "merger" not in str(refused.value.record)


@pytest.mark.parametrize("caller", UNREADABLE)
async def test_memories_of_a_key_are_not_linked_to_code_that_it_may_not_read(house: House, caller: Caller) -> None:
    private = str(house.base / "private")
    await house.call("build_repo_index", path=private)
    owned = await house.call("remember", content="The bare one mentions `plan.py::merger`.", project=private)
    assert [one["symbol"] for one in owned["about"]] == ["merger"]
    written = await house.call("remember", caller, content="`plan.py::merger` is Friday.", project=private)
    assert "about" not in written
    many = {"memories": [{"content": "`merger` is on Monday."}], "project": private}
    assert "about" not in (await house.call("remember_many", caller, **many))["memories"][0]
    await house.call("set_project", caller, path=private)
    await house.call("store_fact", caller, content="`merger` is on Tuesday.", category="fact")
    await house.call("correct", caller, what_was_wrong="The bare one", what_is_right="The other one", project=private)
    linked = (await house.call("review_stale", project=private))["checked"]
    assert linked == 0  # the correction replaced the text that the owner's link was made from
    readable = Caller("limited", frozenset({"memory", "code:read"}), "key_limited")
    await house.call("build_repo_index", path=str(house.base / "allowed"))
    allowed = {"content": "`good.py::good` is fine.", "project": str(house.base / "allowed")}
    assert [one["symbol"] for one in (await house.call("remember", readable, **allowed))["about"]] == ["good"]


@pytest.mark.parametrize("scopes", [("memory", "asking", "jobs"), ("memory", "asking", "jobs", "code")])
async def test_a_recalled_memory_shows_nothing_of_code_that_its_reader_may_not_read(
    house: House, scopes: tuple[str, ...]
) -> None:
    private, reader = str(house.base / "private"), scoped(*scopes, "transfer", "planning", "projects")
    await house.call("build_repo_index", path=private)
    stored = await house.call("remember", content="The deal is soon.", about=["plan.py::merger"], project=private)
    current = await house.call("remember", content="The deal is big.", about=["plan.py"], project=private)
    await house.call("set_project", reader, path=private)

    async def seen(caller: Caller) -> str:
        calls = {
            "recall": {"query": "deal", "explain": True},
            "review_stale": {"action": "list"},
            "ask_mimo": {"query": "When is the deal?"},
        }
        hook = HookCall(
            event=HookEvent.USER_PROMPT_SUBMIT, session_id="s", folders=(private,), prompt="deal", code_reader=caller
        )
        hint = (await house.app.answer_hook(hook)).context
        assert hint is not None
        answers = [await house.call(tool, caller, project=private, **given) for tool, given in calls.items()]
        return str([hint, *answers])

    assert "plan.py" not in await seen(reader)
    (house.base / "private" / "plan.py").write_text("def merged(): pass\n")
    assert "'gone'" in await seen(OWNER)
    text = await seen(reader)
    for word in ("merger", "merged", "plan.py", "'gone'", "commit': '", "diff': '"):
        assert word not in text, word
    assert "'reason': 'changed'" in text  # that the memory may be wrong is no secret
    assert "may be out of date: code that it is about has changed" in text
    with pytest.raises(Forbidden, match="may not read the code"):
        await house.call("review_stale", reader, action="confirm", ids=[stored["id"]], project=private)
    exported = await house.call("export_database", reader)
    assert "merger" not in await anyio.Path(exported["result"]["path"]).read_text()
    assert "merger" in await anyio.Path((await house.call("export_database"))["result"]["path"]).read_text()
    assert current["id"] in text


async def test_an_opened_bundle_is_read_by_those_who_may_open_its_file(house: House) -> None:
    private = (await house.call("build_repo_index", path=str(house.base / "private")))["result"]["index_id"]
    bundle = Path((await house.call("get_repo_bundle", index_id=private))["path"])
    with pytest.raises(Forbidden):
        await house.call("open_repo_bundle", CODE_KEY, path=str(bundle))
    opened = (await house.call("open_repo_bundle", path=str(bundle)))["result"]["index_id"]
    assert (await house.call("search_repo", index_id=opened, query="merger"))["total"] == 1
    with pytest.raises(NotFound):
        await house.call("search_repo", CODE_KEY, index_id=opened, query="merger")
    good = (await house.call("build_repo_index", path=str(house.base / "allowed")))["result"]["index_id"]
    own = house.base / "files" / "good.tar.zst"
    await anyio.Path((await house.call("get_repo_bundle", index_id=good))["path"]).rename(own)
    opened = (await house.call("open_repo_bundle", CODE_KEY, path=str(own)))["result"]["index_id"]
    assert (await house.call("search_repo", CODE_KEY, index_id=opened, query="good"))["total"] == 1
