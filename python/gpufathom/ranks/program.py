"""The gpufathom program, which reads the captures."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess


REFUSED = 3  # exit code of the program for incomplete captures


class Failure(Exception):
    """The program's message, with the file it is about."""


class Incomplete(Failure):
    """Captures are incomplete or missing; allow_incomplete continues with those that exist."""


def _of_package() -> str | None:
    try:
        from gpufathom import _places

        return _places.program()
    except (ImportError, FileNotFoundError):
        return None


def find_program() -> str:
    """GPUFATHOM, the program that the package brings, or that of the PATH."""
    for candidate in (os.environ.get("GPUFATHOM"), _of_package(), shutil.which("gpufathom")):
        if candidate and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return candidate
    raise Failure("the program gpufathom was not found: set GPUFATHOM to its path, or add its folder to PATH")


def run(*arguments: object, threads: int | None = None) -> tuple[bytes, str, int]:
    """Standard output of the program, its complaints, and its exit code."""
    command = [find_program(), *map(str, arguments)]
    if threads:
        command += ["--threads", str(threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    complaint = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode < 0:
        raise Failure(f"{' '.join(command)}: ended by signal {-done.returncode}")
    return done.stdout, complaint, done.returncode


def version() -> str:
    """Asked of a program once: it may be another one only when its file is."""
    path = find_program()
    about = os.stat(path)
    return _version_of(path, about.st_ino, about.st_size, about.st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _version_of(path: str, inode: int, size: int, changed_ns: int) -> str:
    done = subprocess.run([path, "--version"], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().strip()
