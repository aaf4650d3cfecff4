"""Settings come from options, variables, .env and scrubjay.toml, in this order."""

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from scrubjay.app.setting_sources import OWNER_ONLY_SETTINGS
from scrubjay.app.settings import CodeSettings, Settings, load_settings, unknown_variables, variable_names
from scrubjay.core.errors import Misconfigured
from scrubjay.models.choices import CallerRights, CompletionChoice, EmbeddingChoice, Pace


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("SCRUBJAY_"):
            monkeypatch.delenv(name)


def test_126_sources_of_settings_have_a_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().port == 4000
    (tmp_path / "scrubjay.toml").write_text('port = 5001\n[jobs]\nlease_seconds = 60\n[log]\nlevel = "debug"\n')
    assert load_settings().port == 5001
    (tmp_path / ".env").write_text("SCRUBJAY_PORT=5002\nUNRELATED=1\n")
    assert load_settings().port == 5002
    monkeypatch.setenv("SCRUBJAY_PORT", "5003")
    assert load_settings().port == 5003
    settings = load_settings(port=5004, host=None)
    assert (settings.port, settings.host, settings.jobs.lease_seconds, settings.log.level) == (
        5004,
        "127.0.0.1",
        60,
        "debug",
    )


def test_126_an_environment_variable_sets_a_nested_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRUBJAY_JOBS_PATIENCE_SECONDS", "3")
    monkeypatch.setenv("SCRUBJAY_MAX_BODY_BYTES", "2048")
    settings = load_settings()
    assert (settings.jobs.patience_seconds, settings.max_body_bytes) == (3, 2048)


def test_the_home_is_expanded_to_an_absolute_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_settings().home == tmp_path / ".scrubjay"
    monkeypatch.setenv("SCRUBJAY_HOME", "relative")
    assert load_settings().home == tmp_path / "relative"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("prot = 1", "unknown setting 'prot'", "did you mean port"),
        ("[jobs]\nleese_seconds = 1", "[jobs]: unknown setting 'leese_seconds'", "did you mean lease_seconds"),
        ("port = ", "cannot be read", "settings.md"),
        ('port = "many"', "port: Input should be a valid integer", "scrubjay.toml"),
    ],
)
def test_an_invalid_file_is_refused_with_the_reason(tmp_path: Path, text: str, message: str, hint: str) -> None:
    (tmp_path / "scrubjay.toml").write_text(text)
    with pytest.raises(Misconfigured) as caught:
        load_settings()
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_key_is_never_printed_and_a_short_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRUBJAY_API_KEY", "correct-horse-battery")
    settings = load_settings()
    assert "correct-horse" not in f"{settings!r} {settings.model_dump_json()}"
    monkeypatch.setenv("SCRUBJAY_API_KEY", "hunter2")
    with pytest.raises(Misconfigured, match="at least 8 characters") as caught:
        load_settings()
    assert "hunter2" not in f"{caught.value.message} {caught.value.hint}"


def test_067_the_embedding_settings_define_the_embedding_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().embedding.choice() == EmbeddingChoice()
    (tmp_path / "scrubjay.toml").write_text(
        '[embedding]\nprovider = "azure"\nmodel = "m"\ndimensions = 9\nbase_url = "http://h"\napi_key_env = "K"\n'
        'resource_name = "r"\ndeployment_name = "d"\napi_version = "v"\nbatch_size = 1\nconcurrency = 2\n'
        "timeout_seconds = 3\nretries = 4\nmax_characters = 500\n"
    )
    monkeypatch.setenv("SCRUBJAY_EMBEDDING_API_KEY", "correct-horse-battery")
    settings = load_settings(home=tmp_path)  # the owner's own folder
    assert settings.embedding.choice() == EmbeddingChoice(
        provider="azure",
        model="m",
        dimensions=9,
        base_url="http://h",
        api_key=SecretStr("correct-horse-battery"),
        api_key_env="K",
        resource_name="r",
        deployment_name="d",
        api_version="v",
        pace=Pace(batch_size=1, concurrency=2, timeout_seconds=3, retries=4, max_characters=500),
    )
    assert "correct-horse" not in f"{settings!r} {settings.model_dump_json()} {settings.embedding.choice()!r}"


def test_a_misspelt_variable_is_reported_with_the_nearest_names() -> None:
    assert unknown_variables(["SCRUBJAY_PROT", "SCRUBJAY_PORT", "PATH"]) == {
        "SCRUBJAY_PROT": ["SCRUBJAY_PORT", "SCRUBJAY_PROJECT", "SCRUBJAY_HOST"]
    }


@pytest.mark.parametrize("variable", ["SCRUBJAY_CODE_ROOTS", "SCRUBJAY_ALLOWED_ORIGINS", "SCRUBJAY_LIMITS"])
def test_a_list_that_is_not_json_is_refused_with_an_example(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "/srv/code")
    with pytest.raises(Misconfigured, match=f"^{variable} is not valid JSON$") as refused:
        load_settings()
    assert """SCRUBJAY_CODE_ROOTS='["/srv/code"]'""" in (refused.value.hint or "")


def test_every_setting_is_described() -> None:
    assert len(variable_names(Settings)) > 10
    for field in Settings.model_fields.values():
        assert field.description


def test_067_the_operator_sets_which_embedding_services_callers_may_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().embedding.caller_rights() == CallerRights(addresses=("loopback",), keys={})
    monkeypatch.setenv("SCRUBJAY_EMBEDDING_CALLER_ADDRESSES", '["gpu.example.com:8000"]')
    monkeypatch.setenv("SCRUBJAY_EMBEDDING_CALLER_KEYS", '{"GPU_KEY": "gpu.example.com"}')
    assert load_settings().embedding.caller_rights() == CallerRights(
        addresses=("gpu.example.com:8000",), keys={"GPU_KEY": "gpu.example.com"}
    )


