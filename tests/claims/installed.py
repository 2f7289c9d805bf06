#!/usr/bin/env python3
"""An installed copy, away from its sources, answers and draws: installed.py BUILD

Installs the build into a folder, copies inputs beside it and asks there: a trace with its counter
report, a profile, a recording, the points of a board, and nothing at all. Each must judge
statements, have figures, and have the tables that ship beside its own rows.
"""
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
# Arguments, statements judged and figures drawn at least, of which so many have lines of the tables
# that ship.
CASES = [
    (["date24", "resnet50_amp_eager_b64.json.gz", "--counters", "resnet50_amp_eager_b64.ncu.csv.gz"], 14, 5, 5),
    (["dsd22", "lenet5_async_b1"], 2, 8, 7),
    (["asap24", "resnet50_fp32_b512_energy.gpf.gz"], 3, 2, 2),
    (["asap24", "board.points.jsonl"], 1, 3, 3),
    (["date24"], 27, 7, 7), (["dsd22"], 11, 7, 7), (["asap24"], 18, 8, 8), (["itu23"], 11, 6, 6),
]


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        prefix, away = Path(folder) / "prefix", Path(folder) / "away"
        away.mkdir()
        subprocess.run(["cmake", "--install", sys.argv[1], "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        for name in ("resnet50_amp_eager_b64.json.gz", "resnet50_amp_eager_b64.ncu.csv.gz",
                     "resnet50_fp32_b512_energy.gpf.gz"):
            shutil.copy(EXAMPLES / name, away)
        subprocess.run(["tar", "xzf", EXAMPLES / "tf_lenet_eager.tgz", "-C", away], check=True)
        with gzip.open(ROOT / "docs/results/energy/h200-2026-11-21e.points.jsonl.gz") as packed:
            (away / "board.points.jsonl").write_bytes(packed.read())
        for words, judged, drawn, beside in CASES:
            # The recording says that samples are missing in it, and ends with 1.
            run = subprocess.run([prefix / "bin/gpufathom", "reproduce", *words, "--json"],
                                 cwd=away, capture_output=True, text=True)
            answer = json.loads(run.stdout)
            lines = [{line["from"] for panel in figure["panels"] for line in panel["lines"]}
                     for figure in answer["figures"]]
            found = (sum(claim["verdict"] != "not_measured" for claim in answer["claims"]),
                     len(lines), sum("ours" in each for each in lines))
            page = subprocess.run([prefix / "bin/gpufathom", "reproduce", *words, "-o",
                                   "page.html"], cwd=away, capture_output=True, text=True)
            whole = (away / "page.html").read_text(encoding="utf-8").endswith("</html>\n")
            fewer = any(has < least for has, least in zip(found, (judged, drawn, beside)))
            if fewer or not whole or page.returncode != run.returncode or not all("`" in claim["needs"] for claim in answer["claims"]):
                wrong += 1
                print(*words, "judged, drawn, beside:", *found, "of", judged, drawn, beside,
                      run.stderr, page.stderr)
            (away / "page.html").unlink(missing_ok=True)
    print(f"{len(CASES)} questions, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
