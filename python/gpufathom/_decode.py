"""Common code of the types of results.py: JSON in, dataclasses out."""

from __future__ import annotations

import dataclasses
import html
from typing import Any, ClassVar, Dict, Iterable, List, Type, TypeVar

Self = TypeVar("Self", bound="Answer")


def table(head: Iterable[Any], rows: Iterable[Iterable[Any]], below: str) -> str:
    """HTML for a notebook; what is not known is an empty cell."""

    def line(tag: str, cells: Iterable[Any]) -> str:
        texts = ("" if cell is None else html.escape(str(cell)) for cell in cells)
        return f"<tr>{''.join(f'<{tag}>{text}</{tag}>' for text in texts)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table>{line('th', head)}{body}</table><p>{html.escape(below)}</p>"


class Rows(List[Any]):
    """A list that shows a row a line, and the first of many."""

    def __getitem__(self, which: Any) -> Any:
        found = super().__getitem__(which)
        return Rows(found) if isinstance(which, slice) else found

    def __repr__(self) -> str:
        shown = [f" {row!r}," for row in self[:12]]
        if len(self) > len(shown):
            shown.append(f" ... {len(self) - len(shown)} more")
        return "\n".join(["[", *shown, "]"]) if self else "[]"

    def _repr_html_(self) -> str:
        if not self:
            return "<p>0 rows</p>"
        drawn = _DRAWN.get(type(self[0]).__name__)
        if drawn is not None:
            return str(drawn(self))
        names = [field.name for field in dataclasses.fields(self[0])]
        cells = ([_short(getattr(row, name)) for name in names] for row in self[:20])
        return table(names, cells, f"{len(self)} rows")


def level_text(level: Any) -> str:
    """A level as the command line prints it: a share, bounds, or an estimate after "~"."""
    low, high = level.low, level.high
    if level.value is None and not (level.estimated and low is not None and high is not None):
        return "no data"
    if level.estimated:
        return f"~{low:.0%} to {high:.0%}"
    if low is not None and high is not None and high - low >= 0.0005:
        return f"{low:.1%} to {high:.1%}"
    return f"{level.value:.1%}"


def _levels(rows: Iterable[Any]) -> str:
    """Levels with a bar each: what is known, and lighter what may be."""

    def bar(level: Any) -> str:
        known = level.value if level.value is not None else (level.low or 0)
        most = max(known, level.high or 0)
        return (
            '<div style="width:16em;background:#8882">'
            f'<div style="width:{min(most, 1):.1%};background:#4a90d977">'
            f'<div style="width:{known / most if most else 0:.1%};background:#4a90d9">&nbsp;'
            "</div></div></div>"
        )

    lines = "".join(
        f"<tr><td>{html.escape(level.id)}</td><td>{bar(level)}</td>"
        f'<td style="text-align:right">{html.escape(level_text(level))}</td></tr>'
        for level in rows
        if level.unit == "ratio"
    )
    return f"<table>{lines}</table>"


def finding_html(finding: Any, of: str) -> str:
    """A finding as a paragraph; `of`: what its gain is a share of."""
    gain = "" if finding.replayed is None else f"predicted gain {finding.replayed:.0%} of {of}"
    parts = (
        f"<b>{html.escape(finding.rule or finding.id)}</b>",
        html.escape(finding.text),
        f"<small>{html.escape(finding.evidence)}</small>" if finding.evidence else "",
        gain,
    )
    return "<br>".join(part for part in parts if part)


def _findings(rows: Iterable[Any]) -> str:
    items = "".join(
        f"<li>{finding_html(finding, getattr(finding, '_gain_of', 'the run'))}</li>"
        for finding in rows
    )
    return f"<ol>{items}</ol>"


# Functions that draw rows of a type in notebooks, by its name.
_DRAWN = {"Level": _levels, "Finding": _findings}


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return f"[{len(value)}]"
    if isinstance(value, Answer):
        return f"{type(value).__name__}(...)"
    return f"{value:.4g}" if isinstance(value, float) else value


class Answer:
    """A part of an answer. `to_dict` gives the JSON's names and values back."""

    _nested: ClassVar[Dict[str, Type[Answer]]] = {}

    def __init_subclass__(cls) -> None:
        # Where a class has one of its own, dataclass writes none, which would print whole answers.
        if "__repr__" not in vars(cls):
            cls.__repr__ = Answer._line  # type: ignore[assignment,method-assign]

    def _line(self) -> str:
        """The known fields on one line, with the number of parts."""
        told = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is None or value == "" or value == []:
                continue
            short = repr(value) if isinstance(value, str) else _short(value)
            told.append(f"{field.name}={short}")
        text = f"{type(self).__name__}({', '.join(told)})"
        return text if len(text) <= 120 else f"{text[:116]}...)"

    @classmethod
    def from_dict(cls: Type[Self], data: dict[str, Any]) -> Self:
        """Keys that a newer program has added are left out."""
        values = {}
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            value, part = data.get(field.name), cls._nested.get(field.name)
            if part is not None and isinstance(value, list):
                value = Rows(part.from_dict(each) for each in value)
            elif part is not None and value is not None:
                value = part.from_dict(value)
            values[field.name] = value
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]
