"""Settings of export and import."""

from pathlib import Path

from pydantic import BaseModel, Field


class TransferSettings(BaseModel):
    """Folders for export and import."""

    folders: list[Path] = Field(
        default_factory=list[Path],
        description="Additional folders, besides `backups` in the home, for export_database and import_database. Every "
        "caller of these tools can use them, so allow only folders without other files.",
    )
