#!/usr/bin/env python3
"""A court for advice: runs gpufathom on every capture that has a verdict, and counts what it says right, wrong, and not at all.

    court.py GPUFATHOM [--show] [--write docs/lab/advice.md]

Verdicts: verdicts.json (all captures) and programs/verdicts.json (what was planted in programs of our own). Captures that are not
there (the large corpus at $GPUFATHOM_CORPUS, other people's traces at $GPUFATHOM_FETCHED) are left out and counted. Ends with 1
below the shares in thresholds.json.
"""
import argparse
import collections
import gzip
import hashlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CAPTURES = HERE / "captures"
VERDICTS = json.loads((HERE / "verdicts.json").read_text())
PROGRAMS = json.loads((HERE / "programs" / "verdicts.json").read_text())
CAUSES = json.loads((HERE / "programs" / "causes.json").read_text())
FIELDS = json.loads((HERE / "programs" / "fields.json").read_text())
FIELDS_VERDICTS = json.loads((HERE / "fields_verdicts.json").read_text())["captures"]
SAME = VERDICTS["same"]
LOSSES, CAVEATS = set(VERDICTS["losses"]), set(VERDICTS["caveats"])
BEGIN, END = "<!-- court: written by tests/advice/court.py -->", "<!-- court end -->"


# The claims of a loss that the headline names, by the findings that say the same.
CLAIMS = {
    "idle, launch-bound": {"launch_bound", "small_batch", "tiny_kernels", "unbatched_loop"},
    "idle, other host work": {"host_bound", "launch_bound", "cpu_operators", "gpu_idle"},
    "idle, input pipeline": {"input_bound"},
    "idle, memory allocation": {"device_allocations"},
    "idle, host synchronization": {"sync_in_step"},
    "idle, blocking copies": {"blocking_copies"},
    "memory copies only": {"blocking_copies"},
    "exposed communication": {"exposed_communication"},
    "idle time": {"gpu_idle"},
    "idle SMs": {"sms_without_work", "small_grids"},
    "stalled": {"waiting_warps", "memory_bound"},
}
OF_THE_HOST = {"launch_bound", "input_bound", "sync_in_step", "host_bound", "cpu_operators", "blocking_copies", "exposed_communication"}


def set_truth(name):
    """The faults planted in the programs of a set (programs/NAME.json)."""
    return json.loads((HERE / "programs" / f"{name}.json").read_text())


def set_verdicts(name):
    """The truth about each capture of a set, from raw events."""
    return json.loads((HERE / "programs" / f"{name}_verdicts.json").read_text())["captures"]


class Score:
    def __init__(self):
        self.rules = collections.defaultdict(collections.Counter)
        self.unjudged = collections.Counter()
        self.captures, self.absent, self.refused, self.crashed = 0, [], [], []
        self.public = 0  # captures of other people that are on this machine
        self.false_first = []  # a false loss among the first two
        self.planted, self.alarms, self.gains = [], [], []
        self.first = []  # of the programs of causes.json: whether the first thing said names the cause
        self.fields = []  # the same of fields.json
        self.headlines = collections.Counter()  # true, false, and those that name no cause though there is one
        self.remarks = []

    def total(self, kind):
        return sum(counts[kind] for counts in self.rules.values())


def root_of(name):
    if name == "examples":
        return ROOT / "examples"
    where = os.environ.get({"corpus": "GPUFATHOM_CORPUS", "fetched": "GPUFATHOM_FETCHED"}[name])
    return pathlib.Path(where) if where else None


def located(file):
    """The capture's path, or None when it is not on this machine."""
    root = root_of(file["root"])
    path = root / file["path"] if root else None
    if path is None or not path.exists():
        return None
    if "sha256" in file and hashlib.sha256(path.read_bytes()).hexdigest() != file["sha256"]:
        return None
    return path


class Crash(Exception):
    """An end that is no answer and no refusal: a signal, or nothing said."""


def answer(program, path, counters=None):
    """The analysis as JSON, or None with a complaint. Capture files are unpacked first."""
    with tempfile.TemporaryDirectory() as folder:
        if path.name.endswith((".gpf.gz", ".pb.gz")):
            plain = pathlib.Path(folder) / path.name[:-3]
            plain.write_bytes(gzip.decompress(path.read_bytes()))
            path = plain
        command = [program, "analyze", str(path), "--format", "json"]
        if counters:
            command += ["--counters", str(counters)]
        done = subprocess.run(command, capture_output=True, text=True)
        # A refusal ends with 1 and says why; by a shell a signal is 128 and its number.
        if done.returncode not in (0, 1):
            raise Crash(f"ended with {done.returncode}")
        try:
            return json.loads(done.stdout), ""
        except json.JSONDecodeError:
            if done.stdout.strip() or not done.stderr.strip():
                raise Crash("no answer and no reason") from None
            return None, done.stderr.strip()


