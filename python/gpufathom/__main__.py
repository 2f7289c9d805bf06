"""`python -m gpufathom` and the installed command `gpufathom`: the program of this package in place
of Python; `gpufathom mcp` alone stays in Python."""

from __future__ import annotations

import os
import sys

from gpufathom import _places


def main() -> None:
    if sys.argv[1:2] == ["mcp"]:
        from gpufathom import mcp

        return mcp.main(sys.argv[2:])
    try:
        program = _places.program()
    except FileNotFoundError as error:
        sys.exit(f"gpufathom: {error}")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
