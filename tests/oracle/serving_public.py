"""Public traces of serving engines, and of what serves nothing, against what their raw events show (judged by hand before the first answer).
Usage: serving_public.py PROGRAM FOLDER RESULTS. FOLDER has each file as OWNER+NAME/PATH; RESULTS names them with their truth, and gets what
is said. Files that are not there are left as they are. The traces themselves are not in this repository.
"""
import datetime
import hashlib
import json
import pathlib
import subprocess
import sys

FIELDS = ("kind", "requests", "tokens", "decodes", "graph")


def said_of(program, path):
    done = subprocess.run([program, "analyze", str(path), "--format", "json"], capture_output=True, text=True)
    if not done.stdout:
        return {"error": done.stderr.strip()}
    analysis = json.loads(done.stdout)
    serving = analysis["serving"]
    if not serving:
        return {"serves": False}
    steps = serving["steps"]
    return {"serves": True, "steps": len(steps), "generated": serving["generated"], "between_p50_ms":
            serving["between_p50_ns"] and round(serving["between_p50_ns"] / 1e6, 2), "source": serving["source"],
            **{field: sorted({step[field] for step in steps}, key=str) for field in FIELDS}}


def is_right(truth, said):
    """What is said is true; what the events show is said."""
    if truth["serves"] != said.get("serves"):
        return False
    return all(said.get(key) == value for key, value in truth.items() if key not in ("serves", "by"))


def main(program, folder, results):
    book = json.loads(pathlib.Path(results).read_text())
    wrong = 0
    for entry in book["results"]:
        path = pathlib.Path(folder) / entry["repository"].replace("/", "+") / entry["path"]
        if not path.exists():
            continue
        if hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
            sys.exit(f"{path} is another file")
        entry["said"] = said_of(program, path)
        entry["verdict"] = "right" if is_right(entry["truth"], entry["said"]) else "wrong"
        wrong += entry["verdict"] == "wrong"
        print(entry["verdict"], path.name, entry["said"])
    book["date"] = str(datetime.date.today())
    book["files"], book["right"] = len(book["results"]), sum(entry["verdict"] == "right" for entry in book["results"])
    pathlib.Path(results).write_text(json.dumps(book, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
