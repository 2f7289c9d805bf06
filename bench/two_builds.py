#!/usr/bin/env python3
"""Times of two builds of the program for the same files: two_builds.py BUILD OTHER FILE...
[--rounds 9] [--format text]

Each file is analysed by both in turn, and the medians of processor time are compared: the ratio is
the second build's over the first's; so is peak memory. A build is a folder, or the program itself.
For what another optimisation level costs:
  cmake --preset release -B build-o2 -DGPUFATHOM_SETTLED_LEVEL=-O2 && ninja -C build-o2 gpufathom
  bench/two_builds.py build-o2 build FILE...
"""
import argparse
import pathlib
import statistics

import spent


def cost(build, file, form):
    """Processor time and peak memory in MB of one analysis."""
    program = pathlib.Path(build) / "gpufathom" if pathlib.Path(build).is_dir() else pathlib.Path(build)
    done = spent.run([program, "analyze", file, "--format", form, "-o", "/dev/null"])
    return done.cpu, done.peak_bytes / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("other")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--format", default="json")
    options = parser.parse_args()
    for file in options.files:
        taken = [cost(options.build, file, options.format) + cost(options.other, file,
                                                                  options.format)
                 for _ in range(options.rounds)]
        first, first_mb, second, second_mb = (statistics.median(each) for each in zip(*taken))
        print(f"{pathlib.Path(file).name}: {first:.2f} s and {second:.2f} s, ratio {second / first:.3f}; {first_mb:.0f} MB and {second_mb:.0f} MB")


if __name__ == "__main__":
    main()
