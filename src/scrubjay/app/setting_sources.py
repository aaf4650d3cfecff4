"""Sources of settings in the working directory: `.env` and `scrubjay.toml`."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from scrubjay.core.errors import Misconfigured
from scrubjay.core.paths import SETTINGS_FILE as FILE_NAME
from scrubjay.core.suggestions import nearest_names

PREFIX = "SCRUBJAY_"
# Settings that a file in the working directory must not set. A repository can bring such a file, and its author must
# not choose which programs run, what callers may do on the machine, or where memories and the owner's keys are sent.
OWNER_ONLY_SETTINGS = {
    "": {"home", "host", "allowed_hosts", "allowed_origins", "trusted_proxies", "secrets"},
    "code": {"roots"},
    "skills": {"file", "commands", "variables"},
    "embedding": {
        *("base_url", "api_key_env", "resource_name"),
        *("caller_addresses", "caller_keys", "caller_folders", "keys_may_change_address"),
    },
    "llm": {"base_url", "api_key_env"},
    "hooks": {"callers_may_allow"},
    "transfer": {"folders"},
    "files": {"root"},
    "terminal": {"unrestricted", "variables"},
    "delegation": {"command", "arguments", "print_arguments", "allow", "in_chat", "variables"},
    "mira": {"persona"},
    "web": {"allowed_hosts", "search_url"},
    "sandbox": {"allowed_paths", "max_execution_time_ms", "max_memory_mb", "max_cpu_percent", "slots", "tools"},
}


class FolderSource(PydanticBaseSettingsSource):
    """Settings from a file in the working directory, which may come from another author than the owner."""

    def __init__(self, settings_cls: type[BaseSettings], source: PydanticBaseSettingsSource, name: str) -> None:
        super().__init__(settings_cls)
        self._source = source
        self._name = name

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        settings = self._source()
        if self._is_home():
            return settings
        for section, names in OWNER_ONLY_SETTINGS.items():
            values: Any = settings.get(section) if section else settings
            if isinstance(values, dict) and (refused := sorted(names & set(cast(dict[str, Any], values)))):
                path = [section, refused[0]] if section else [refused[0]]
                raise Misconfigured(
                    f"{self._name}: {'.'.join(path)} cannot be set by a file in the working directory",
                    hint=f"set {PREFIX}{'_'.join(path).upper()} in the environment, or start in the store's folder",
                )
        return settings

    def _is_home(self) -> bool:
        """Return whether the working directory is the store's folder, as named by options or the environment."""
        home = self.current_state.get("home", self.settings_cls.model_fields["home"].default)
        return Path(home).expanduser().resolve() == Path.cwd().resolve()


class TomlSource(PydanticBaseSettingsSource):
    """Settings from `scrubjay.toml` in the working directory."""

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        path = Path(FILE_NAME)
        try:
            settings = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise Misconfigured(
                f"{FILE_NAME} cannot be read: {error}", hint="see docs/reference/settings.md"
            ) from error
        _refuse_unknown(settings, self.settings_cls.model_fields, FILE_NAME)
        return settings


def _refuse_unknown(settings: Mapping[str, Any], fields: Mapping[str, Any], where: str) -> None:
    for name, value in settings.items():
        if name not in fields:
            nearest = nearest_names(name, fields)
            raise Misconfigured(
                f"{where}: unknown setting {name!r}",
                hint=f"did you mean {' or '.join(nearest)}?" if nearest else f"known: {', '.join(sorted(fields))}",
            )
        inner = fields[name].annotation
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, BaseModel):
            _refuse_unknown(value, inner.model_fields, f"{where} [{name}]")  # pyright: ignore[reportUnknownArgumentType]