def answered(score, name, *asked):
    """answer(), or None where there is none to judge: refusals and crashes are counted."""
    try:
        analysis, complaint = answer(*asked)
    except Crash as crash:
        score.crashed.append(name)
        score.remarks.append(f"{name}: crashed: {crash}")
        return None, ""
    if analysis is None:
        score.refused.append(name)
    return analysis, complaint


def headline_of(program, path, counters=None):
    """The first text that a reader sees: the paragraph above the recommendations, on one line."""
    with tempfile.TemporaryDirectory() as folder:
        if path.name.endswith((".gpf.gz", ".pb.gz")):
            plain = pathlib.Path(folder) / path.name[:-3]
            plain.write_bytes(gzip.decompress(path.read_bytes()))
            path = plain
        command = [program, "analyze", str(path)] + (["--counters", str(counters)] if counters else [])
        text = subprocess.run(command, capture_output=True, text=True).stdout
    return " ".join(text.split("\n\n")[0].split())


def named(pattern, headline):
    """The loss that a headline names after `pattern`, as verdicts name it, as group 1."""
    return re.search(pattern + r" (.*?), [\d.]+ \w+ \(", re.sub(r"idle time \((.*?)\)", r"idle, \1", headline))


def judge_headline(score, name, headline, verdict):
    """The loss that the headline names must be one of the verdict's; that kernels are the limit, nothing of the host's must say otherwise."""
    loss = named("[Ll]argest loss:", headline)
    allowed = set(verdict["must"]) | set(verdict["fair"])
    kind = "true"
    if loss and loss[1] == "idle, unexplained gap" and "Kernel-bound" not in headline and loss[1] not in verdict.get("headline", []):
        kind = "unnamed"
    elif loss and loss[1] != "idle, unexplained gap" and loss[1] not in verdict.get("headline", []) and not CLAIMS.get(loss[1], set()) & allowed:
        kind = "false"
    elif "Kernel-bound" in headline and OF_THE_HOST & set(verdict["must"]):
        kind = "false"
    elif not loss and "Kernel-bound" not in headline and verdict["must"]:
        kind = "unnamed"
    score.headlines[kind] += 1
    if kind != "true":
        score.remarks.append(f"{name}: headline {kind}: {headline[-200:]}")


def found(analysis):
    return [(SAME.get(f["id"], f["id"]), f) for f in analysis.get("findings", [])]


def judge(score, name, analysis, must, fair, false):
    """Counts every finding of one capture. Returns the losses that were said and are not true."""
    score.captures += 1
    wrong = []
    said = found(analysis)
    for rule, finding in said:
        if rule in CAVEATS:
            kind = "false" if rule in false else "true"
        elif rule in LOSSES:
            kind = "true" if rule in must or rule in fair else "false"
        else:
            score.unjudged[rule] += 1
            continue
        score.rules[rule][kind] += 1
        if kind == "false":
            wrong.append(rule)
            if rule in [first for first, _ in first_losses(analysis)]:
                score.false_first.append(f"{name}: {rule}")
            score.remarks.append(f"{name}: {rule} is false ({false.get(rule, 'not in the verdict')}): {finding['text'][:110]}")
    for rule in must:
        if not set(rule.split("/")) & {r for r, _ in said}:
            score.rules[rule]["missed"] += 1
            score.remarks.append(f"{name}: {rule} is missed")
    return wrong


def judge_captures(program, score):
    for name, verdict in VERDICTS["captures"].items():
        path = located(verdict["file"])
        if path is None:
            score.absent.append(name)
            continue
        score.public += verdict["file"]["root"] == "fetched"
        counters = verdict["file"].get("counters")
        analysis, complaint = answered(score, name, program, path, path.parent / counters if counters else None)
        if analysis is None:
            if verdict["must"] and complaint:
                score.remarks.append(f"{name}: no answer: {complaint[:120]}")
            continue
        judge(score, name, analysis, set(verdict["must"]), set(verdict["fair"]), verdict["false"])
        judge_headline(score, name, headline_of(program, path, path.parent / counters if counters else None), verdict)


