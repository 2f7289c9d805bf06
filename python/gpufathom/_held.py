"""Files beneath a folder, held by descriptors: what a name means cannot change after it was
checked.

A call's files are opened beneath the root, and shown to the program in a private folder: links to
the descriptors, under the names of the files. No name that somebody could exchange is opened again.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pathlib
import resource
import shutil
import stat
import struct
import tempfile
import time
from typing import Any, BinaryIO, Dict, List, Tuple

MOST_FILES = 4_096  # and folders of a call; each has a descriptor
DEEPEST = 32  # folders in folders

_OPENAT2 = 437  # the same on every architecture
_BENEATH = 0x08 | 0x02  # RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS
_TRIES = 100  # the kernel gives up while folders are being renamed
_SQLITE = b"SQLite format 3\0"
_LOGS = ("-journal", "-wal")


class Outside(Exception):
    """A name that leads out of the root."""


class Unheld(Exception):
    """Reasons why files beneath the root cannot be held."""


class _How(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("flags", "mode", "resolve")]


def _openat2(folder: int, name: str, flags: int) -> int:
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    how = _How(flags | os.O_CLOEXEC, 0, _BENEATH)
    size = ctypes.c_size_t(ctypes.sizeof(how))
    path = os.fsencode(name)
    for _ in range(_TRIES):
        opened = syscall(
            ctypes.c_long(_OPENAT2), ctypes.c_int(folder), path, ctypes.byref(how), size
        )
        if opened >= 0:
            return int(opened)
        if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)


def _step_by_step(folder: int, name: str, flags: int) -> int:
    """Opens a path without openat2: one folder after the other, and no link at all."""
    at = os.dup(folder)
    parts = [part for part in name.split("/") if part not in ("", ".")] or ["."]
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        try:
            if part == "..":
                raise Outside(name)
            # A link is opened itself by O_PATH, so that it can be told from no file.
            there = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            linked = stat.S_ISLNK(os.fstat(there).st_mode)
            if linked:
                os.close(there)
                raise Outside(name)
            if last and not flags & os.O_PATH:
                os.close(there)
                there = os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
        finally:
            os.close(at)
        at = there
    return at


def _has_openat2(folder: int) -> bool:
    try:
        os.close(_openat2(folder, ".", os.O_PATH))
    except OSError:  # ENOSYS, or EPERM by a filter of system calls
        return False
    return True


class Root:
    """A folder that is held by its descriptor, not by its name."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.name = pathlib.Path(os.path.abspath(folder.expanduser()))
        self._real = self.name.resolve()
        self._fd = os.open(self.name, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._beneath = _openat2 if _has_openat2(self._fd) else _step_by_step
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2 * MOST_FILES if most == resource.RLIM_INFINITY else min(most, 2 * MOST_FILES)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))

    def __str__(self) -> str:
        return str(self.name)

    def inside(self, path: str) -> str:
        """The name from the root on; by names alone, the descriptor decides. Raises Outside."""
        asked = pathlib.Path(os.path.abspath(os.path.expanduser(path)))
        for seen in (asked, asked.resolve()):
            for root in (self.name, self._real):
                if root in (seen, *seen.parents):
                    return str(seen.relative_to(root))
        raise Outside(path)

    def open(self, name: str, flags: int = os.O_PATH) -> int:
        """A descriptor of what lies beneath the root. Raises Outside and OSError."""
        try:
            return self._beneath(self._fd, name, flags)
        except OSError as error:
            if error.errno in (errno.EXDEV, errno.ELOOP):
                raise Outside(name) from None
            raise

    def is_link(self, name: str) -> bool:
        """Only told to a walk that must not go in circles: what it opens is beneath the root."""
        parent = self.open(os.path.dirname(name) or ".")
        try:
            status = os.stat(os.path.basename(name), dir_fd=parent, follow_symlinks=False)
        finally:
            os.close(parent)
        return stat.S_ISLNK(status.st_mode)

    def folder_of(self, path: str) -> str:
        """The real path of the folder that a new file would lie in. Raises Outside and OSError."""
        beneath = os.path.dirname(self.inside(path)) or "."
        folder = self.open(beneath, os.O_PATH | os.O_DIRECTORY)
        try:
            return os.readlink(f"/proc/self/fd/{folder}")
        finally:
            os.close(folder)


