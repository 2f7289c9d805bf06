"""What the types of results.py share: JSON in, dataclasses out."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Dict, Type, TypeVar

Self = TypeVar("Self", bound="Answer")


class Answer:
    """A part of an answer. `to_dict` gives the JSON's names and values back."""

    _nested: ClassVar[Dict[str, Type[Answer]]] = {}

    @classmethod
    def from_dict(cls: Type[Self], data: dict[str, Any]) -> Self:
        """Keys that a newer program has added are left out."""
        values = {}
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            value, part = data.get(field.name), cls._nested.get(field.name)
            if part is not None and isinstance(value, list):
                value = [part.from_dict(each) for each in value]
            elif part is not None and value is not None:
                value = part.from_dict(value)
            values[field.name] = value
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]
