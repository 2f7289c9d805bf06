"""Where the program, its library and the energy models lie: in the installed package, else in the
build of a checkout."""

from __future__ import annotations

import os
import pathlib

_PACKAGE = pathlib.Path(__file__).resolve().parent


def _first(*places: pathlib.Path) -> str | None:
    return next((str(place) for place in places if place.exists()), None)


def _build() -> pathlib.Path:
    """GPUFATHOM_BUILD names another folder than build/ of the checkout that the package lies in."""
    return pathlib.Path(os.environ.get("GPUFATHOM_BUILD") or _PACKAGE.parents[1] / "build")


def program() -> str:
    """Path of the command-line program."""
    found = _first(
        _PACKAGE / "_native/bin/gpufathom",
        _build() / "gpufathom",
        pathlib.Path("/usr/bin/gpufathom"),
    )
    if found is None:
        raise FileNotFoundError(
            "gpufathom's program is not in this package: install the wheel or the .deb, or build the "
            "checkout with ./dev build"
        )
    return found


def library() -> str:
    """Path of libgpufathom.so."""
    found = _first(_PACKAGE / "_native/lib/libgpufathom.so", _build() / "libgpufathom.so")
    return found or "libgpufathom.so.0"


def energy_model(product: str) -> str | None:
    """The shipped energy model of a GPU, if there is one."""
    name = "-".join(product.split()) + ".energy.json"
    folders = (
        _PACKAGE / "_native/share/gpufathom/energy",
        _build().parent / "share/energy",
        pathlib.Path("/usr/share/gpufathom/energy"),
    )
    return _first(*(folder / name for folder in folders))
