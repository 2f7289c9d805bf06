#!/usr/bin/env python3
"""Holds that every place that writes the version writes that of CMakeLists.txt, which the C++ code takes from there.

Prints every other one as FILE and exits 1 when there is one.
"""
import pathlib
import re
import sys

PLACES = {
    "web/package.json": r'"version": "([^"]+)"',
    "web/package-lock.json": r'\A\{\s*"name": "[^"]+",\s*"version": "([^"]+)"',
    "share/kubernetes/chart/Chart.yaml": r'appVersion: (\S+)',
    "share/kubernetes/chart/values.yaml": r'-t REGISTRY/gpufathom:(\S+)',
    "python/gpufathom/__init__.py": r'__version__ = "([^"]+)"',
    "share/kubernetes/monitor.yaml": r"image: gpufathom:(\S+)",
    "share/oci/Containerfile": r"-t gpufathom:(\S+)",
    "CITATION.cff": r"\nversion: (\S+)",
}


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    version = re.search(r"project\(gpufathom VERSION (\S+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    wrong = []
    for name, pattern in PLACES.items():
        found = re.search(pattern, (root / name).read_text(encoding="utf-8"))
        if not found or found[1] != version:
            wrong.append(f"{name}: {found[1] if found else 'no version'}, CMakeLists.txt has {version}")
    print("\n".join(wrong) if wrong else f"version: {version} everywhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
