"""Keep programs that search folders from reading the folders of secrets, as the check of paths does for arguments."""

from collections.abc import Sequence

from scrubjay.core.protected_paths import SECRET_FOLDERS

_FOLDERS = sorted(SECRET_FOLDERS)
# The file system may ignore case, and these two programs have no option for that.
_GLOBS = ["".join(f"[{sign}{sign.upper()}]" if sign.isalpha() else sign for sign in folder) for folder in _FOLDERS]
_OPTIONS = {
    "grep": [f"--exclude-dir={glob}" for glob in _GLOBS],
    "ag": [f"--ignore={glob}" for glob in _GLOBS],
    "rg": [f"--iglob=!{folder}" for folder in _FOLDERS],
}
_PATHS = [f":(exclude,icase,glob)**/{folder}/**" for folder in _FOLDERS]


def without_secret_folders(name: str, arguments: Sequence[str]) -> list[str]:
    """Return the arguments of grep, ag, rg or `git grep` with options that leave out folders of secrets."""
    if name == "git":
        return [*arguments, *_PATHS]
    # The last option decides in ripgrep, and the first one has the same effect in the others.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:end], *_OPTIONS[name], *arguments[end:]]
