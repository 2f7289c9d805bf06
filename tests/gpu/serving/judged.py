"""What gpufathom says of the engine, against the engine's own log; and what it advises on."""
import collections
import json
import statistics
import subprocess

OPERATORS = """
    select e.kind, count(*), sum(k.duration_ns),
      sum(case when coalesce(k.operator, '') = '' or k.operator like 'step[%'
               or k.operator like 'execute_%' or k.operator like 'gpufathom.%'
          then 0 else 1 end),
      sum(case when coalesce(k.operator, '') = '' or k.operator like 'step[%'
               or k.operator like 'execute_%' or k.operator like 'gpufathom.%'
          then 0 else k.duration_ns end),
      count(distinct k.operator), min(k.operator), max(k.operator)
    from attributed_kernels k join engine_steps e on e.number = k.step
    where k.kind = 'kernel' group by 1"""
NAMES = """select count(*), sum(duration_ns), sum(coalesce(name, '') = ''),
      sum(case when coalesce(name, '') = '' then duration_ns else 0 end), count(distinct name)
    from kernels"""


def asked(command, seconds=120):
    """A program's JSON, and what it says if it has none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"took longer than {seconds} s"
    try:
        return json.loads(done.stdout), done.stderr.strip()[-500:]
    except ValueError:
        return None, f"code {done.returncode}: {done.stderr.strip()[-500:]}"


def analysis_of(gpufathom, capture):
    return asked([gpufathom, "analyze", str(capture), "--window", "all", "--format", "json"])


def rows_of(gpufathom, capture, sql, *words):
    answer, said = asked([gpufathom, "query", "--format", "json", *words, str(capture), sql])
    return (answer["rows"] if answer else None), said


def share(part, whole):
    return part / whole if whole and part is not None else None


def percentile(values, percent):
    """The nearest rank."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else None


def off(said, true):
    return {"true": true, "said": said,
            "error": said / true - 1 if said is not None and true else None}


def steps_of(analysis, log):
    """Each true step against the one that is said where its middle lies."""
    window, serving = analysis["window"], analysis["serving"] or {"steps": []}
    of_engine = {step["index"]: step for step in serving["steps"]}
    true, spans = log["steps"], [(step["start_ns"], step["start_ns"] + step["duration_ns"],
                                  step["index"]) for step in window["all_steps"]]
    found, right, kinds = 0, collections.Counter(), collections.Counter()
    for step in true:
        middle = (step["t0"] + step["t2"]) // 2
        met = [index for begin, end, index in spans if begin <= middle < end]
        found += len(met) == 1
        said = of_engine.get(met[0]) if len(met) == 1 else None
        if said is None:
            kinds[f'{step["kind"]} is not said'] += 1
            continue
        kinds[f'{step["kind"]} is said to be {said["kind"]}'] += 1
        right["kind"] += said["kind"] == step["kind"]
        right["kind_unknown"] += said["kind"] == "unknown"
        truth = {"run_tokens": step["padded"], "tokens": step["tokens"],
                 "requests": len(step["requests"]), "decodes": step["decodes"],
                 "generated": step["generated"], "graph": step["graph"]}
        for key, value in truth.items():
            right[key] += said[key] == value
            right[f"{key}_not_known"] += said[key] is None
    first, last = true[0]["t0"], true[-1]["t2"]
    inside = [(begin, end) for begin, end, _ in spans if begin < last and end > first]
    lengths = [statistics.median(b - a for a, b in zip(ends, ends[1:])) if len(ends) > 2 else None
               for ends in ([end for _, end in inside], [step["t2"] for step in true])]
    return {"source": window["step_source"], "confidence": window["step_confidence"],
            "true": len(true), "said": len(window["all_steps"]), "said_in_loop": len(inside),
            "found": found, "right": dict(right), "kinds": dict(kinds),
            "from_token_to_token_ns": off(*lengths)}


def times_of(serving, log):
    requests = log["requests"]
    first = [each["first_token"] - each["arrival"] for each in requests]
    gaps = [b - a for each in requests for a, b in zip(each["times"], each["times"][1:])]
    tokens = sum(len(each["times"]) for each in requests)
    seconds = (log["steps"][-1]["t2"] - log["steps"][0]["t0"]) / 1e9
    rows = {"tokens_per_second": off(serving["tokens_per_second"], tokens / seconds),
            "generated": off(serving["generated"], tokens)}
    for percent in (50, 90, 99):
        rows[f"first_token_p{percent}_ns"] = off(serving[f"first_p{percent}_ns"],
                                                 percentile(first, percent))
        rows[f"between_tokens_p{percent}_ns"] = off(serving[f"between_p{percent}_ns"],
                                                    percentile(gaps, percent))
    return rows


