#!/usr/bin/env python3
"""How long two builds of the program take for the same files: two_builds.py BUILD OTHER FILE... [--rounds 9]

Each file is analysed by both in turn, and the medians of processor time are compared: the ratio is
the second build's over the first's. For what another optimisation level costs:
  cmake --preset release -B build-o2 -DGPUFATHOM_SETTLED_LEVEL=-O2 && ninja -C build-o2 gpufathom
  bench/two_builds.py build-o2 build FILE...
"""
import argparse
import os
import pathlib
import statistics
import subprocess


def seconds(build, file):
    """Processor time of one analysis."""
    before = os.times()
    subprocess.run([pathlib.Path(build) / "gpufathom", "analyze", file, "--format", "json", "-o",
                    "/dev/null"], check=False, stderr=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user
            + after.children_system - before.children_system)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("other")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    for file in options.files:
        taken = [(seconds(options.build, file), seconds(options.other, file))
                 for _ in range(options.rounds)]
        first, second = (statistics.median(each) for each in zip(*taken))
        print(f"{pathlib.Path(file).name}: {first:.2f} s and {second:.2f} s, ratio {second / first:.3f}")


if __name__ == "__main__":
    main()
