"""Causes that serving has, each planted in a made-up engine: the finding must be said, and of the healthy twin it must not.
Usage: serving_causes.py PROGRAM [--seeds N]

Traces are those of torch.profiler as serving.py writes them; layers, batches, times and prompts are drawn by lot. What is a statement of
the section Serving and no finding (tokens that fill up a graph, steps of a graph, the batch) is compared with what was planted, too.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from serving import SAMPLER, Engine, sglang, vllm

MS = 1000.0


class Server(Engine):
    """An engine whose host may be slow in named ways; a decode step takes about two milliseconds of the GPU."""

    def __init__(self, draw, mark=None, layers=None):
        super().__init__(draw, mark, layers or draw.randint(8, 12))
        self.length, self.sampled, self.padded, self.token_costs = draw.uniform(35, 50), True, None, 0.02
        self.plan_of = {}  # prompt lengths that attention has met

    def operator(self, name, shapes, work, length=0):
        begin = self.host
        self.host += 2 + length
        work()
        self.add("cpu_op", name, begin, self.host - begin, 7, **{"External id": len(self.events) + 1, **({"Input Dims": shapes} if shapes else {})})

    def kernel(self, name, rows, graph=None):
        length = self.length * self.draw.uniform(0.97, 1.03) * (1 + self.token_costs * rows)
        self.launch("cudaGraphLaunch" if graph is not None else "cudaLaunchKernel", name, length, graph=graph, grid=[rows, 1, 1],
                    block=[128, 1, 1])

    def to_host(self, size, wait=True):
        self.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 2 + size / 20e3, category="gpu_memcpy", bytes=size)
        if wait:
            self.host = max(self.host, self.device) + 5

    def step(self, prompts, decodes, *, graph=False, build=None, shapes=True, schedule=0.0, host_samples=0.0, drafts=0, kept=None):
        """Prompts are lengths; build: what attention does with each as an operator."""
        begin, tokens = self.host, sum(prompts)
        rows = max(tokens + decodes * (1 + drafts), self.padded or 0)
        at = 0
        self.launch("cudaMemcpyAsync", "Memcpy HtoD (Pinned -> Device)", 2, category="gpu_memcpy", bytes=8 * rows)
        for layer in range(self.layers):
            names = ["rms_norm_kernel", "nvjet_qkv", *["flash_fwd_kernel"] * bool(prompts), *["paged_attention"] * bool(decodes), "silu_and_mul"]
            for name in names:
                place = at if graph else None
                if name == "flash_fwd_kernel" and build:
                    for prompt in prompts:
                        self.operator("aten::_cudnn_attention_forward", [[1, prompt, 128]] if shapes else None,
                                      lambda: self.kernel(name, 16), build(prompt, layer))
                else:
                    self.kernel(name, decodes if name == "paged_attention" else rows, graph=place)
                at += 1
        requests = len(prompts) + decodes
        if self.sampled:
            self.launch("cudaLaunchKernel", SAMPLER, 4, grid=[requests, 1, 1], block=[128, 1, 1])
        if host_samples:
            self.to_host(requests * 32_000 * 4)
            self.host += host_samples
        else:
            self.to_host(8 * requests)
        if kept:
            for number in range(decodes):
                self.add("user_annotation", f"gpufathom.request({number}, {1 + drafts}, kept={kept()})", begin + 1 + number / 100, 0.005, 7)
        if self.mark:
            self.add("user_annotation", self.mark(len(prompts), tokens, decodes * (1 + drafts) if drafts else decodes)
                     if not drafts else f"step[TARGET_VERIFY bs={decodes} toks={decodes * (1 + drafts)}]", begin, self.host - begin, 7)
        self.host += self.draw.uniform(10, 30) + schedule * self.draw.uniform(0.8, 1.2)


def decoding(server, draw, steps=60, batch=None, **more):
    batch = batch or draw.randint(12, 24)
    server.step([draw.randint(40, 60) for _ in range(batch)], 0)
    for _ in range(steps):
        server.step([], batch, **more)
        batch = max(6, batch - (draw.random() < 0.05))
    return server


def plans(draw, faulty):
    server = Server(draw)
    server.token_costs = 0.001
    shapes = draw.random() < 0.5
    lengths = iter(draw.sample(range(40, 400), 60))

    def build(prompt, layer):
        fresh = server.plan_of.setdefault(prompt, layer) == layer and (prompt, "met") not in server.plan_of
        server.plan_of[prompt, "met"] = True
        return draw.uniform(60, 80) * MS if fresh and faulty else draw.uniform(20, 40)
    for _ in range(draw.randint(10, 14)):
        server.step([next(lengths)], 0, build=build, shapes=shapes)
        for _ in range(4):
            server.step([], 8)
    return server


def scheduler(draw, faulty):
    return decoding(Server(draw), draw, schedule=draw.uniform(0.5, 1.5) * MS if faulty else 0)


def host_sampling(draw, faulty):
    server = Server(draw, mark=sglang)
    server.sampled = not faulty
    return decoding(server, draw, host_samples=draw.uniform(0.6, 1.2) * MS if faulty else 0)


def swaps(draw, faulty):
    server, batch = Server(draw), draw.randint(12, 20)
    server.step([50] * batch, 0)
    for number in range(60):
        server.step([], batch)
        if faulty and number % 6 == 3:
            for call, kind in (("Memcpy DtoH (Device -> Pinned)", "down"), ("Memcpy HtoD (Pinned -> Device)", "up")):
                size = 8 << 20
                server.launch("cudaMemcpyAsync", call, draw.uniform(300, 500), category="gpu_memcpy", bytes=size)
                server.host = max(server.host, server.device) + 5
                if kind == "down":
                    server.step([], batch - 1)
    return server


def padding(draw, faulty):
    server = Server(draw)
    server.token_costs = draw.uniform(0.05, 0.1)
    server.step([50] * 8, 0)
    for number in range(80):
        batch = draw.choice((9, 9, 10, 16, 17, 17, 18, 32)) if faulty else draw.choice((16, 32))
        server.padded = 16 if batch <= 16 else 32
        server.step([], batch, graph=True)
    return server


def eager(draw, faulty):
    server = Server(draw)
    server.length = draw.uniform(3, 5)  # launches take longer
    server.step([50] * 8, 0)
    for number in range(80):
        large = number % 3 == 0
        server.step([], draw.randint(33, 40) if large else draw.randint(8, 16), graph=not (large and faulty))
    return server


def blocked(draw, faulty):
    server, batch = Server(draw, mark=draw.choice((None, vllm))), 8
    server.length, server.token_costs = 20, 0.02
    server.step([30] * batch, 0)
    for number in range(60):
        if number % 8 == 5:
            long = draw.randint(900, 1200) if faulty else draw.randint(20, 40)
            server.step([long], 0)
            batch += 1
        server.step([], batch)
    return server


def small(draw, faulty):
    server, batch = Server(draw), draw.randint(1, 3) if faulty else draw.randint(12, 24)
    server.step([30] * batch, 0)
    for _ in range(60):
        server.step([], batch)
    return server


def drafts(draw, faulty):
    server, batch = Server(draw, mark=sglang), draw.randint(6, 12)
    server.step([30] * batch, 0)
    for _ in range(40):
        server.step([], batch, drafts=3, kept=lambda: draw.choice((1, 1, 1, 2)) if faulty else draw.choice((3, 4)))
    return server


CAUSES = {"plans_for_shapes": plans, "scheduler_in_step": scheduler, "host_sampling": host_sampling, "cache_swaps": swaps,
          "graph_padding": padding, "eager_decodes": eager, "prompts_block_decodes": blocked, "small_decodes": small,
          "refused_drafts": drafts}


def answer(program, path):
    done = subprocess.run([program, "analyze", str(path), "--format", "json"], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{path}: {done.stderr}")
    return json.loads(done.stdout)


def main(program, *more):
    seeds = int(more[1]) if more[:1] == ("--seeds",) else 3
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        for cause, planted in CAUSES.items():
            said = [0, 0]
            others = set()
            for seed in range(seeds):
                for faulty in (True, False):
                    server = planted(random.Random(f"{cause} {seed}"), faulty)
                    server.save(path)
                    findings = {finding["id"] for finding in answer(program, path)["findings"]}
                    said[not faulty] += cause in findings
                    if not faulty:
                        others |= findings & set(CAUSES)
            good = said == [seeds, 0] and not others - {cause}
            wrong += not good
            print(f"{cause:24s} said of {said[0]} of {seeds}, of the healthy twin {said[1]}; others of the twin: {sorted(others - {cause})}"
                  f"{'' if good else '  WRONG'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
