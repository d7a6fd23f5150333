#!/usr/bin/env python3
"""Lists the tests that could not run on this machine, with the reason, from the test runner's JUnit file.

usage: skipped.py JUNIT.xml

With CI=true it fails on a test that .config/skips.txt does not list: a tool or permission that CI lacks must not go unnoticed.
"""

import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

MARK = "SKIPPED: "
ALLOWED = Path(__file__).parent.parent / ".config" / "skips.txt"


def skips(junit: str) -> list[tuple[str, str]]:
    """Test and reason of each line that begins with the mark, without duplicates."""
    found: dict[tuple[str, str], None] = {}
    for case in ElementTree.parse(junit).iter("testcase"):
        lines = "\n".join(case.itertext()).splitlines()
        for line in lines:
            if line.startswith(MARK):
                found[case.get("name", ""), line.removeprefix(MARK)] = None
    return list(found)


def allowed() -> set[str]:
    """The tests that .config/skips.txt lists: the first word of each line."""
    lines = (line.split("#")[0].split() for line in ALLOWED.read_text().splitlines())
    return {words[0] for words in lines if words}


def main() -> int:
    found = skips(sys.argv[1])
    for test, reason in found:
        print(f"could not run here: {test}: {reason}")
    unexpected = sorted({test for test, _ in found} - allowed())
    if not unexpected or os.environ.get("CI") != "true":
        return 0
    print(f"{ALLOWED.name} does not list {', '.join(unexpected)}: install what is missing, or add a line", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
