"""Command-line arguments that choose items of a list by name."""

import argparse
from collections.abc import Sequence
from typing import Any


def parse_names(kind: str, known: Sequence[Any], text: str) -> list[Any]:
    """The items of `known` that `text` names, separated by commas, in its order."""
    by_name = {item.name: item for item in known}
    names = text.split(",")
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown {kind} '{unknown[0]}'; expected one of {', '.join(by_name)}")
    return [by_name[name] for name in names]
