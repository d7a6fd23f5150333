"""Arguments that are names of a list, separated by commas."""

import argparse
from collections.abc import Sequence
from typing import Any


def chosen(kind: str, known: Sequence[Any], text: str) -> list[Any]:
    """Those of `known`, which have a name, that `text` names, in its order."""
    named = {item.name: item for item in known}
    unknown = [name for name in text.split(",") if name not in named]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown {kind} '{unknown[0]}'; expected one of {', '.join(named)}")
    return [named[name] for name in text.split(",")]
