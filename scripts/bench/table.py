"""Tables as text and as Markdown."""

from collections.abc import Iterable


def table(titles: list[str], rows: Iterable[list[str]], numbers: range, markdown: bool) -> str:
    """A table with the columns in `numbers` aligned right; empty without rows."""
    body = [titles, *rows]
    if len(body) == 1:
        return ""
    widths = [max(map(len, column)) for column in zip(*body)]

    def line(cells: list[str]) -> str:
        aligned = [cell.rjust(width) if at in numbers else cell.ljust(width) for at, (cell, width) in enumerate(zip(cells, widths))]
        return f"| {' | '.join(aligned)} |" if markdown else "  ".join(aligned).rstrip()

    lines = [line(cells) for cells in body]
    if markdown:
        lines.insert(1, "|" + "|".join("-" * (width + 1) + (":" if at in numbers else "-") for at, width in enumerate(widths)) + "|")
    return "\n".join(lines) + "\n"
