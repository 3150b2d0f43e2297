"""Tables for notebooks."""

from __future__ import annotations

import html
from typing import Any, Iterable, Mapping


def facts(told: Mapping[str, Any]) -> str:
    """A table of what is told, without what is None or empty."""
    rows = (
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
        for name, value in told.items()
        if value is not None and value != ""
    )
    return f"<table>{''.join(rows)}</table>"


def table(names: Iterable[str], rows: Iterable[Iterable[Any]], more: str = "") -> str:
    """A table with a head; ``more`` stands below it."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows
    )
    below = f"<p>{html.escape(more)}</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
