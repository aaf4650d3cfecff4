"""The environment of measured processes: their own home, and no setting of the caller."""

import os


def clean_environment(home: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")}
    return {**inherited, "SCRUBJAY_HOME": home}
