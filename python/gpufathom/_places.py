"""Finds the program and its library: in the wheel's package, where `cmake --install` put
them, or in the build of a checkout."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import sys

# This Python reads Parquet, Arrow and HDF5 for the program, since it is the one whose packages the
# user chose.
if sys.executable:
    os.environ.setdefault("GPUFATHOM_PYTHON", sys.executable)

_PACKAGE = pathlib.Path(__file__).resolve().parent


def _first(*places: pathlib.Path) -> str | None:
    return next((str(place) for place in places if place.exists()), None)


def _build() -> pathlib.Path:
    """GPUFATHOM_BUILD names another folder than build/ of the checkout that the package lies in."""
    return pathlib.Path(os.environ.get("GPUFATHOM_BUILD") or _PACKAGE.parents[1] / "build")


@functools.lru_cache(maxsize=None)
def _installed(folder: str) -> pathlib.Path:
    """Folder `bin` or `lib` of the prefix, which `cmake --install` noted in the package."""
    note = _PACKAGE / "_installed.json"
    if not note.exists():
        return _PACKAGE / "_native"
    return pathlib.Path(os.path.normpath(_PACKAGE / json.loads(note.read_text())[folder]))


def program() -> str:
    """Path of the command-line program."""
    found = _first(
        _PACKAGE / "_native/bin/gpufathom",
        _installed("bin") / "gpufathom",
        _build() / "gpufathom",
    )
    if found is None:
        raise FileNotFoundError(
            "gpufathom's program is not in this package: install the wheel or the .deb, or build the "
            "checkout with ./dev build"
        )
    return found


def library() -> str:
    """Path of libgpufathom.so."""
    found = _first(
        _PACKAGE / "_native/lib/libgpufathom.so",
        _installed("lib") / "libgpufathom.so.0",
        _build() / "libgpufathom.so",
    )
    return found or "libgpufathom.so.0"