def files_of(name):
    return sorted(CAPTURES.glob(f"{name}.json.gz")) + sorted(CAPTURES.glob(f"{name}.rank*.json.gz")) + sorted(CAPTURES.glob(f"{name}.xplane.pb.gz"))


def first_losses(analysis, most=2):
    return [(rule, finding) for rule, finding in found(analysis) if rule not in CAVEATS][:most]


def straggler_named(program, files, rank):
    """The answer of `ranks` for a job with one late rank."""
    done = subprocess.run([program, "ranks", "--allow-incomplete", *map(str, files), "--format", "json"], capture_output=True, text=True)
    try:
        late = json.loads(done.stdout).get("stragglers", [])
    except json.JSONDecodeError:
        return False
    return bool(late) and late[0]["rank"] == rank


def step_of(runs, name):
    """Milliseconds an item without a profiler, of the slowest rank."""
    mine = [r for r in runs if r["program"] == name]
    return max((r["alone"]["median_ms"] / r.get("items", 1) for r in mine), default=None)


def judge_programs(program, score):
    runs = json.loads((CAPTURES / "runs.json").read_text())["runs"] if (CAPTURES / "runs.json").exists() else []
    more = {name: set(rules) for name, rules in VERDICTS["programs"].items()}
    for name in PROGRAMS["healthy"]:
        for path in files_of(name):
            analysis, _ = answered(score, path.name, program, path)
            if analysis is None:
                continue
            wrong = judge(score, path.name, analysis, set(), more.get(name, set()), {})
            score.alarms.append((path.name, wrong))
    for name, fault in PROGRAMS["faults"].items():
        wanted = {SAME.get(rule, rule) for rule in fault["first_or_second"]}
        files = files_of(name)
        if not files:
            continue
        named, predicted = False, None
        for path in files:
            analysis, _ = answered(score, path.name, program, path)
            if analysis is None:
                continue
            judge(score, path.name, analysis, set(), wanted | more.get(name, set()), {})
            top = first_losses(analysis)
            hit = [(rule, finding) for rule, finding in top if rule in wanted]
            named |= bool(hit)
            window = sum(d["span_ns"] for d in analysis["devices"]) or 1
            if hit and hit[0][1].get("gain_ns") is not None:
                predicted = max(predicted or 0, hit[0][1]["gain_ns"] / window)
            if not hit:
                score.remarks.append(f"{path.name}: planted {'/'.join(sorted(wanted))}, said {', '.join(rule for rule, _ in top) or 'nothing'}")
        if "straggler" in wanted:
            named = straggler_named(program, files, fault["where"]["rank"])
        score.planted.append((name, named))
        for path in files_of(name + ".mended"):
            analysis, _ = answered(score, path.name, program, path)
            if analysis is not None:
                judge(score, path.name, analysis, set(), more.get(name + ".mended", set()), {})
        before, after = step_of(runs, name), step_of(runs, name + ".mended")
        if before and after:
            score.gains.append((name, predicted, 1 - after / before))


def judge_causes(program, score):
    """For programs with one planted fault, by its id, the first recommendation; for healthy ones, any that is wrong."""
    for name, fault in CAUSES["faults"].items():
        path = HERE / "causes" / f"{name}.json.gz"
        if not path.exists():
            continue
        analysis, _ = answered(score, name, program, path)
        said = [rule for rule, _ in first_losses(analysis or {"findings": []})]
        score.first.append((name, bool(said) and said[0] in fault["first"]))
        if not score.first[-1][1]:
            score.remarks.append(f"{name}: planted {'/'.join(fault['first'])}, said first {', '.join(said) or 'nothing'}")
    for name, healthy in CAUSES["healthy"].items():
        path = HERE / "causes" / f"{name}.json.gz"
        if path.exists():
            analysis, _ = answered(score, name, program, path)
            said = [rule for rule, _ in first_losses(analysis or {"findings": []}, 100)]
            score.alarms.append((name, [rule for rule in said if rule not in healthy.get("fair", [])]))


def named_by(headline, verdict):
    """Checks that the loss that a headline names is one of the largest, by a verdict that lists these; and the loss.

    Of a capture that is mostly outside its steps the headline also names what is there.
    """
    loss = named("[Ll]argest loss:", headline)
    outside = named("Outside the steps, [^:]*:", headline)
    if loss:
        losses = [loss[1]] + ([outside[1]] if outside else [])
        return bool(set(losses) & set(verdict["headline"])), " and ".join(losses)
    if "Kernel-bound" in headline:
        return verdict["kernel_bound"], "Kernel-bound"
    return not verdict["headline"] and not verdict["must"], "none"


