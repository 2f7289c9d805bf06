"""What pip asks to build this folder: it says how the wheel is made. The package holds the program
and its libraries, which ./dev wheel builds and puts into it."""

import sys
from typing import Any


def _refuse(*_: Any, **__: Any) -> None:
    sys.exit(
        "gpufathom: this folder lacks the program that the package holds. Run ./dev wheel in the "
        "folder above, then: pip install build/wheel/gpufathom-*.whl"
    )


get_requires_for_build_wheel = get_requires_for_build_sdist = get_requires_for_build_editable = _refuse
build_wheel = build_sdist = build_editable = _refuse
