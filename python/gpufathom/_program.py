"""Answers of the program that the package holds."""

from __future__ import annotations

import json
import subprocess
import warnings
from typing import Any

from gpufathom import _places
from gpufathom._capi import Error, IncompleteEvidence, Missing


def text(*words: str, allow_incomplete: bool, form: str) -> str:
    done = subprocess.run(
        [_places.program(), *words, "--format", form], capture_output=True, text=True
    )
    said = done.stderr.strip()
    if not done.stdout:
        raise Error(said.removeprefix("gpufathom: ") if hasattr(str, "removeprefix") else said)
    if done.returncode and not allow_incomplete:
        raise IncompleteEvidence(Missing.told(said, ""))
    if said:
        warnings.warn(said, stacklevel=5)  # the answer is not whole
    return done.stdout


def answer(*words: str, allow_incomplete: bool) -> Any:
    return json.loads(text(*words, allow_incomplete=allow_incomplete, form="json"))