def capture_of(folder, name):
    return next((path for path in (folder / f"{name}.{end}" for end in ("json.gz", "xplane.pb.gz", "gpf.gz")) if path.exists()), None)


def judge_fields(program, score):
    """The programs of fields.json, their mended twins and healthy ones, by the verdicts on their raw events."""
    for name, verdict in FIELDS_VERDICTS.items():
        path = capture_of(HERE / "fields", name)
        analysis, _ = answered(score, name, program, path) if path else (None, "")
        if analysis is None:
            continue
        one_of = {rule for rules in verdict["must"] for rule in rules.split("/")}
        judge(score, name, analysis, set(verdict["must"]), set(verdict["fair"]) | one_of, {})
        right, named = named_by(headline_of(program, path), verdict)
        score.headlines["true" if right else "false"] += 1
        if not right:
            score.remarks.append(f"{name}: headline names {named}, allowed {verdict['headline']}")
        first = FIELDS["faults"].get(name, {}).get("first")
        if first and verdict["must"]:
            said = [rule for rule, _ in first_losses(analysis)]
            score.fields.append((name, bool(said) and said[0] in first))
            if not score.fields[-1][1]:
                score.remarks.append(f"{name}: planted {'/'.join(first)}, said first {', '.join(said) or 'nothing'}")


def judge_set(program, name):
    """The errors on the captures of a set that are in the repository, by verdicts that raw events corrected, and totals."""
    import score_fields  # which stands on this module
    more = json.loads((HERE / "programs" / f"{name}_corrected.json").read_text())["captures"]
    options = argparse.Namespace(program=program, folder=HERE / name)
    verdicts, truth = score_fields.corrected(set_verdicts(name), set_truth(name), more)
    rows, totals = score_fields.scored(options, verdicts, truth, show=lambda line: None)
    return [f"{one}: {line}" for one, row in rows.items() for line in row["wrong"]], totals["all"] | {kind: totals["faults"][kind] for kind in ("causes", "causes_first")}


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "no data"


def report(score):
    """The court's answer as Markdown."""
    lines = [f"{score.captures} captures judged ({len(score.refused)} without device work were rightly refused; {len(score.crashed)} crashed; {len(score.absent)} were not on the machine).", "",
             "| rule | correct | wrong | missed |", "|---|--:|--:|--:|"]
    for rule in sorted(score.rules, key=lambda r: -sum(score.rules[r].values())):
        counts = score.rules[rule]
        lines.append(f"| `{rule}` | {counts['true']} | {counts['false']} | {counts['missed']} |")
    said = score.total("true") + score.total("false")
    lines += [f"| all | {score.total('true')} | {score.total('false')} | {score.total('missed')} |", "",
              f"Of {said} findings reported, {share(score.total('true'), said)} are correct."]
    losses = {r: c for r, c in score.rules.items() if r not in CAVEATS}
    true, false = (sum(c[kind] for c in losses.values()) for kind in ("true", "false"))
    lines.append(f"Of {true + false} recommendations (without caveats), {share(true, true + false)} are correct.")
    lines.append(f"Wrong among the first two of a capture: {len(score.false_first)}"
                 + (f" ({', '.join(score.false_first)})." if score.false_first else "."))
    headlines = score.headlines.total()
    lines.append(f"Headlines that name a true cause: {score.headlines['true']} of {headlines} ({share(score.headlines['true'], headlines)}); "
                 f"{score.headlines['false']} name a false one, {score.headlines['unnamed']} none.")
    if score.planted:
        named = sum(hit for _, hit in score.planted)
        lines.append(f"Planted faults named first or second: {named} of {len(score.planted)}"
                     + (f" (not: {', '.join(n for n, hit in score.planted if not hit)})." if named < len(score.planted) else "."))
    if score.first:
        named = sum(hit for _, hit in score.first)
        lines.append(f"Planted faults of `causes.json` named by the first thing said: {named} of {len(score.first)}"
                     + (f" (not: {', '.join(n for n, hit in score.first if not hit)})." if named < len(score.first) else "."))
    if score.fields:
        named = sum(hit for _, hit in score.fields)
        lines.append(f"Planted faults of `fields.json` named by the first thing said: {named} of {len(score.fields)}"
                     + (f" (not: {', '.join(n for n, hit in score.fields if not hit)})." if named < len(score.fields) else "."))
    if score.alarms:
        loud = [name for name, wrong in score.alarms if wrong]
        lines.append(f"Healthy runs with a false alarm: {len(loud)} of {len(score.alarms)}" + (f" ({', '.join(loud)})." if loud else "."))
    if score.gains:
        lines += ["", "Gains, as shares of the step: predicted upper bound, and real (the step of the fixed program, both without a profiler).", "",
                  "| planted | upper bound | real | within |", "|---|--:|--:|---|"]
        for name, predicted, real in score.gains:
            shown = "not reported" if predicted is None else f"{predicted:.0%}"
            lines.append(f"| {name} | {shown} | {real:.0%} | {'' if predicted is None else 'yes' if real <= predicted + 0.02 else 'no'} |")
        errors = [abs(predicted - real) for _, predicted, real in score.gains if predicted is not None]
        if errors:
            lines += ["", f"Median error of the predicted gains: {100 * statistics.median(errors):.0f} % of the step."]
    return "\n".join(line if line.startswith("|") else textwrap.fill(line, 100) for line in lines)


