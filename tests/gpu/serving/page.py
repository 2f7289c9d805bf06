"""The figures of serving_show.json as tables in Markdown."""


def percent(value, digits=1):
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def with_range(value):
    if not value:
        return "–"
    return f'{percent(value["median"])} ({percent(value["low"])} to {percent(value["high"])})'


def costs(cost):
    rows = []
    for kind in ("control", "run", "levels", "monitor", "kernels"):
        row = cost.get(kind)
        if not row:
            continue
        cores = [each["cores"] for each in row["recorders"] if each.get("cores") is not None]
        rows.append([kind, len(row["pairs"]), with_range(row["throughput_lost"]),
                     with_range(row["decode_step_longer"]),
                     percent(sum(cores) / len(cores)) if cores else "–"])
    return table(["recorder", "pairs", "throughput lost (95 %)", "decode step longer (95 %)",
                  "of a core"], rows)


def recordings(recorded):
    rows = []
    for name, row in recorded.items():
        steps = row.get("judged", {}).get("steps")
        if not steps:
            reason = row.get("failed") or row.get("judged", {}).get("failed") or "not judged"
            rows.append([name, reason[:60], *["–"] * 5])
            continue
        right, true = steps["right"], steps["true"]
        rows.append([name, f'{steps["found"]} of {true}, {steps["said_in_loop"]} said',
                     steps["source"], *[f"{right.get(key, 0)} of {true}" for key in (
                         "kind", "run_tokens", "requests")],
                     percent(steps["from_token_to_token_ns"]["error"])])
    return table(["recording", "steps found", "source", "kind", "tokens as run", "requests",
                  "median step"], rows)


def waits(recorded):
    rows = []
    keys = ["tokens_per_second", *[f"{kind}_tokens_p{p}_ns" for kind in ("between",)
                                   for p in (50, 90, 99)],
            *[f"first_token_p{p}_ns" for p in (50, 90, 99)]]
    for name, row in recorded.items():
        judged = row.get("judged", {})
        if "times" in judged:
            sums = judged["requests"]
            rows.append([name, *[percent(judged["times"][key]["error"]) for key in keys],
                         f'{sums["named"]} of {sums["true"]}',
                         percent(sums["joules_sum"]["error"])])
    return table(["error of", "tokens/s", "between p50", "p90", "p99", "first p50", "p90", "p99",
                  "requests named", "joules' sum"], rows)


def operators(recorded):
    rows = []
    for name, row in recorded.items():
        for way in ("operators", "operators_with_trace"):
            known = row.get("judged", {}).get(way, {}).get("decode")
            if known:
                rows.append([name + (" with a trace" if way != "operators" else ""),
                             known["kernels"], percent(known["share_of_kernels"]),
                             percent(known["share_of_time"]), known["operators"]])
    return table(["decode kernels of", "kernels", "with operator", "of their time", "operators"],
                 rows)


def programs(ran):
    rows = []
    for name, row in ran.items():
        judged = row.get("judged", {})
        if "steps" not in judged:
            reason = row.get("failed") or judged.get("failed") or "not judged"
            rows.append([name, reason.strip().split("\n")[-1][:60], *["–"] * 5])
            continue
        steps = judged["steps"]
        rows.append([name, steps["true"], f'{steps["said"]} ({steps["said_in_loop"]} in the loop)',
                     steps["source"], percent(judged["window"]["share_in_loop"]),
                     judged["first_advice"] or "none",
                     ", ".join(judged["advice_outside"]) or "none"])
    return table(["program", "steps", "said", "source", "window in the loop", "first advice",
                  "advice from outside"], rows)


def of(result):
    cost = result.get("cost", {})
    recorded = result.get("recordings", {})
    names = result.get("names", {})
    pieces = [f'{result["gpu"]}, {result["date"]}: `{result["command"]}`',
              "## What recorders cost", costs(cost), "## Steps", recordings(recorded),
              "## Times and energy", waits(recorded), "## Operators of graphs",
              operators(recorded), "## Names", table(
                  ["program", "kernels", "names", "named", "of their time"],
                  [[name, row["kernels"], row["names"], percent(row["share_named"], 3),
                    percent(row["share_of_time_named"], 3)]
                   for name, row in names.items() if "kernels" in row]),
              "## Programs whose start-up is unlike their loop",
              programs(result.get("programs", {}))]
    return "\n\n".join(pieces) + "\n"
