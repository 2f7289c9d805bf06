"""Steps of serving engines against what the engine did: made-up engines (with the marks of SGLang,
vLLM, TensorRT-LLM or none), and recorded ones with logs of their own where GPUFATHOM_SERVING names
a folder of them. Usage: serving.py PROGRAM [--seeds N]

With marks every step must be found, and its kind and tokens; without, 98 of 100 where any is said,
and no count may be wrong by more. What chooses tokens but hands none to the host regularly has
unknown steps; kinds that an engine's kernels do not tell are unknown.
"""
import gzip
import json
import lzma
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

SAMPLER = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4, 4> >"
NORM, SILU = "rms_norm_kernel", "silu_and_mul"
DECODE, PREFILL = ["paged_attention_split", "paged_attention_reduce"], ["flash_fwd_kernel"]


def vllm(prefills, tokens, decodes):
    return f"execute_context_{prefills}({tokens})_generation_{decodes}({decodes})"


def sglang(prefills, tokens, decodes):
    mode = "MIXED" if prefills and decodes else "EXTEND" if prefills else "DECODE"
    return f"step[{mode} bs={prefills + decodes} toks={tokens + decodes}]"


def trtllm(prefills, tokens, decodes):
    trtllm.number += 1
    return f"[Executor] _forward_step {trtllm.number}: {prefills} ctx reqs, {tokens} ctx tokens, {decodes} gen reqs"


def trtllm_short(prefills, tokens, decodes):
    return f"[Executor] _forward_step: {prefills} ctx reqs, {decodes} gen reqs"


trtllm.number = 0
MARKS = {"none": None, "sglang": sglang, "vllm": vllm, "trtllm": trtllm,
         "trtllm_short": trtllm_short}


class Engine:
    """A trace of torch.profiler, in microseconds: the host launches, and waits for what it
    copies."""

    def __init__(self, draw, mark, layers):
        self.draw, self.mark, self.layers = draw, mark, layers
        self.events, self.host, self.device, self.correlation, self.steps = [], 1000.0, 0.0, 0, []

    def add(self, category, name, start, length, thread, **args):
        self.events.append({"ph": "X", "cat": category, "name": name,
                            "pid": 1 if category != "kernel" else 0, "tid": thread,
                            "ts": round(start, 3), "dur": round(length, 3), "args": args})

    def launch(self, call, name, length, category="kernel", graph=None, **args):
        """One activity; of a graph, all have the launch of the first."""
        if graph is None or graph == 0:
            self.correlation += 1
            self.add("cuda_runtime", call, self.host, 3, 7, correlation=self.correlation)
            self.host += self.draw.uniform(4, 6)
        start = max(self.host, self.device)
        self.device = start + length + 0.5
        event = {"device": 0, "stream": 7, "correlation": self.correlation, **args}
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7,
                            "ts": round(start, 3), "dur": round(length, 3),
                            "args": event})

    def step(self, prefills, tokens, decodes, graph=False, copies=True):
        begin, rows = self.host, tokens + decodes
        work = [("Memcpy HtoD (Pageable -> Device)", 2, "gpu_memcpy", {"bytes": 8 * rows})]
        names = []
        for _ in range(self.layers):
            names += [NORM, "nvjet_qkv", *(PREFILL if prefills else []),
                      *(DECODE if decodes else []), NORM, f"nvjet_up_{min(rows, 64)}", SILU]
        self.launch("cudaMemcpyAsync", *work[0][:2], category=work[0][2], **work[0][3])
        for i, name in enumerate([*names, SAMPLER]):
            blocks = prefills + decodes if name == SAMPLER else rows if name in (NORM, SILU) else 8
            self.launch("cudaGraphLaunch" if graph else "cudaLaunchKernel", name,
                        self.draw.uniform(3, 5) + rows / 64,
                        graph=i if graph and name != SAMPLER else None, grid=[blocks, 1, 1],
                        block=[128, 1, 1])
        if copies:
            self.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 2,
                        category="gpu_memcpy", bytes=8 * (prefills + decodes))
            self.host = max(self.host, self.device) + 5
        if self.mark:
            self.add("user_annotation", self.mark(prefills, tokens, decodes), begin,
                     self.host - begin, 7)
        kind = "mixed" if prefills and decodes else "prefill" if prefills else "decode"
        self.steps.append({"span": (round(1000 * begin), round(1000 * self.host)), "kind": kind,
                           "run": rows, "requests": prefills + decodes})
        self.host += self.draw.uniform(20, 60)  # the scheduler

    def save(self, path):
        path.write_text(json.dumps({"schemaVersion": 1,
                                    "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
                                    "traceEvents": self.events}))


