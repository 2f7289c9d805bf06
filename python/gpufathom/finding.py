"""A finding with the events behind it."""

from __future__ import annotations

import dataclasses
import html
from typing import Any, Callable, Dict, List, Sequence, Tuple

from gpufathom import _decode, results

Row = Dict[str, Any]


class Events:
    """Result of `Finding.show()`: the statements of a finding, each with its first rows. An
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
    _gain_of: str

    @classmethod
    def of(cls, found: results.Finding, ask: Callable[[str], List[Row]], gain_of: str) -> Finding:
        """`ask`: answers one statement; `gain_of`: what a predicted gain is a share of."""
        values = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
        finding = cls(**values)
        object.__setattr__(finding, "_ask", ask)  # it is frozen
        object.__setattr__(finding, "_gain_of", gain_of)
        return finding

    def show(self, rows: int = 10) -> Events:
        """Its events: the first `rows` rows of each of its `queries`."""
        return Events(self, [(sql, self._ask(sql)[:rows]) for sql in self.queries])

    def _repr_html_(self) -> str:
        return f"<p>{_decode.finding_html(self, self._gain_of)}</p>"
