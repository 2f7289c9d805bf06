#!/usr/bin/env python3
"""Prints the software bill of materials of a release as CycloneDX 1.5: what the program and its
libraries are linked from.

    tools/sbom.py > build/gpufathom-VERSION.cdx.json

Versions are those of the Debian packages on this machine, which a build takes. Nothing else is
inside: the page has no run-time dependency, and the Python package needs none.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Debian package, what is inside the program (a library, or headers), its license.
PARTS = (
    ("libsimdjson-dev", "simdjson", "Apache-2.0"),
    ("libisal-dev", "isa-l", "BSD-3-Clause"),
    ("libzstd-dev", "zstd", "BSD-3-Clause"),
    ("zlib1g-dev", "zlib", "Zlib"),
    ("libprotozero-dev", "protozero", "BSD-2-Clause"),
    ("libsqlite3-dev", "sqlite", "blessing"),
    ("libiberty-dev", "libiberty", "LGPL-2.0-or-later"),
    ("libfmt-dev", "fmt", "MIT"),
    ("libcli11-dev", "CLI11", "BSD-3-Clause"),
    ("libexpected-dev", "expected", "CC0-1.0"),
    ("libeigen3-dev", "eigen", "MPL-2.0"),
    ("libboost-dev", "boost", "BSL-1.0"),
)


def installed(package: str) -> str:
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True,
                          text=True, check=False)
    if done.returncode or not done.stdout:
        sys.exit(f"{package} is not installed: ./dev setup")
    return done.stdout


def main() -> None:
    listed = re.search(r"program_packages=\((.*?)\)", (ROOT / "dev").read_text(encoding="utf-8"),
                       re.S)[1].split()
    unknown = {name for name in listed if name.startswith("lib")} | {"zlib1g-dev"}
    if lacking := unknown - {package for package, _, _ in PARTS}:
        sys.exit(f"tools/sbom.py does not know {', '.join(sorted(lacking))}, which ./dev builds with")
    version = re.search(r"project\(gpufathom VERSION (\S+)",
                        (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    components = []
    for package, name, license_id in PARTS:
        has = installed(package)
        components.append({
            "type": "library", "bom-ref": f"pkg:deb/debian/{package}@{has}", "name": name, "version": re.sub(r"^\d+:|[-+].*$", "", has),
            "purl": f"pkg:deb/debian/{package}@{has}", "licenses": [{"license": {"id": license_id}}],
        })
    own = {"type": "application", "bom-ref": f"pkg:generic/gpufathom@{version}",
           "name": "gpufathom", "version": version,
           "purl": f"pkg:generic/gpufathom@{version}",
           "licenses": [{"license": {"id": "Apache-2.0"}}]}
    print(json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": own}, "components": components,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [part["bom-ref"] for part in components]}],
    }, indent=1))


if __name__ == "__main__":
    main()
