"""The build backend of `pip install .`: the wheel comes from ./dev wheel, which compiles the
program that the package holds. Nothing is installed outside of .cache: missing packages of the system are named."""

import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any, List

_ROOT = pathlib.Path(__file__).resolve().parent.parent


def build_wheel(folder: str, *_: Any, **__: Any) -> str:
    done = subprocess.run(
        [str(_ROOT / "dev"), "wheel"],
        cwd=_ROOT,
        env={**os.environ, "GPUFATHOM_NO_PACKAGES": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        sys.exit("gpufathom: the program could not be built; what is missing stands above. "
                 "./dev wheel installs it on Debian 12.")
    wheel = pathlib.Path(done.stdout.split()[-1])
    shutil.copy(_ROOT / wheel, folder)
    return wheel.name


def get_requires_for_build_wheel(*_: Any, **__: Any) -> List[str]:
    return []


def _refuse(*_: Any, **__: Any) -> None:
    sys.exit("gpufathom: the package holds a compiled program: pip install . (without -e), or "
             "./dev build and PYTHONPATH=python for work on the package itself")


get_requires_for_build_sdist = get_requires_for_build_editable = _refuse
build_sdist = build_editable = _refuse
