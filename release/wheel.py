#!/usr/bin/env python3
"""Makes Python wheels of released archives, one for each platform, with the program alone: `pip install llsd` then needs no
Rust. What they say of themselves is what pyproject.toml says. The same archives give the same bytes.

usage: wheel.py ARCHIVES DIR
  ARCHIVES  a folder with llsd-VERSION-TARGET.tar.gz and .zip, as archive.sh makes them
  DIR       where the .whl files go
"""

import base64
import hashlib
import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

# The programs for Linux are static: they need no C library, and run with either. Those for macOS say that they are for
# version 11 or later, as build.sh has it.
PLATFORMS = {
    "x86_64-unknown-linux-musl": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "aarch64-unknown-linux-musl": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "x86_64-apple-darwin": "macosx_11_0_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    "x86_64-pc-windows-gnu": "win_amd64",
}
ROOT = Path(__file__).resolve().parent.parent


def program_of(archive: Path, folder: str) -> tuple[str, bytes]:
    """The name of the program in an archive, and the program."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as files:
            return "llsd.exe", files.read(f"{folder}/llsd.exe")
    with tarfile.open(archive) as files:
        return "llsd", files.extractfile(f"{folder}/llsd").read()


def metadata(version: str) -> str:
    """The file METADATA, by https://packaging.python.org/en/latest/specifications/core-metadata/."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in project["license-files"]),
        *(f"Classifier: {name}" for name in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        *(f"Project-URL: {name}, {address}" for name, address in project["urls"].items()),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (ROOT / project["readme"]).read_text()


def pack(wheel: Path, version: str, tags: list[str], program: str, content: bytes) -> None:
    """Writes one wheel."""
    about = f"llsd-{version}.dist-info"
    kinds = "".join(f"Tag: {tag}\n" for tag in tags)
    files = {
        f"llsd-{version}.data/scripts/{program}": content,
        f"{about}/METADATA": metadata(version).encode(),
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: llsd\nRoot-Is-Purelib: false\n{kinds}".encode(),
        f"{about}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    record = f"{about}/RECORD"
    sums = (
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in files.items()
    )
    files[record] = ("".join(sums) + f"{record},,\n").encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            # Of one day for all, and made on Unix, so that the mode of the program counts.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if data is content else 0o100644) << 16
            out.writestr(entry, data)


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: wheel.py ARCHIVES DIR", file=sys.stderr)
        return 2
    archives, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    made = 0
    for archive in sorted(archives.iterdir()):
        match = re.fullmatch(r"(llsd-(\d+\.\d+\.\d+)-(.+))\.(?:tar\.gz|zip)", archive.name)
        if not match or match[3] not in PLATFORMS:
            continue
        folder, version, platform = match[1], match[2], PLATFORMS[match[3]]
        wheel = out / f"llsd-{version}-py3-none-{platform}.whl"
        pack(wheel, version, [f"py3-none-{tag}" for tag in platform.split(".")], *program_of(archive, folder))
        print(wheel)
        made += 1
    if not made:
        print(f"wheel.py: {archives} has no archive of llsd", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