def test_a_language_model_needs_both_base_url_and_model(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().llm.choice() is None
    monkeypatch.setenv("SCRUBJAY_LLM_MODEL", "llama3.2")
    with pytest.raises(Misconfigured, match="needs both base_url and model"):
        load_settings()
    monkeypatch.setenv("SCRUBJAY_LLM_BASE_URL", "http://127.0.0.1:11434/v1")
    monkeypatch.setenv("SCRUBJAY_LLM_API_KEY_ENV", "MY_KEY")
    monkeypatch.setenv("SCRUBJAY_LLM_TIMEOUT_SECONDS", "5")
    assert load_settings().llm.choice() == CompletionChoice(
        base_url="http://127.0.0.1:11434/v1", model="llama3.2", api_key_env="MY_KEY", timeout_seconds=5
    )
    assert load_settings().summaries.automatic == "auto"


@pytest.mark.parametrize(
    ("chosen", "choice"),
    [
        ("static", None),
        ("local", None),
        ("local/static-v1", None),
        ("local/all-MiniLM-L6-v2", ("local", "all-MiniLM-L6-v2", None, None)),
        ("onnx//srv/models/mini", ("onnx", "/srv/models/mini", None, None)),
        ("memories", ("vllm", "a-model", 8, "http://gpu:8000/v1")),
        ("vllm", ("vllm", "a-model", 8, "http://gpu:8000/v1")),
        ("vllm/BAAI/bge-m3", ("vllm", "BAAI/bge-m3", None, "http://gpu:8000/v1")),
        ("mistral/codestral-embed", ("mistral", "codestral-embed", None, None)),
        ("openai", ("openai", None, None, None)),
    ],
)
def test_109_the_code_embedding_setting_selects_the_model(
    chosen: str, choice: tuple[str, str | None, int | None, str | None] | None
) -> None:
    memories = EmbeddingChoice(
        provider="vllm", model="a-model", dimensions=8, base_url="http://gpu:8000/v1", pace=Pace(batch_size=7)
    )
    made = CodeSettings(embeddings=chosen).embedding_choice(memories)
    assert (made and (made.provider, made.model, made.dimensions, made.base_url)) == choice
    assert made is None or made.pace == memories.pace


def test_109_code_uses_the_bundled_model_if_memories_do() -> None:
    assert CodeSettings(embeddings="memories").embedding_choice(EmbeddingChoice()) is None
    with pytest.raises(ValidationError, match="must be static, memories, or start with one of local, onnx, openai"):
        CodeSettings(embeddings="opnai")


@pytest.mark.parametrize("spelt", ["production", "prod", "Production", " PROD "])
def test_013_spellings_of_production_are_normalized(spelt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRUBJAY_ENVIRONMENT", spelt)
    assert load_settings().environment == "production"
    monkeypatch.setenv("SCRUBJAY_ENVIRONMENT", "produktion")
    with pytest.raises(Misconfigured):
        load_settings()


def test_013_mimos_key_variable_sets_the_api_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def key() -> str | None:
        chosen = load_settings().api_key
        return None if chosen is None else chosen.get_secret_value()

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCRUBJAY_API_KEY", raising=False)
    assert key() is None
    (tmp_path / ".env").write_text("MIMO_API_KEY=of-the-file-1\nWEBSOCKET_ENABLED=false\n")
    assert (key(), load_settings().features.websocket_synapse) == ("of-the-file-1", False)
    monkeypatch.setenv("MIMO_API_KEY", " of-the-environment\n")
    assert key() == "of-the-environment"
    monkeypatch.setenv("SCRUBJAY_API_KEY", "our-own-key")
    assert key() == "our-own-key"
    monkeypatch.delenv("SCRUBJAY_API_KEY")
    monkeypatch.setenv("MIMO_API_KEY", "short")
    with pytest.raises(Misconfigured):
        load_settings()


@pytest.mark.parametrize(
    ("name", "text", "refused"),
    [
        ("scrubjay.toml", '[skills]\nfile = "skills.json"\n', "skills.file"),
        ("scrubjay.toml", '[embedding]\nprovider = "vllm"\nbase_url = "https://evil.example"\n', "embedding.base_url"),
        ("scrubjay.toml", 'home = "mine"\n', "home"),
        (".env", 'SCRUBJAY_SKILLS_COMMANDS=["sh"]\n', "skills.commands"),
        (".env", "SCRUBJAY_LLM_BASE_URL=https://evil.example\n", "llm.base_url"),
        (".env", "SCRUBJAY_HOST=0.0.0.0\n", "host"),
        (".env", 'SCRUBJAY_CODE_ROOTS=["/"]\n', "code.roots"),
        (".env", "SCRUBJAY_SECRETS=keep\n", "secrets"),
    ],
)
def test_17_files_in_the_working_directory_cannot_set_programs_services_or_the_home(
    tmp_path: Path, name: str, text: str, refused: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(Misconfigured, match=f"{name}: {refused} cannot be set by a file in the working directory"):
        load_settings(home=None if refused == "home" else tmp_path / "elsewhere")


def test_17_every_owner_only_setting_exists() -> None:
    """Otherwise renaming a setting would silently unprotect it."""
    for section, names in OWNER_ONLY_SETTINGS.items():
        fields: Any = Settings.model_fields[section].annotation if section else Settings
        assert names <= fields.model_fields.keys()


def test_17_a_file_in_the_home_can_set_everything(tmp_path: Path) -> None:
    (tmp_path / "scrubjay.toml").write_text('[skills]\nfile = "skills.json"\n')
    assert load_settings(home=tmp_path).skills.file == Path("skills.json")
