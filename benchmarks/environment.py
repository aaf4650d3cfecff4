"""What a measured process sees: a home of its own, and nothing of ours."""

import os


def environment(home: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")}
    return {**kept, "SCRUBJAY_HOME": home}
