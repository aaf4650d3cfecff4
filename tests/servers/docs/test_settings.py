from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from scrubjay.servers.docs.settings import settings_page


class Retry(BaseModel):
    attempts: int = Field(default=3, ge=1, description="How often.")


class Log(BaseModel):
    level: Literal["info", "error"] = Field(default="info", description="What is written.")
    retry: Retry = Field(default=Retry(), description="What is tried again.")


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(env_prefix="TOY_", env_nested_delimiter="_")

    home: Path = Field(default=Path("~/.toy"), description="Where it lives.")
    key: SecretStr = Field(description="What opens it.")
    hosts: list[str] = Field(default_factory=list[str], description="Who may come.")
    log: Log = Field(default=Log(), description="What is logged.")


class Undescribed(BaseModel):
    log: Log = Field(default=Log(), description="What is logged.")
    silent: bool = False


class UndescribedInside(BaseModel):
    inner: Undescribed = Field(default=Undescribed(), description="More.")


def test_every_setting_has_key_variable_type_default_and_meaning():
    assert (
        settings_page(Settings, "TOY_")
        == """\
<!-- Generated from the code. Change the declarations, not this page. -->

# Settings

Everything that can be set.

| Key in the file | Environment variable | Type | Default | Meaning |
| --- | --- | --- | --- | --- |
| `home` | `TOY_HOME` | path | `"~/.toy"` | Where it lives. |
| `key` | `TOY_KEY` | secret | required | What opens it. |
| `hosts` | `TOY_HOSTS` | list of text | `[]` | Who may come. |

## `log`

What is logged.

| Key in the file | Environment variable | Type | Default | Meaning |
| --- | --- | --- | --- | --- |
| `log.level` | `TOY_LOG_LEVEL` | one of info, error | `"info"` | What is written. |

### `log.retry`

What is tried again.

| Key in the file | Environment variable | Type | Default | Meaning |
| --- | --- | --- | --- | --- |
| `log.retry.attempts` | `TOY_LOG_RETRY_ATTEMPTS` | integer; at least 1 | `3` | How often. |
"""
    )


def test_a_setting_without_a_description_is_refused():
    with pytest.raises(ValueError, match=r"the setting inner\.silent has no description"):
        settings_page(UndescribedInside, "TOY_")
