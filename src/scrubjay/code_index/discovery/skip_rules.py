"""Decide which files are not worth reading, and why: by name or by content."""

import re
from functools import lru_cache

_REASONS = {
    "an image": (
        "png jpg jpeg gif bmp ico tif tiff webp avif heic psd ai eps svg svgz xcf sketch fig icns graffle drawio"
    ),
    "audio or video": "mp3 mp4 m4a wav ogg oga ogv flac avi mov mkv webm aac mid",
    "a font": "ttf otf woff woff2 eot",
    "an archive": (
        "zip gz tgz bz2 tbz xz txz lzma z br lz4 zst 7z rar tar jar war ear whl egg deb rpm dmg iso cab nupkg apk"
    ),
    "a binary": (
        "exe dll so dylib a o obj lib class pyc pyo pyd wasm bin dat elf ko pdb ilk node hex rom img swf mo gmo mmdb "
        "shp shx dbf npy npz pkl pickle pt pth onnx safetensors gguf h5 hdf5 parquet feather arrow avro orc sqlite "
        "sqlite3 db mdb dump pdf doc docx xls xlsx ppt pptx odt ods odp rtf epub mobi keystore jks p12 pfx der"
    ),
    "data": "csv tsv psv geojson topojson kml gpx jsonl ndjson prj vrt eml dic aff",
    "translations": "po pot xlf xliff resx arb",
    "a source map": "map",
    "a key or a certificate": "pem crt cer csr key pub asc sig gpg",
    "a lock file": "lock lockb lockfile",
}
_BY_ENDING = {ending: reason for reason, endings in _REASONS.items() for ending in endings.split()}
_LOCK_FILES = {
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "packages.lock.json",
    "go.sum",
    "go.work.sum",
    "package.resolved",
    "project.assets.json",
    ".terraform.lock.hcl",
    "conda-lock.yml",
}
_MINIFIED = re.compile(r"[.-]min\.(?:js|mjs|cjs|css|html|json|svg)$")
# Never a valid path in a repository; only a crafted tree or index contains one.
_UNSAFE = re.compile(r"(?:^|/)(?:\.{0,2}|\.git)(?:/|$)")
_CONTROL = bytes(range(1, 8)) + bytes(range(14, 27)) + bytes(range(28, 32)) + b"\x7f"
HEAD_BYTES = 8192


def reason_by_path(path: str) -> str | None:
    """Return why a file with this path is not read, or None."""
    if ("/." in path or "//" in path or path[:1] in "./") and _UNSAFE.search(path):
        return "an invalid path"
    return _reason_by_name(path[path.rfind("/") + 1 :].lower())


@lru_cache(maxsize=16384)
def _reason_by_name(name: str) -> str | None:
    if name in _LOCK_FILES:
        return "a lock file"
    if _MINIFIED.search(name):
        return "minified"
    stem, dot, ending = name.rpartition(".")
    return _BY_ENDING.get(ending) if dot and stem else None


def reason_by_content(content: bytes) -> str | None:
    """Return why a file with this content is not read, or None; the first `HEAD_BYTES` are enough."""
    head = content[:HEAD_BYTES]
    if b"\0" in head:
        return "a binary"
    # Bytes above 127 are letters in valid UTF-8, and count as unprintable otherwise.
    unprintable = len(head) - len(head.translate(None, _CONTROL))
    if not head.isascii():
        unprintable += head.decode("utf-8", "replace").count("\ufffd")
    return "a binary" if unprintable * 10 > len(head) * 3 else None
