#!/usr/bin/env python3
"""Holds the state of the repository: what is committed must be small, free of one machine's paths,
also inside archives and captures, and finished; metrics are named by checked ids, and no constant
hides another.

Prints every violation as FILE:LINE and exits 1 when there is one. Long source files are reported,
not refused.
"""
import bz2
import gzip
import io
import lzma
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile
import zlib

import check_constants
import check_metric_ids

MAX_BYTES = 2_000_000
LONG_LINES = 400
SOURCES = {".cpp", ".h", ".ts", ".py", ".sh"}
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w./$}-])/(?:home|root|Users|work|mnt)/\w"),
    "an unfinished mark": re.compile(r"\b(?:TODO|FIXME|XXX)\b"),
    # No index has it: whoever registers the name runs code where this is followed.
    "this package installed by its name": re.compile(r"pip3? install\b[^#\n]*[ '\"`]gpufathom(?![\w./-])"),
}
# Inside archives and binary files any byte may stand before a path. /home/user is nobody's:
# recordings are rewritten to it.
PACKED_PATH = re.compile(rb"/(?:home/(?!user/)|root/|Users/|work/|mnt/)\w[\w./-]{,80}")
PACKED = {b"\x1f\x8b": gzip.decompress, b"\xfd7zXZ\0": lzma.decompress, b"BZh": bz2.decompress}
# Captures, expected output and the tests of these tools quote what is not allowed elsewhere.
# A golden case must not print the path where it ran itself: $EXAMPLES is such a path.
WHERE_IT_RAN = {"the path of where the case ran": re.compile(r"/\S+/tests/golden/\.\.")}
QUOTES_OTHERS = re.compile(r"^(?:examples/|tests/golden/|tests/tools/|tools/check_repository\.py$|LICENSE$|web/package-lock\.json$)")


def tracked(root: pathlib.Path) -> list[str]:
    return subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True,
                          text=True).stdout.split("\0")[:-1]


def unpacked(name: str, data: bytes):
    """The members of an archive, however deep, as (name, bytes); any other file is itself."""
    if decompress := next((each for magic, each in PACKED.items() if data.startswith(magic)), None):
        yield from unpacked(name, decompress(data))
    elif data.startswith(b"\x28\xb5\x2f\xfd"):
        raise OSError("Python reads no zstd; gzip or xz it")
    elif data.startswith(b"PK\3\4"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                yield from unpacked(f"{name}, {member}", archive.read(member))
    elif data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in filter(tarfile.TarInfo.isfile, archive):
                yield from unpacked(f"{name}, {member.name}", archive.extractfile(member).read())
    else:
        yield name, data


def paths_inside(name: str, data: bytes):
    """Paths of one machine in a binary file, once each; a capture file is SQLite, whose texts are
    plain bytes."""
    try:
        parts = list(unpacked(name, data))
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError,
            zlib.error) as error:
        yield f"{name}: an archive that cannot be looked into: {error}"
        return
    for part, content in parts:
        for path in sorted(set(PACKED_PATH.findall(part.removeprefix(name).encode() + b"\0"
                                                   + content))):
            yield f"{part}: a path of one machine: {path.decode('ascii', 'replace')}"


def violations(name: str, data: bytes):
    if len(data) > MAX_BYTES:
        yield f"{name}: {len(data)} bytes; what is committed stays below {MAX_BYTES}"
    if b"\0" in data[:4096] or data.startswith(tuple(PACKED)):
        yield from paths_inside(name, data)
        return
    patterns = FORBIDDEN
    if QUOTES_OTHERS.match(name):
        patterns = WHERE_IT_RAN if name.startswith("tests/golden/") else {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        for what, pattern in patterns.items():
            if pattern.search(line):
                yield f"{name}:{number}: {what}: {line.strip()[:100]}"


PAGE_LINES, PAGE_COLUMNS = 200, 100
GENERATED = ("<!-- Made by `./dev docs`", "<!-- Made by `gpufathom reproduce")


def long_page(name: str, text: str):
    """A page that a person writes is read on one screen after the other; a row of a table cannot be
    broken."""
    lines = text.splitlines()
    if any(made in text for made in GENERATED):
        return
    if len(lines) > PAGE_LINES:
        yield f"{name}: {len(lines)} lines; a page of docs/ has {PAGE_LINES} at most"
    for number, line in enumerate(lines, 1):
        if len(line) > PAGE_COLUMNS and not line.lstrip().startswith(("|", "<!--")):
            yield f"{name}:{number}: {len(line)} columns; a line of docs/ has {PAGE_COLUMNS} at most"


LINK = re.compile(r"(?<!`)\[[^\]]*\]\(([^)\s]+)\)")


def dead_links(root: pathlib.Path, name: str, text: str):
    """Relative links of a page that lead to no file."""
    for number, line in enumerate(text.splitlines(), 1):
        for target in LINK.findall(line):
            path = target.split("#")[0]
            if path and "://" not in path and not path.startswith("mailto:") and not (root / name).parent.joinpath(path).exists():
                yield f"{name}:{number}: a link that leads nowhere: {target}"
            # The site has what is in docs/, and no list of a folder.
            elif path and name.startswith("docs/") and (folder := (root / name).parent / path).is_dir() and (root / "docs") in folder.resolve().parents:
                yield f"{name}:{number}: a link to a folder, which the site cannot show: {target}"


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    found, lengths = [], []
    for name in tracked(root):
        path = root / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        found.extend(violations(name, data))
        if path.suffix == ".md":
            text = data.decode("utf-8", "replace")
            found.extend(dead_links(root, name, text))
            if name.startswith("docs/") or name == "README.md":
                found.extend(long_page(name, text))
        if path.suffix in SOURCES:
            lengths.append((data.count(b"\n"), name))
    found.extend(check_metric_ids.violations(root))
    found.extend(check_constants.violations(root))
    lengths.sort()
    if lengths:
        print(f"{len(lengths)} source files: median {lengths[len(lengths) // 2][0]} lines, 90 % below {lengths[len(lengths) * 9 // 10][0] + 1}")
        for lines, name in reversed([x for x in lengths if x[0] > LONG_LINES]):
            print(f"  long: {name}, {lines} lines")
    print("\n".join(found) if found else "repository: small files, no machine's paths, nothing unfinished, metrics by ids that are checked")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
