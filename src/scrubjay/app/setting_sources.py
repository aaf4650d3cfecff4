"""Where settings come from beside options and variables: files of the working directory."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from scrubjay.core.errors import Misconfigured
from scrubjay.core.suggestions import nearest_names

PREFIX = "SCRUBJAY_"
FILE_NAME = "scrubjay.toml"
# Whoever writes a file into a folder that a server is later started in, such as the author of a repository, must not
# choose which programs are run, what callers may do with the machine, and where memories and the owner's keys are sent.
OWNERS_ONLY = {
    "": {"home", "host", "allowed_hosts", "allowed_origins", "trusted_proxies", "secrets"},
    "skills": {"file", "commands", "variables"},
    "embedding": {"base_url", "api_key_env", "resource_name", "caller_addresses", "caller_keys"},
    "llm": {"base_url", "api_key_env"},
    "hooks": {"callers_may_allow"},
    "transfer": {"folders"},
    "files": {"root"},
    "terminal": {"unrestricted", "variables"},
    "delegating": {"command", "arguments", "print_arguments", "allow", "in_chat", "variables"},
    "mira": {"persona"},
    "web": {"allowed_hosts", "search_url"},
    "sandbox": {"allowed_paths", "max_execution_time_ms", "max_memory_mb", "max_cpu_percent", "slots", "tools"},
}


class OfFolder(PydanticBaseSettingsSource):
    """The settings of a file in the working directory, which may be somebody else's."""

    def __init__(self, settings_cls: type[BaseSettings], source: PydanticBaseSettingsSource, name: str) -> None:
        super().__init__(settings_cls)
        self._source = source
        self._name = name

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        found = self._source()
        if self._is_home():
            return found
        for section, names in OWNERS_ONLY.items():
            given: Any = found.get(section) if section else found
            if isinstance(given, dict) and (wrong := sorted(names & set(cast(dict[str, Any], given)))):
                written = [section, wrong[0]] if section else [wrong[0]]
                raise Misconfigured(
                    f"{self._name}: {'.'.join(written)} is not taken from a file of the working directory",
                    hint=f"set {PREFIX}{'_'.join(written).upper()} in the environment, or start in the home",
                )
        return found

    def _is_home(self) -> bool:
        """Whether it is the owner's own folder: what options and the environment, which come first, say is the home."""
        home = self.current_state.get("home", self.settings_cls.model_fields["home"].default)
        return Path(home).expanduser().resolve() == Path.cwd().resolve()


class TomlSource(PydanticBaseSettingsSource):
    """The settings of `scrubjay.toml` in the working directory."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        path = Path(FILE_NAME)
        try:
            found = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise Misconfigured(
                f"{FILE_NAME} cannot be read: {error}", hint="see docs/reference/settings.md"
            ) from error
        _refuse_unknown(found, self.settings_cls.model_fields, FILE_NAME)
        return found


def _refuse_unknown(found: Mapping[str, Any], fields: Mapping[str, Any], where: str) -> None:
    for name, value in found.items():
        if name not in fields:
            near = nearest_names(name, fields)
            raise Misconfigured(
                f"{where}: there is no setting {name!r}",
                hint=f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(sorted(fields))}",
            )
        inner = fields[name].annotation
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, BaseModel):
            _refuse_unknown(value, inner.model_fields, f"{where} [{name}]")  # pyright: ignore[reportUnknownArgumentType]