class Shown:
    """The files of one call as the program finds them: under a root, in a private folder."""

    def __init__(self, root: Root | None) -> None:
        self._root = root
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="gpufathom.")) if root else None
        self._given: Dict[str, str] = {}  # folders of ours, and the caller's for them
        self.descriptors: List[int] = []
        self.stamps: List[Tuple[int, ...]] = []  # what tells whether a file changed

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *_: Any) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, path: str) -> str:
        """The name under which the program finds it. Raises Outside, Unheld and OSError."""
        if not self._root or not self._folder:
            found = pathlib.Path(path).expanduser().resolve(strict=True)
            self._stamp(found.stat())
            return str(found)
        beneath = self._root.inside(path)
        name = os.path.basename(os.path.normpath(path))
        if name in ("", ".", "..", "~"):
            name = os.path.basename(os.path.normpath(self._root.name / beneath)) or "root"
        folder = self._folder / str(len(self._given))
        folder.mkdir()
        self._given[f"{folder}/"] = os.path.join(os.path.dirname(os.path.normpath(path)), "")
        descriptor = self._hold(beneath)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            self._add_folder(beneath, folder / name, DEEPEST)
            return str(folder / name)
        self._add_file(descriptor, folder / name)
        for log in _LOGS:
            with contextlib.suppress(Outside, OSError):
                self._add_file(self._hold(beneath + log), folder / (name + log))
        return str(folder / name)

    def as_given(self, text: str, json_text: bool = False) -> str:
        """The program's output, with the caller's names."""
        for ours, given in self._given.items():
            text = text.replace(ours, json.dumps(given)[1:-1] if json_text else given)
        return text

    def _stamp(self, status: os.stat_result) -> None:
        self.stamps.append((status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size))

    def _hold(self, beneath: str) -> int:
        if len(self.descriptors) > MOST_FILES:
            raise Unheld(f"the folder has more than {MOST_FILES} files: name fewer")
        assert self._root
        descriptor = self._root.open(beneath)
        self.descriptors.append(descriptor)
        self._stamp(os.fstat(descriptor))
        return descriptor

    def _add_folder(self, beneath: str, to: pathlib.Path, deeper: int) -> None:
        assert self._root
        to.mkdir()
        folder = self._root.open(beneath, os.O_RDONLY | os.O_DIRECTORY)
        try:
            names = sorted(os.listdir(folder))
        finally:
            os.close(folder)
        for name in names:
            inner = os.path.join(beneath, name)
            try:
                descriptor = self._hold(inner)
            except (Outside, FileNotFoundError, PermissionError):
                continue  # a link that leads out or nowhere is no file of this folder
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                self._add_file(descriptor, to / name)
            elif deeper and not self._root.is_link(inner):
                self._add_folder(inner, to / name, deeper - 1)

    def _add_file(self, descriptor: int, to: pathlib.Path) -> None:
        """A link to the descriptor. SQLite opens what a link leads to by its name: it gets a
        copy."""
        held = f"/proc/self/fd/{descriptor}"
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            with contextlib.suppress(PermissionError), open(held, "rb") as file:
                if to.name.endswith(_LOGS) or file.read(len(_SQLITE)) == _SQLITE:
                    _copy(file, to)
                    return
        to.symlink_to(held)


def _copy(file: BinaryIO, to: pathlib.Path) -> None:
    size = os.fstat(file.fileno()).st_size
    if size > shutil.disk_usage(to.parent).free:
        raise Unheld(f"{to.name} needs {size} free bytes in {tempfile.gettempdir()}: set TMPDIR")
    # The lock of SQLite's readers, so that nobody commits into a half-made copy.
    lock = struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, 0x40000002, 510, 0)
    for again in range(_TRIES, -1, -1):
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
            break
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                break  # a file system without locks
            if not again:
                raise Unheld(f"{to.name} is being written: ask again later") from None
            time.sleep(0.05)
    done = 0
    with open(to, "xb") as copy:
        while done < size:
            sent = os.sendfile(copy.fileno(), file.fileno(), done, size - done)
            if not sent:
                break
            done += sent