def requests_of(serving, log, meter):
    """Requests by their names in the marks, and their joules against the driver's counter."""
    true = {str(each["id"]): each for each in log["requests"]}
    said = {str(each["id"]): each for each in serving["requests"]}
    both = [(said[name], true[name]) for name in true if name in said]
    errors = [a["first_token_ns"] / (b["first_token"] - b["arrival"]) - 1 for a, b in both
              if a["first_token_ns"]]
    joules = [a["nj"] / 1e9 for a, _ in both if a.get("nj") is not None]
    begin, end = log["meta"]["start"], log["meta"]["end"]
    counter = meter.joules(begin, end)
    own = log["meta"]["mj_start"], log["meta"]["mj_end"]
    step_tokens = collections.Counter()
    for step in log["steps"]:
        for number, tokens in step["requests"]:
            step_tokens[str(number)] += tokens
    return {"true": len(true), "named": len(both),
            "tokens_right": sum(a["tokens"] == step_tokens[str(a["id"])] for a, _ in both),
            "first_token_error_median": statistics.median(errors) if errors else None,
            "first_token_error_most": max(map(abs, errors), default=None),
            "step_ns_sum": sum(a["step_ns"] for a, _ in both),
            "joules_sum": off(sum(joules) if joules else None, counter),
            "counter_of_the_engine_joules": (own[1] - own[0]) / 1e3 if None not in own else None,
            "loop_seconds": (end - begin) / 1e9}


def operators_of(gpufathom, capture, *words):
    rows, said = rows_of(gpufathom, capture, OPERATORS, *words)
    if rows is None:
        return {"failed": said}
    return {kind: {"kernels": count, "with_operator": known, "share_of_kernels":
                   share(known, count), "share_of_time": share(known_ns, ns),
                   "operators": different, "such_as": [first, last]}
            for kind, count, ns, known, known_ns, different, first, last in rows}


def served(gpufathom, capture, log, meter):
    """All that is said of a recorded engine."""
    analysis, said = analysis_of(gpufathom, capture)
    if analysis is None:
        return {"failed": said}
    answer = {"analyze_said": said, "quality": analysis["quality"],
              "steps": steps_of(analysis, log), "first_findings": first_findings(analysis)}
    serving = analysis["serving"]
    if serving:
        answer.update({
            "times": times_of(serving, log), "requests": requests_of(serving, log, meter),
            "kinds": [{key: row[key] for key in (
                "kind", "steps", "graphs", "share", "p50_ns", "padding", "dram", "mfu", "joules",
                "joules_per_token")} for row in serving["kinds"]],
            "energy_joules": [row["nj"] / 1e9 if row["nj"] else None
                              for row in (analysis["energy"] or {"devices": []})["devices"]],
            "operators": operators_of(gpufathom, capture)})
    return answer


def first_findings(analysis, count=3):
    keys = ("id", "kind", "text", "evidence", "gain_ns", "share", "group", "moments")
    return [{key: finding.get(key) for key in keys} for finding in analysis["findings"][:count]]


def inside(moments, begin, end):
    """The share of the moments' time that lies between two times."""
    total = sum(each["duration_ns"] for each in moments)
    within = sum(max(0, min(each["start_ns"] + each["duration_ns"], end)
                     - max(each["start_ns"], begin)) for each in moments)
    return share(within, total)


def advised(gpufathom, capture, known):
    """A program's steps and the advice on it, against its loop. The window is the program's own
    choice, as of one who gives none."""
    analysis, said = asked([gpufathom, "analyze", str(capture), "--format", "json"])
    if analysis is None:
        return {"failed": said}
    begin, end, window = known["t0"], known["t1"], analysis["window"]
    advice = [finding for finding in analysis["findings"]
              if finding.get("gain_ns") and finding.get("kind") not in ("caveat", "note")]
    shares = [(finding["id"], inside(finding["moments"], begin, end)) for finding in advice
              if finding.get("moments")]
    steps = [step for step in window["all_steps"]
             if begin <= step["start_ns"] + step["duration_ns"] // 2 < end]
    busy = analysis["devices"][0] if analysis["devices"] else {}
    return {"analyze_said": said, "quality": analysis["quality"],
            "steps": {"true": known["steps"], "said": len(window["all_steps"]),
                      "said_in_loop": len(steps), "source": window["step_source"],
                      "confidence": window["step_confidence"], "blocks": window["blocks"]},
            "window": {"kind": window["kind"], "share_in_loop": inside(
                [{"start_ns": window["start_ns"], "duration_ns": window["duration_ns"]}],
                begin, end), "seconds": window["duration_ns"] / 1e9,
                "busy": share(busy.get("busy_ns"), busy.get("span_ns"))},
            "loop_seconds": (end - begin) / 1e9,
            "first_advice": advice[0]["id"] if advice else None,
            "advice_in_loop": dict(shares),
            "advice_outside": [name for name, within in shares if within < 0.5],
            "advice_without_moments": [finding["id"] for finding in advice
                                       if not finding.get("moments")],
            "first_findings": first_findings(analysis)}


def names_of(gpufathom, capture):
    """The number of kernels with names, and the texts that were full."""
    rows, said = rows_of(gpufathom, capture, NAMES)
    full, _ = rows_of(gpufathom, capture, "select code, count, detail from quality")
    if not rows:
        return {"failed": said}
    kernels, ns, nameless, nameless_ns, names = rows[0]
    return {"kernels": kernels, "names": names, "nameless": nameless,
            "share_named": share(kernels - (nameless or 0), kernels),
            "share_of_time_named": share((ns or 0) - (nameless_ns or 0), ns), "quality": full}