def write_into(path, text):
    page = path.read_text()
    start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    path.write_text(page[:start] + "\n" + text + "\n" + page[end:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--show", action="store_true", help="print what was wrong and missed, capture by capture")
    parser.add_argument("--write", type=pathlib.Path, help="put the answer into this page, between its marks")
    options = parser.parse_args()
    score = Score()
    judge_captures(options.program, score)
    judge_programs(options.program, score)
    judge_causes(options.program, score)
    judge_fields(options.program, score)
    sets = {name: judge_set(options.program, name) for name in ("libraries", "services", "studies")}
    for remarks, _ in sets.values():
        score.remarks += remarks
    text = report(score)
    for name, (_, one) in sets.items():
        text += "\n\n" + textwrap.fill(
            f"Programs of {name} in the repository: {one['true']} of {one['recommendations']} recommendations true, {one['missed']} missed, "
            f"{one['headlines_true']} of {one['headlines']} headlines, {one['causes_first']} of {one['causes']} causes first.", 100)
    print(text)
    if score.unjudged:
        print("without a verdict: " + ", ".join(f"{rule} x{n}" for rule, n in score.unjudged.most_common()))
    if options.show:
        print("\n" + "\n".join(score.remarks))
    if options.write:
        write_into(options.write, text)
    wanted = json.loads((HERE / "thresholds.json").read_text())["court"]
    losses = {r: c for r, c in score.rules.items() if r not in CAVEATS}
    said = sum(c["true"] + c["false"] for c in losses.values())
    true = sum(c["true"] for c in losses.values())
    # Known errors on captures of other people count only where these are.
    most = {kind: wanted[kind] + (wanted["public"][kind] if score.public else 0) for kind in wanted["public"]}
    named = sum(hit for _, hit in score.planted)
    loud = sum(bool(wrong) for _, wrong in score.alarms)
    missed = []
    if said and true < wanted["true"] * said:
        missed.append(f"{wanted['true']:.0%} of the advice true")
    if score.planted and named < wanted["planted"] * len(score.planted):
        missed.append(f"{wanted['planted']:.0%} of planted faults first or second")
    if score.first and sum(hit for _, hit in score.first) < wanted["first"] * len(score.first):
        missed.append(f"{wanted['first']:.0%} of the causes said first")
    if loud > wanted["false_alarms"]:
        missed.append(f"at most {wanted['false_alarms']} healthy runs with a false alarm")
    if score.crashed:
        missed.append(f"an answer or a reason, not a crash ({', '.join(score.crashed)})")
    gone = sum(c["missed"] for c in losses.values())
    if gone > wanted["missed"] * (true + gone):
        missed.append(f"at most {wanted['missed']:.0%} of the advice missed")
    if score.headlines["true"] < wanted["headlines"] * score.headlines.total() or score.headlines["false"] > most["false_headlines"]:
        missed.append(f"{wanted['headlines']:.0%} of the headlines true, at most {most['false_headlines']} false")
    if len(score.false_first) > most["false_first"]:
        missed.append(f"at most {most['false_first']} wrong among the first two")
    for name, (_, one) in sets.items():
        false = {"false": one["recommendations"] - one["true"], "false_headlines": one["headlines"] - one["headlines_true"],
                 "missed": one["missed"], "false_first": one["false_first"], "not_first": one["causes"] - one["causes_first"]}
        for kind, most in wanted["sets"][name].items():
            if false[kind] > most:
                missed.append(f"of programs of {name} at most {most} {kind.replace('_', ' ')}, not {false[kind]}")
    if missed:
        print("wanted: " + "; ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
