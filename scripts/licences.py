#!/usr/bin/env python3
"""Collects the licences of the libraries in the program `rpcbench`.

  licences.py         writes THIRD-PARTY.md
  licences.py check   fails if THIRD-PARTY.md is not current, or a licence is not allowed

Reads the packages that cargo has fetched, without network access. `cargo deny check` (deny.toml) checks advisories, with it."""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "THIRD-PARTY.md"
TARGET = "x86_64-unknown-linux-gnu"
# In order of preference; the same as in deny.toml.
ALLOWED = ["Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "Unicode-3.0", "Zlib", "CC0-1.0", "ISC"]
HEAD = """# Third-party licences

The program `rpcbench` contains the libraries below. The HTML page has the licences of its own libraries at its foot.
Written by `scripts/licences.py`; do not edit.
"""
APACHE = "The text of the Apache License, Version 2.0, is in [LICENSE](LICENSE). Notices of these libraries follow it."


def libraries() -> list[dict]:
    """Packages that the program links, except those of this workspace."""
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", TARGET]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    waiting = [id for id, package in packages.items() if package["name"] == "rpcbench"]
    found = set(waiting)
    while waiting:
        for edge in edges[waiting.pop()]:
            is_linked = any(kind["kind"] is None for kind in edge["dep_kinds"])
            if is_linked and edge["pkg"] not in found:
                found.add(edge["pkg"])
                waiting.append(edge["pkg"])
    linked = [packages[id] for id in found if packages[id]["source"]]
    return sorted(linked, key=lambda package: (package["name"], package["version"]))


def licences(package: dict) -> list[str]:
    """One allowed licence for each part of the package's licence expression."""
    chosen = []
    for part in re.split(r"\s+AND\s+", (package["license"] or "").replace("/", " OR ")):
        offered = [name.strip("() ") for name in re.split(r"\s+OR\s+", part)]
        allowed = [name for name in ALLOWED if name in offered]
        if not allowed:
            sys.exit(f"licences.py: {package['name']} {package['version']}: licence {package['license']!r} is not allowed")
        chosen.append(allowed[0])
    return chosen


def text_of(package: dict, licence: str) -> str:
    """The text of a licence in the package; without one, its authors."""
    files = [file for file in folder(package).iterdir() if re.match(r"(?i)(licen[cs]e|copying|unlicense)", file.name) and file.is_file()]
    word = licence.split("-")[0].lower()
    named = [file for file in files if word in file.name.lower()]
    plain = [file for file in files if re.fullmatch(r"(?i)(licen[cs]e|copying)(\.(md|txt))?", file.name)]
    choice = sorted(named or plain or files)
    return choice[0].read_text(errors="replace").strip() if choice else "\n".join(package["authors"])


def folder(package: dict) -> Path:
    return Path(package["manifest_path"]).parent


def page() -> str:
    apache, notices, others = [], [], defaultdict(list)
    texts = {}
    for package in libraries():
        name = f"{package['name']} {package['version']}"
        for licence in licences(package):
            if licence == "Apache-2.0":
                apache.append(name)
                notices += [(name, file.read_text(errors="replace").strip()) for file in folder(package).glob("NOTICE*")]
                continue
            text = text_of(package, licence)
            key = (licence, re.sub(r"\s+", " ", text))
            others[key].append(name)
            texts.setdefault(key, text)
    parts = [HEAD, "## Apache-2.0\n", ", ".join(apache) + ".\n", APACHE + "\n"]
    parts += [f"{name}:\n\n```text\n{text}\n```\n" for name, text in notices]
    for key in sorted(others, key=lambda key: (key[0], others[key])):
        parts.append(f"## {key[0]}\n\n{', '.join(others[key])}.\n\n```text\n{texts[key]}\n```\n")
    return "\n".join(parts)


def main() -> None:
    match sys.argv[1:]:
        case []:
            PAGE.write_text(page())
        case ["check"]:
            if not PAGE.exists() or PAGE.read_text() != page():
                sys.exit("THIRD-PARTY.md is not current: run scripts/licences.py and commit the result")
        case [word, *_]:
            sys.exit(f"licences.py: unknown word '{word}'; expected check or nothing")


main()
