import click
import pytest

from scrubjay.servers.docs.cli import cli_page


@click.group(name="toy", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quiet", is_flag=True, help="Say less.")
def root() -> None:
    """A toy.

    It plays.
    """


@root.command()
@click.argument("place")
@click.option("--port", default=4000, show_default=True, help="Where to listen.")
@click.option("--key", required=True, envvar="TOY_KEY", show_envvar=True, type=click.Choice(["a", "b"]))
def serve(place: str, port: int, key: str) -> None:
    """Serve everything."""


@root.group()
def store() -> None:
    """Maintain the store."""


@store.command()
def check() -> None:
    """Check the store."""


@store.command(hidden=True)
def secret() -> None:
    """A hidden command."""


PAGE = """\
<!-- Generated from the code. Change the declarations, not this page. -->

# Command line

## toy

A toy.

It plays.

```sh
toy [OPTIONS] COMMAND [ARGS]...
```

| Argument or option | Meaning |  |
| --- | --- | --- |
| `--quiet` | Say less. |  |

### toy serve

Serve everything.

```sh
toy serve [OPTIONS] PLACE
```

| Argument or option | Meaning |  |
| --- | --- | --- |
| `PLACE` |  |  |
| `--port INTEGER` | Where to listen. | default: `4000` |
| `--key [a\\|b]` |  | required; environment: `TOY_KEY` |

### toy store

Maintain the store.

```sh
toy store [OPTIONS] COMMAND [ARGS]...
```

#### toy store check

Check the store.

```sh
toy store check [OPTIONS]
```
"""


@pytest.mark.parametrize("columns", ["40", "200"])
def test_the_page_does_not_depend_on_the_width_of_the_terminal(columns: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", columns)
    assert cli_page(root) == PAGE
