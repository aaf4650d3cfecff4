"""Uses across repositories are found by manifests and imports, and definitions are followed to their users."""

from pathlib import Path

from scrubjay.code_index.cross_repo.definitions import defined_elsewhere
from scrubjay.code_index.cross_repo.dependents import UsedSymbol, links_between, used_elsewhere
from scrubjay.code_index.cross_repo.packages import read_packages
from scrubjay.code_index.cross_repo.search import search_all
from scrubjay.code_index.questions.impact import definitions_named
from scrubjay.code_index.search.ranker import SignalToggles
from tests.code_index.cross_repo.two_repositories import write_both, write_files
from tests.code_index.indexes import opened


async def test_repositories_are_linked_by_what_one_defines_and_another_imports(tmp_path: Path) -> None:
    roots = write_both(tmp_path)
    async with opened(tmp_path / "home") as home:
        built = [await home.build(root) for root in roots]
        library, application = [await home.code.load(one.record.id) for one in built]
        packages = (await read_packages(home.code, library)).defined
        assert {(one.ecosystem.value, one.name, one.imported_as, one.manifest) for one in packages} == {
            ("python", "Acme-Auth", ("acme_auth",), "pyproject.toml"),
            ("javascript", "@acme/auth", ("@acme/auth",), "js/package.json"),
            ("go", "example.org/acme/auth/v2", ("example.org/acme/auth/v2",), "go/go.mod"),
            ("rust", "acme-auth", ("acme_auth",), "rs/Cargo.toml"),
        }
        links = await links_between(home.code, [library, application])
        files = application.corpus.files
        assert {
            (
                one.package.name,
                one.declared,
                one.user is application,
                *((files[file.file].path, tuple(file.lines), tuple(file.names)) for file in one.files),
            )
            for one in links
        } == {
            ("Acme-Auth", True, True, ("shop/login.py", (1, 2), ("sign", "Signer"))),
            ("acme-auth", False, True, ("tool.rs", (1,), ("sign",))),
            ("@acme/auth", True, True, ("web/login.ts", (1,), ("signToken",))),
            ("example.org/acme/auth/v2", True, True, ("main.go", (3,), ())),
        }

        fork = await home.code.load((await home.build(write_both(tmp_path / "fork")[0])).record.id)
        assert await links_between(home.code, [library, fork]) == []

        async def users(name: str) -> list[tuple[str, int, float]]:
            found = await used_elsewhere(
                home.code,
                library,
                dict.fromkeys(definitions_named(name, library), UsedSymbol()),
                [library, application],
                3,
            )
            direct = [(one.node, one.hops, one.confidence) for users in found for one in users.direct]
            indirect = [(one.node, one.hops, one.confidence) for users in found for one in users.indirect]
            return [
                (application.names.qualified(node.symbol), hops, confidence)
                for node, hops, confidence in [*direct, *indirect]
            ]

        assert await users("src/acme_auth/tokens.py::sign") == [("login", 1, 0.9), ("enter", 2, 0.9)]
        assert await users("rs/src/lib.rs::sign") == [("run", 1, 0.9)]
        assert await users("signToken") == [("login", 1, 0.9)]
        assert await users("go/auth.go::Sign") == [("main", 1, 0.9)]
        # The type of a method's receiver is unknown here: the name alone is a guess.
        assert await users("Signer.verify") == [("check", 1, 0.4)]
        assert await users("Signer") == [("check", 1, 0.9)]


async def test_a_search_over_all_ranks_the_best_hit_of_any_repository_first(tmp_path: Path) -> None:
    library, application = write_both(tmp_path)
    async with opened(tmp_path / "home") as home:
        loaded = [await home.code.load((await home.build(root)).record.id) for root in (application, library)]

        async def first(query: str) -> list[tuple[str, str]]:
            found = await search_all(home.code, loaded, query, limit=3, toggles=SignalToggles(), context_lines=0)
            scores = [one.score for one in found]
            assert scores == sorted(scores, reverse=True)
            return [(Path(one.loaded.record.root).name, one.hit.file.path) for one in found]

        assert (await first("where are tokens signed so that sessions are trusted?"))[0] == (
            "library",
            "src/acme_auth/tokens.py",
        )
        assert (await first("Signer"))[0] == ("library", "src/acme_auth/tokens.py")
        assert (await first("enter by a login of the shop"))[0] == ("application", "shop/login.py")
        # The second hit is by far the best of its own repository, but contains little of the query.
        library_file, manifest = await search_all(
            home.code, loaded, "dependencies of zod", limit=2, toggles=SignalToggles(), context_lines=0
        )
        assert (library_file.hit.file.path, manifest.hit.file.path) == ("js/package.json", "package.json")
        assert manifest.score < 0.6 * library_file.score < 0.6 * library_file.hit.score + 0.01
        assert manifest.hit.score > 0.8 * library_file.hit.score
        assert await search_all(home.code, [], "x", limit=3, toggles=SignalToggles(), context_lines=0) == []


async def test_dependencies_are_read_from_every_manifest_and_from_aliases(tmp_path: Path) -> None:
    library, _ = write_both(tmp_path)
    users = {
        "cfg": {"setup.cfg": "[metadata]\nname = cfg\n[options]\ninstall_requires =\n    requests\n    acme_auth>=1\n"},
        "py": {"setup.py": "setup(name='py', install_requires=['requests', \"Acme.Auth >= 1\"])\n"},
        "rs": {
            "Cargo.toml": '[package]\nname = "rs"\n[dependencies]\nsigning = { package = "acme-auth" }\n',
            "src/main.rs": "use signing::sign;\nfn main() { sign(1); }\n",
        },
        "npm": {
            "package.json": '{"name": "npm", "dependencies": {"tokens": "npm:@acme/auth@^1"}}',
            "a.ts": 'import { signToken } from "tokens";\nexport function go() { signToken("a"); }\n',
        },
    }
    async with opened(tmp_path / "home") as home:
        definer = await home.code.load((await home.build(library)).record.id)
        for name, files in users.items():
            write_files(tmp_path / name, files)
            user = await home.code.load((await home.build(tmp_path / name)).record.id)
            (link,) = await links_between(home.code, [definer, user])
            assert (name, link.declared, len(link.files)) == (name, True, len(files) - 1)
            wanted = dict.fromkeys(
                [*definitions_named("rs/src/lib.rs::sign", definer), *definitions_named("signToken", definer)],
                UsedSymbol(),
            )
            used = [
                one for there in await used_elsewhere(home.code, definer, wanted, [user], 1) for one in there.direct
            ]
            assert [one.confidence for one in used] == [0.9] * len(link.files)
            callers = [*user.names.find("main"), *user.names.find("go")]
            there = await defined_elsewhere(home.code, user, callers, [definer])
            assert len([one for found in there for one in found.calls]) == len(link.files)
