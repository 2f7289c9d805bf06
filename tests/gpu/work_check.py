"""Judges what tests/gpu/work.py brought back: work_check.py GPUFATHOM FOLDER [OUT.json]

Operations by shapes against torch's FlopCounterMode and against Nsight Compute's tensor operations,
least bytes against what device memory moved with cold caches, memory against torch.cuda's own
peaks. Prints a line a check and ends with 1 when one fails; OUT.json gets the numbers.
"""
import json
import pathlib
import subprocess
import sys

STEPS = 3
L2 = 60 * 2**20  # of an H200: as much of a result can wait there when the kernel ends


def work(gpufathom, trace, *more):
    answer = subprocess.run([gpufathom, "work", str(trace), "--format", "json", *more], check=True,
                            capture_output=True).stdout
    return json.loads(answer)


def by_operator(answer, steps):
    found = {}
    for row in answer["operators"]:
        if row["product_flops"] > 0:
            name = row["name"].removeprefix("aten::")
            found[name] = found.get(name, 0) + row["product_flops"] / steps
    return found


def main(gpufathom, folder, out=None):
    folder, failed, numbers = pathlib.Path(folder), 0, {}

    def check(program, what, holds, **values):
        nonlocal failed
        failed += not holds
        numbers.setdefault(program, {})[what] = {"holds": bool(holds), **values}
        print(f"{program}: {what}: {'holds' if holds else 'DOES NOT HOLD'} {values}")

    for facts_path in sorted(folder.glob("*.facts.json")):
        name = facts_path.name.removesuffix(".facts.json")
        facts, trace = json.loads(facts_path.read_text()), folder / f"{name}.json.gz"
        answer = work(gpufathom, trace, "--window", "steps")
        counted = {key.split(".")[1]: value for key, value in facts["counted"].items()}
        found = by_operator(answer, STEPS)
        known = {key: found.get(key, 0) for key in counted}
        # The weight gradient of a grouped convolution, which FlopCounterMode takes for an ordinary
        # one.
        check(name, "operations equal FlopCounterMode",
              all(abs(known[key] - counted[key]) <= 1e-6 * counted[key] for key in counted
                  if key != "convolution_backward"),
              model=known, counted=counted)
        account = answer["accounts"][0]
        check(name, "account sums to the window",
              sum(part["ns"] for part in account["parts"]) == account["span_ns"],
              mfu=account["mfu"], hfu=account["hfu"],
              causes={row["cause"]: row["share"] for row in account["causes"]},
              items_per_s=answer["throughput"]["items_per_s"], step_s=facts["step_s"])
        memory = [row for row in answer["memory"] if row["device"] == 0]
        if memory:
            # torch's is of the whole run, the counted step included, which keeps more of a
            # checkpointed model.
            check(name, "peak allocated",
                  memory[0]["peak_allocated"] == facts["peak_allocated"] or name == "checkpointed",
                  found=memory[0]["peak_allocated"], torch=facts["peak_allocated"],
                  holders=memory[0]["holders"][:6])
        report = folder / f"{name}.ncu.csv.gz"
        if not report.exists():
            continue
        answer = work(gpufathom, trace, "--counters", str(report), "--window", "steps")
        products = [row for row in answer["operators"] if row["product_flops"] > 0
                    and row["measured_flops"]]
        modelled, measured = sum(row["product_flops"]
                                 for row in products), sum(row["measured_flops"]
                                                           for row in products)
        check(name, "tensor operations against Nsight Compute",
              products and modelled <= measured * 1.02, model=modelled, measured=measured,
              operators=[[row["name"], row["shapes"], row["product_flops"], row["measured_flops"]]
                         for row in products])
        above = [[row["name"], row["shapes"], row["bytes"], row["measured_bytes"]]
                 for row in answer["operators"]
                 if row["measured_bytes"]
                 and row["bytes"] > row["measured_bytes"] + L2 * row["kernels"]]
        rows = [row for row in answer["operators"] if row["measured_bytes"]]
        check(name, "least bytes within what device memory moved", not above, operators=len(rows),
              above=above,
              model=sum(row["bytes"] for row in rows),
              measured=sum(row["measured_bytes"] for row in rows))
        stalls = answer["stalls"]
        check(name, "stall reasons sum to the stalled time",
              sum(row["ns"] for row in stalls["reasons"]) == stalls["stalled_ns"],
              coverage=stalls["coverage"],
              reasons={row["id"]: row["share"] for row in stalls["reasons"][:8]})
        check(name, "account by counters", answer["accounts"][0]["source"] == "measured",
              parts={part["id"]: part["share"] for part in answer["accounts"][0]["parts"]},
              causes={row["cause"]: row["share"] for row in answer["accounts"][0]["causes"]})
    if out:
        pathlib.Path(out).write_text(json.dumps(numbers, indent=1) + "\n")
    sys.exit(failed > 0)


main(*sys.argv[1:])