def served(draw, mark, graph, chunked):
    engine, running = Engine(draw, mark, draw.randint(8, 16)), 0
    for _ in range(draw.randint(40, 90)):
        prefills = draw.randint(1, 3) if running == 0 or draw.random() < 0.15 else 0
        if prefills and chunked:
            engine.step(prefills, draw.randint(40, 256), running)
        elif prefills:
            engine.step(prefills, prefills * draw.randint(40, 256), 0)
        else:
            engine.step(0, 0, running, graph=graph)
        running += prefills
        if not prefills and draw.random() < 0.3:
            running = max(1, running - draw.randint(0, 2))
    return engine


def unfetched(draw):
    """Tokens that stay on the GPU while prompts of all lengths come between them, and one fetch in
    the end."""
    engine = Engine(draw, None, draw.randint(8, 16))
    for _ in range(60):
        if draw.random() < 0.3:
            for _ in range(draw.randint(1, 12)):
                engine.step(1, draw.randint(40, 256), 0, copies=False)
        engine.step(0, 0, draw.randint(1, 32), copies=False)
    engine.step(0, 0, 1)
    return engine


def answer(program, path):
    done = subprocess.run([program, "analyze", str(path), "--window", "all", "--format", "json"],
                          capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{path}: {done.stderr}")
    return json.loads(done.stdout)


def judge(name, analysis, true, marked, offset=0, tells_kinds=True):
    """The steps that are said against `true` ones, each of which must meet one; a line and whether
    that is good enough."""
    window, serving = analysis["window"], analysis["serving"]
    said = [(step["start_ns"] + offset, step["start_ns"] + offset + step["duration_ns"],
             step["index"]) for step in window["all_steps"]]
    of_engine = {step["index"]: step for step in serving["steps"]} if serving else {}
    spans = [step["span"] for step in true]
    first = spans[0][0]
    # A step's tokens are on the host within it: by its end, or by the begin of the next mark.
    met = [[index for begin, end, index in said if begin <= (one[0] + one[1]) // 2 < end]
           for one in spans]
    found = sum(len(steps) == 1 for steps in met)
    more = sum(begin >= first for begin, _, _ in said)
    good = found == len(true) if marked else found >= 0.98 * len(true)
    known = bool(said)
    lengths = [statistics.median(b - a for a, b in zip(ends, ends[1:])) if len(ends) > 2 else 0
               for ends in ([end for _, end in spans], [end for _, end, _ in said if end > first])]
    close = abs(lengths[1] / lengths[0] - 1) <= 0.02 if known else True
    pairs = [(step, of_engine[steps[0]]) for step, steps in zip(true, met) if len(steps) == 1
             and steps[0] in of_engine]
    right = sum(a["kind"] == b["kind"] for a, b in pairs)
    wrong = sum(b["kind"] not in (a["kind"], "unknown") for a, b in pairs)
    tokens = sum(b["run_tokens"] == a["run"] for a, b in pairs)
    print(f"{name:32s} {found:4d} of {len(true):4d} (said {more}) by {window['step_source']}; median {lengths[0] / 1e6:.3f} ms, "
          f"said {lengths[1] / 1e6:.3f} ms; kinds {right}, wrong {wrong}, tokens as run {tokens}")
    good = good and abs(more - len(true)) <= 0.02 * len(true) and close
    if known:
        # Start-up has steps of marks and is no part of what is said of serving.
        good = good and wrong <= (0 if marked else 0.02 * len(true))
        good = good and (not tells_kinds or min(right, tokens) >= 0.98 * len(true) - 1)
    return good, known


def made_up(program, seeds, folder):
    failed = 0
    for seed in range(seeds):
        draw = random.Random(seed)
        for mark, text in MARKS.items():
            for graph in (False, True):
                for chunked in (False, True):
                    engine = served(draw, text, graph, chunked)
                    path = folder / "trace.json"
                    engine.save(path)
                    good, _ = judge(f"{mark}{' graphs' * graph}{' chunked' * chunked}",
                                    answer(program, path), engine.steps, text is not None)
                    failed += not good
        engine = unfetched(draw)
        engine.save(folder / "trace.json")
        window = answer(program, folder / "trace.json")["window"]
        if window["all_steps"] and abs(len(window["all_steps"]) - len(engine.steps)) > 0.02 * len(engine.steps):
            print(f"unfetched: {len(window['all_steps'])} steps of {len(engine.steps)} said by {window['step_source']}")
            failed += 1
    return failed


def true_step(step):
    drafts = step["kind"] == "verify"
    return {"span": (step["t0"], step["t2"]), "kind": "speculative" if drafts else step["kind"],
            "run": (step.get("padded") or 0) * (4 if drafts else 1) or step["tokens"],
            "requests": step["prefills"] + step["decodes"]}


def times_are_right(requests, serving):
    """Times between the tokens of each request, where they are said; of drafts nothing tells how
    many tokens were kept."""
    gaps = sorted(b - a for request in requests
                  for a, b in zip(request["times"], request["times"][1:]))
    right = True
    for percent in (50, 90, 99):
        true, said = gaps[-(-len(gaps) * percent // 100) - 1], serving[f"between_p{percent}_ns"]
        if said is None:
            return True
        right = right and abs(said / true - 1) <= 0.02
        print(f"{'':32s} between tokens p{percent}: {true / 1e6:.3f} ms, said {said / 1e6:.3f} ms")
    return right


def recorded(program, cases, folder):
    failed = 0
    for log in sorted(cases.glob("*.log.json.gz")):
        name = log.name.removesuffix(".log.json.gz")
        path, offset = cases / f"{name}.trace.json.gz", 0
        if path.exists():
            offset = json.load(gzip.open(path)).get("baseTimeNanoseconds", 0)
        else:
            path = folder / f"{name}.gpf"
            path.write_bytes(lzma.decompress((cases / f"{name}.gpf.xz").read_bytes()))
        truth = json.load(gzip.open(log))
        true = [true_step(step) for step in truth["steps"] if step["t2"]
                and step["t0"] >= truth["meta"]["start"]]
        analysis = answer(program, path)
        window = analysis["window"]
        if window["all_steps"] and window["all_steps"][0]["start_ns"] > offset > 0:
            offset = 0
        own = truth["meta"]["mode"] != "hf"  # those kernels do not tell prompts from mixed steps
        good, known = judge(name, analysis, true, truth["meta"]["marks"] != "none" and own, offset,
                            own)
        # without kernels nothing tells
        failed += not (good or (not known and name.endswith("levels")))
        failed += own and known and not times_are_right(truth["requests"], analysis["serving"])
    return failed


def main(program, *more):
    seeds = int(more[1]) if more[:1] == ("--seeds",) else 1
    cases = pathlib.Path(os.environ.get("GPUFATHOM_SERVING", "none"))
    with tempfile.TemporaryDirectory() as folder:
        failed = made_up(program, seeds, pathlib.Path(folder))
        if cases.is_dir():
            failed += recorded(program, cases, pathlib.Path(folder))
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
