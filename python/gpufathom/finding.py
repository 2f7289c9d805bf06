"""A finding with the events behind it."""

from __future__ import annotations

import dataclasses
import html
from typing import Any, Callable, Dict, List, Sequence, Tuple

from gpufathom import _decode, results

Row = Dict[str, Any]


class Events:
    """What `Finding.show()` gives: the statements of a finding, each with its first rows. An
    interpreter prints them, a notebook draws a table of each."""

    def __init__(self, finding: results.Finding, answers: Sequence[Tuple[str, List[Row]]]) -> None:
        self.finding = finding
        self.answers = list(answers)

    def __repr__(self) -> str:
        lines = [self.finding.text, self.finding.evidence]
        for sql, rows in self.answers:
            lines += ["", sql, *(", ".join(f"{k}={v}" for k, v in row.items()) for row in rows)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown = [f"<p>{html.escape(self.finding.text)}</p>"]
        for sql, rows in self.answers:
            head = list(rows[0]) if rows else ["no rows"]
            shown.append(_decode.table(head, (list(row.values()) for row in rows), sql))
        return "".join(shown)


class Finding(results.Finding):
    """A `results.Finding` of an opened capture."""

    _ask: Callable[[str], List[Row]]

    @classmethod
    def of(cls, found: results.Finding, ask: Callable[[str], List[Row]]) -> Finding:
        """`ask`: answers one statement."""
        values = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
        finding = cls(**values)
        object.__setattr__(finding, "_ask", ask)  # it is frozen
        return finding

    def show(self, rows: int = 10) -> Events:
        """Its events: the first `rows` rows of each of its `queries`."""
        return Events(self, [(sql, self._ask(sql)[:rows]) for sql in self.queries])

    def _repr_html_(self) -> str:
        gain = "" if self.replayed is None else f"predicted gain {self.replayed:.0%} of a step"
        parts = (f"<b>{html.escape(self.rule or self.id)}</b>", html.escape(self.text), gain)
        return f"<p>{'<br>'.join(part for part in parts if part)}</p>"
