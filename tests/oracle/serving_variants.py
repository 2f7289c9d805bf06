"""Serving engines of kinds that serving.py does not make: other marks, other threads and processes, drafts, ranks, captures cut short.
Usage: serving_variants.py PROGRAM [--seeds N] [--only NAME]

What is said must be true: every step that is said is one of the engine's, no kind is another than the true one (or `unknown`), tokens are the
true ones or not known, and what is no engine has no section. What must be known is named for each variant.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from serving import DECODE, NORM, PREFILL, SAMPLER, SILU, Engine, sglang, trtllm, vllm


class Host(Engine):
    """An engine whose host may run ahead, set its marks elsewhere, or be one of several in a capture."""

    def __init__(self, draw, mark=None, layers=None, pid=1, tid=7, device=0, stream=7):
        super().__init__(draw, mark, layers or draw.randint(8, 12))
        self.pid, self.tid, self.gpu, self.stream = pid, tid, device, stream
        self.correlation = pid * 10_000_000 + tid * 1_000_000
        self.mark_thread, self.ahead, self.waiting, self.more = tid, 0, [], ()

    def add(self, category, name, start, length, thread, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": self.pid, "tid": thread, "ts": round(start, 3),
                            "dur": round(length, 3), "args": args})

    def launch(self, call, name, length, category="kernel", graph=None, **args):
        if graph is None or graph == 0:
            self.correlation += 1
            self.add("cuda_runtime", call, self.host, 3, self.tid, correlation=self.correlation)
            self.host += self.draw.uniform(4, 6)
        start = max(self.host, self.device)
        self.device = start + length + 0.5
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": self.gpu, "tid": self.stream, "ts": round(start, 3),
                            "dur": round(length, 3),
                            "args": {"device": self.gpu, "stream": self.stream, "correlation": self.correlation, **args}})

    def set_mark(self, name, begin, end):
        self.add("user_annotation", name, begin, end - begin, self.mark_thread)

    def model(self, rows, prefills, decodes, graph=False, layers=None):
        self.launch("cudaMemcpyAsync", "Memcpy HtoD (Pinned -> Device)", 2, category="gpu_memcpy", bytes=8 * rows)
        names = []
        for _ in range(layers or self.layers):
            names += [NORM, "nvjet_qkv", *self.more, *(PREFILL if prefills else []), *(DECODE if decodes else []), NORM,
                      f"nvjet_up_{min(rows, 64)}", SILU]
        for i, name in enumerate(names):
            self.launch("cudaGraphLaunch" if graph else "cudaLaunchKernel", name, self.draw.uniform(3, 5) + rows / 64,
                        graph=i if graph else None, grid=[rows if name in (NORM, SILU, *self.more) else 8, 1, 1], block=[128, 1, 1])

    def choose(self, requests, size=None):
        self.launch("cudaLaunchKernel", SAMPLER, 4, grid=[requests, 1, 1], block=[128, 1, 1])
        self.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 2, category="gpu_memcpy", bytes=size or 8 * requests)
        self.waiting.append(self.device)

    def fetch(self):
        """Waits for the tokens of a step: of this one, or of one before it where the host runs ahead."""
        while len(self.waiting) > self.ahead:
            self.host = max(self.host, self.waiting.pop(0)) + 5

    def step(self, prefills, tokens, decodes, graph=False, marked=None, chooses=True, ends=True, drops=False):
        """`marked`: the part that the mark is around: all, or the model alone. `drops`: a prompt that goes on gets a token that is dropped."""
        begin, rows = self.host, tokens + decodes
        on_device = max(begin, self.device)
        self.model(rows, prefills, decodes, graph)
        if self.mark and marked == "model":
            self.set_mark(self.mark(prefills, tokens, decodes), begin, self.host)
        requests = (prefills if ends else 0) + decodes
        if chooses and (requests or drops):
            self.choose(prefills + decodes if drops else requests)
            self.fetch()
        if self.mark and marked != "model":
            self.set_mark(self.mark(prefills, tokens, decodes), begin, self.host)
        kind = "mixed" if prefills and decodes else "prefill" if prefills else "decode"
        if not ends and not drops and kind == "prefill":
            kind = "chunked"
        self.steps.append({"span": (round(1000 * on_device), round(1000 * self.device)), "kind": kind, "requests": prefills + decodes,
                           "generated": requests})
        self.host += self.draw.uniform(20, 60)

    def serve(self, steps=50, chunked=False, **more):
        running = 0
        for number in range(steps):
            prompts = self.draw.randint(1, 3) if running == 0 or self.draw.random() < 0.15 else 0
            if prompts and chunked:
                self.step(prompts, self.draw.randint(40, 256), running, **more)
            elif prompts:
                self.step(prompts, prompts * self.draw.randint(40, 256), 0, **more)
            else:
                self.step(0, 0, running, **more)
            running += prompts
            if not prompts and self.draw.random() < 0.3:
                running = max(1, running - self.draw.randint(0, 2))
        return self

    def take(self, other):
        self.events += other.events
        return self


class Case:
    """A capture, and what may be said of it. `known`: kinds and tokens must be said. `serves` False: no section at all. `counted`: no other number
    of steps may be said."""

    def __init__(self, engine, true=None, known=True, serves=True, generated="true", marked=True, counted=False):
        self.engine, self.true = engine, engine.steps if true is None else true
        self.known, self.serves, self.generated, self.marked, self.counted = known, serves, generated, marked, counted


def marks_of_the_model(draw):
    """The tokens are chosen behind the mark, as vLLM does since execute_model and sample_tokens are two calls."""
    return Case(Host(draw, draw.choice((vllm, sglang))).serve(marked="model", graph=False))


def marks_of_the_model_ahead(draw):
    """The same, and the host launches a step before it has the tokens of the one before."""
    engine = Host(draw, vllm)
    engine.ahead = 1
    return Case(engine.serve(marked="model"))


def ends_with_a_prompt(draw):
    engine = Host(draw, vllm).serve(20, marked="model")
    engine.step(2, 300, 0, marked="model")
    return Case(engine)


def one_prompt(draw):
    engine = Host(draw, vllm)
    engine.step(1, 200, 0, marked="model")
    return Case(engine)


def chunks(draw):
    engine, running = Host(draw, vllm), 0
    for _ in range(15):
        engine.step(1, 256, 0, marked="model", ends=False)
        engine.step(1, draw.randint(20, 200), 0, marked="model")
        running += 1
        for _ in range(3):
            engine.step(0, 0, running, marked="model")
    return Case(engine)


def dropped_tokens(draw):
    """A long prompt comes in parts, of which each gets a token that the engine drops, as vLLM's do."""
    engine, marked = Host(draw, draw.choice((vllm, None))), draw.choice(("model", None))
    for _ in range(4):
        for _ in range(draw.randint(3, 8)):
            engine.step(1, 256, 0, marked=marked, ends=False, drops=True)
        engine.step(1, draw.randint(20, 200), 0, marked=marked)
        for _ in range(12):
            engine.step(0, 0, 1, marked=marked)
    return Case(engine, generated="none", marked=engine.mark is not None, known=engine.mark is not None)


def prompts_alone(draw):
    """Parts of a long prompt and nothing else."""
    engine = Host(draw, vllm)
    for number in range(8):
        engine.step(1, 256, 0, marked="model", ends=False, drops=True)
    return Case(engine, generated="none")


def prompts_first(draw):
    """Several prompts, one after the other, and then their tokens."""
    engine, running = Host(draw, draw.choice((vllm, None))), 0
    for _ in range(8):
        for _ in range(draw.randint(1, 4)):
            engine.step(1, draw.randint(40, 200), 0)
            running += 1
        for _ in range(5):
            engine.step(0, 0, running)
        running -= draw.randint(0, 1)
    return Case(engine, marked=engine.mark is not None)


def names_again(draw):
    """Names of requests come again, and ranks on other threads say the same."""
    engine, running = Host(draw, vllm), []
    engine.requests = {"count": 0, "tokens": 0}
    for number in range(12):
        running = [f"r{i}" for i in range(3)]
        for name in running:
            engine.add("user_annotation", f"gpufathom.arrived({name})", engine.host - 1, 0.5, 9)
        for step in range(6):
            begin = engine.host
            for place, name in enumerate(running):
                tokens = 50 if step == 0 else 1
                for thread in (7, 8):
                    engine.add("user_annotation", f"gpufathom.request({name}, {tokens})", begin + 0.2 + place / 10, 0.05, thread)
                engine.requests["tokens"] += tokens
            engine.step(3 if step == 0 else 0, 150 if step == 0 else 0, 0 if step == 0 else 3)
        engine.requests["count"] += len(running)
    return Case(engine)


def logits_on_host(draw):
    """Tokens are chosen on the host, as llama.cpp does: each step copies the logits of its requests."""
    engine, graph = Host(draw), draw.random() < 0.5
    for number in range(60):
        begin, prompt = max(engine.host, engine.device), number % 20 == 0
        engine.model(draw.randint(30, 200) if prompt else 1, prompt, 0 if prompt else 1, graph=graph and not prompt)
        engine.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", 10, category="gpu_memcpy", bytes=4 * 32000)
        engine.host = engine.device + draw.uniform(80, 120)
        engine.steps.append({"span": (round(1000 * begin), round(1000 * engine.device)), "kind": "prefill" if prompt else "decode",
                             "requests": 1, "generated": 1})
    return Case(engine, known=False, serves=False, marked=False, counted=True)


def generated(draw):
    """transformers' generate(): the host asks after each token whether all are done, and fetches none."""
    engine, batch = Host(draw), draw.choice((1, 4, 8))
    for number in range(draw.choice((20, 60))):
        prompt, begin = number == 0, max(engine.host, engine.device)
        engine.model(batch * 64 if prompt else batch, batch if prompt else 0, 0 if prompt else batch)
        engine.launch("cudaLaunchKernel", SAMPLER, 4, grid=[batch, 1, 1])
        engine.launch("cudaLaunchKernel", "reduce_kernel_max", 4, grid=[1, 1, 1])
        engine.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", 2, category="gpu_memcpy", bytes=1)
        engine.host = engine.device + draw.uniform(10, 30)
        engine.steps.append({"span": (round(1000 * begin), round(1000 * engine.device)), "kind": "prefill" if prompt else "decode",
                             "requests": batch, "generated": batch})
    return Case(engine, known=False, marked=False, counted=True)


def several_at_once(draw):
    """The host fetches the tokens of eight steps together."""
    engine = Host(draw)
    for number in range(64):
        begin = max(engine.host, engine.device)
        engine.model(4, 0, 4)
        engine.launch("cudaLaunchKernel", SAMPLER, 4, grid=[4, 1, 1])
        if number % 8 == 7:
            engine.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 2, category="gpu_memcpy", bytes=8 * 4 * 8)
            engine.host = engine.device + 10
        engine.steps.append({"span": (round(1000 * begin), round(1000 * engine.device)), "kind": "decode", "requests": 4, "generated": 4})
    return Case(engine, known=False, marked=False, counted=True)


def ahead(draw):
    """Without marks."""
    engine = Host(draw)
    engine.ahead = 1
    return Case(engine.serve(), known=False, marked=False)


def marks_elsewhere(draw):
    """The marks are a scheduler's, on another thread than the launches."""
    engine = Host(draw, sglang)
    engine.mark_thread = 9
    return Case(engine.serve())


def two_threads(draw):
    """Two engines of one process on one GPU, each with marks of its own: no count of one is the GPU's."""
    first, second = Host(draw, vllm), Host(draw, vllm, tid=8, stream=8)
    return Case(first.serve().take(second.serve(30)), known=False, generated="none")


def two_processes(draw):
    first, second = Host(draw, sglang), Host(draw, sglang, pid=2, stream=8)
    return Case(first.serve().take(second.serve(30)), known=False, generated="none")


def two_unmarked(draw):
    first, second = Host(draw), Host(draw, tid=8, stream=8)
    return Case(first.serve().take(second.serve(30)), known=False, generated="none", marked=False)


def two_unmarked_processes(draw):
    first, second = Host(draw), Host(draw, pid=2)
    return Case(first.serve().take(second.serve(30)), known=False, generated="none", marked=False)


def tensor_ranks_unmarked(draw):
    seed = draw.random()
    first = Host(random.Random(seed), layers=8).serve()
    second = Host(random.Random(seed), layers=8, pid=2, device=1).serve()
    return Case(first.take(second), marked=False)


def two_nodes_unmarked(draw):
    """Engines on a GPU each."""
    first, second = Host(draw), Host(draw, pid=2, device=1)
    return Case(first.serve(60).take(second.serve(20)), known=False, generated="none", marked=False)


def stages(draw):
    """Two GPUs with half of the layers each: the tokens are chosen on the second, which runs behind the first."""
    seed = draw.random()
    first, second = (Host(random.Random(seed), vllm, layers=8, pid=pid, device=pid - 1) for pid in (1, 2))
    for number in range(40):
        prompts, tokens = (1, random.Random(f"{seed} {number}").randint(40, 200)) if number % 8 == 0 else (0, 0)
        first.host = second.host = max(first.host, second.host)
        first.step(prompts, tokens, 0 if prompts else 4, chooses=False)
        second.host = first.device + 5
        second.step(prompts, tokens, 0 if prompts else 4)
    return Case(second.take(first), true=second.steps, known=False)


def apart(draw):
    """One GPU computes prompts, another decodes."""
    prompts, decodes = Host(draw, sglang, pid=1), Host(draw, sglang, pid=2, device=1)
    for _ in range(20):
        prompts.step(1, draw.randint(100, 300), 0)
    for _ in range(60):
        decodes.step(0, 0, 8)
    return Case(decodes.take(prompts), known=False, generated="none")


def tensor_ranks(draw):
    """Two ranks of one engine: the same steps on each."""
    seed = draw.random()
    first = Host(random.Random(seed), vllm, layers=8).serve()
    second = Host(random.Random(seed), vllm, layers=8, pid=2, device=1).serve()
    return Case(first.take(second))


def numbers_again(draw):
    """The engine counts its steps, and is started again in the same capture."""
    trtllm.number = 0
    engine = Host(draw, trtllm).serve(20)
    trtllm.number = 0
    return Case(engine.serve(40, chunked=True))


def cut(draw):
    """The capture begins and ends within a step."""
    engine = Host(draw, vllm).serve()
    first, last = engine.steps[3]["span"], engine.steps[-3]["span"]
    begin, end = (first[0] + first[1]) / 2000, (last[0] + last[1]) / 2000
    engine.events = [event for event in engine.events if event["ts"] >= begin and event["ts"] + event["dur"] <= end]
    return Case(engine, true=engine.steps[4:-3])


def cut_unmarked(draw):
    engine = Host(draw).serve()
    first, last = engine.steps[3]["span"], engine.steps[-3]["span"]
    begin, end = (first[0] + first[1]) / 2000, (last[0] + last[1]) / 2000
    engine.events = [event for event in engine.events if event["ts"] >= begin and event["ts"] + event["dur"] <= end]
    return Case(engine, true=engine.steps[4:-3], known=False, marked=False, generated="any")


def warmed_up(draw):
    """Graphs are captured, and dummy batches run, before the engine serves."""
    engine = Host(draw, vllm)
    for size in (64, 32, 16, 8, 4, 2, 1):
        for _ in range(2):
            engine.model(size, 0, size)
        engine.host += 3000
    return Case(engine.serve())


def warmed_up_unmarked(draw):
    engine = Host(draw)
    for size in (64, 32, 16, 8, 4, 2, 1):
        for _ in range(2):
            engine.model(size, 0, size)
            engine.launch("cudaLaunchKernel", SAMPLER, 4, grid=[size, 1, 1])  # nobody fetches it
        engine.host += 3000
    return Case(engine.serve(), known=False, marked=False)


def drafts_of_a_model(draw):
    """SGLang sets a mark around each pass of each model: of the draft, of the one that verifies, of the draft again."""
    engine, batch = Host(draw), draw.randint(4, 8)
    prefix = draw.choice(("", "draft "))

    def forward(name, rows, prefills, decodes, layers):
        begin = engine.host
        engine.model(rows, prefills, decodes, layers=layers)
        engine.set_mark(name, begin, engine.host)

    for number in range(40):
        begin, prompts = engine.host, number % 8 == 0
        if prompts:
            forward(f"step[EXTEND bs={batch} toks={batch * 64}]", batch * 64, batch, 0, 12)
            engine.choose(batch)
            engine.fetch()
            forward(f"{prefix}step[EXTEND bs={batch} toks={batch * 64}]", batch * 64, batch, 0, 2)
        else:
            for _ in range(3):
                forward(f"{prefix}step[DECODE bs={batch}]", batch, 0, batch, 2)
            forward(f"step[TARGET_VERIFY bs={batch}]", batch * 4, 0, batch, 12)
            engine.choose(batch * 4)
            engine.fetch()
            forward(f"{prefix}step[DRAFT_EXTEND bs={batch}]", batch * 4, 0, batch, 2)
        engine.steps.append({"span": (round(1000 * begin), round(1000 * engine.host)), "requests": batch,
                             "kind": "prefill" if prompts else "speculative", "generated": None})
        engine.host += draw.uniform(20, 60)
    return Case(engine, generated="none")


def drafts_unmarked(draw):
    """Three tokens of a small model, the check of them by the large one, and one fetch."""
    engine, batch = Host(draw), draw.randint(4, 8)
    for number in range(50):
        begin, prompts = max(engine.host, engine.device), number % 12 == 0
        if prompts:
            engine.model(batch * 64, batch, 0, layers=12)
            engine.choose(batch)
        else:
            for _ in range(3):
                engine.model(batch, 0, batch, layers=2)
                engine.launch("cudaLaunchKernel", SAMPLER, 4, grid=[batch, 1, 1])
            engine.model(batch * 4, 0, batch, layers=12)
            engine.choose(batch * 4)
        engine.fetch()
        engine.steps.append({"span": (round(1000 * begin), round(1000 * engine.device)), "requests": batch,
                             "kind": "prefill" if prompts else "speculative", "generated": None})
        engine.host += draw.uniform(20, 60)
    return Case(engine, generated="none", known=False, marked=False, counted=True)


def detailed(prefills, tokens, decodes):
    if prefills and decodes:
        return (f"step[MIXED bs={prefills + decodes} c={prefills} g={decodes} c_sq={tokens} c_sk={tokens} c_sqsq=25 c_sqsk=40 "
                f"g_sq={decodes} g_sk=12 g_sqsq=1 g_sqsk=12]")
    if prefills:
        return f"step[EXTEND bs={prefills} toks={tokens} c_sq={tokens} c_sqsq=99 c_sqsk=99 c_sk={tokens}]"
    return f"step[DECODE bs={decodes} g_sq={decodes} g_sqsq={decodes} g_sqsk=131072 g_sk=131072]"


def atom(prefills, tokens, decodes):
    if decodes:
        return f"decode[bs={decodes}/64 tok={decodes} d={decodes}]" if not prefills else \
            f"decode[bs={decodes + prefills} tok={decodes + tokens} p={prefills} d={decodes}]"
    return f"prefill[bs={prefills} tok={tokens} ctx=[7803, 6918]...+3]"


def squares(prefills, tokens, decodes):
    return f"execute_context_{prefills}({tokens}_{tokens * tokens})_generation_{decodes}({decodes})"


def other_marks(draw):
    return Case(Host(draw, draw.choice((detailed, atom, squares))).serve(chunked=draw.random() < 0.5))


def counted_twice(draw):
    """The profiler's own steps around the engine's marks."""
    engine = Host(draw, vllm).serve()
    for number, step in enumerate(engine.steps):
        engine.add("user_annotation", f"ProfilerStep#{number}", step["span"][0] / 1000 - 5,
                   (step["span"][1] - step["span"][0]) / 1000 + 10, 7)
    return Case(engine)


def one_profiler_step(draw):
    engine = Host(draw, sglang).serve()
    engine.add("user_annotation", "ProfilerStep#3", 990, engine.host - 980, 7)
    return Case(engine)


def embeddings(draw):
    """Prompts alone; no token is ever chosen."""
    engine = Host(draw, draw.choice((None, sglang)))
    for _ in range(30):
        begin, prompts = engine.host, draw.randint(1, 8)
        engine.model(prompts * 64, prompts, 0)
        engine.launch("cudaLaunchKernel", "pooling_kernel", 4, grid=[prompts, 1, 1])
        engine.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 2, category="gpu_memcpy", bytes=prompts * 4096)
        engine.host = engine.device + 5
        if engine.mark:
            engine.set_mark(sglang(prompts, prompts * 64, 0), begin, engine.host)
        engine.steps.append({"span": (round(1000 * begin), round(1000 * engine.host)), "kind": "prefill", "requests": prompts,
                             "generated": None})
        engine.host += 30
    return Case(engine, generated="none", serves=engine.mark is not None)


def images(draw):
    """Diffusion: a text encoder that takes the place of a token by argmax, attention in every layer, an image for the host."""
    engine = Host(draw)
    for _ in range(draw.randint(5, 12)):
        engine.launch("cudaLaunchKernel", SAMPLER, 4, grid=[1, 1, 1], block=[128, 1, 1])
        for _ in range(draw.randint(15, 25)):
            engine.model(1024, 1, 0)
        engine.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 60, category="gpu_memcpy", bytes=3 << 20)
        engine.host = engine.device + 2000
    return Case(engine, true=[], serves=False)


def adapters(draw):
    engine = Host(draw, draw.choice((None, trtllm)))
    engine.more = ("bgmv_shrink_kernel", "bgmv_expand_kernel")
    return Case(engine.serve(), marked=engine.mark is not None)


def strange_numbers(draw):
    """Numbers that no batch has are not known, and none overflows."""
    huge = draw.choice((999_999_999_999_999_999, 9_223_372_036_854_775_808, 10 ** 30))

    form = draw.choice(("execute_context_{0}({1})_generation_{2}({3})", "step[{4} bs={3} toks={3}]", "step[{4} bs={5} toks={3}]",
                        "execute_context_0({3})_generation_{3}({3})", "[Executor] _forward_step {3}: {0} ctx reqs, {2} gen reqs"))

    def mark(prefills, tokens, decodes):
        return form.format(prefills, tokens, decodes, huge, "EXTEND" if prefills else "DECODE", prefills + decodes)
    return Case(Host(draw, mark).serve(), known=False)


def nothing_to_do(draw):
    """Steps for no request, beside other ranks' work."""
    engine = Host(draw, draw.choice((vllm, sglang)))
    for number in range(40):
        if number % 4 == 3:
            begin = engine.host
            engine.model(1, 0, 1)
            engine.set_mark("step[DECODE bs=0 toks=0]" if engine.mark is sglang else vllm(0, 0, 0), begin, engine.host)
            engine.steps.append({"span": (round(1000 * begin), round(1000 * engine.host)), "kind": "unknown", "requests": 0,
                                 "generated": 0})
            engine.host += 20
        else:
            engine.step(0, 0, 8)
    return Case(engine, known=False)


def trained(draw):
    """A training loop whose marks look like an engine's, with attention and an accuracy by argmax."""
    engine = Host(draw)
    text = draw.choice(("step[{}]", "step[train {}]", "Step[{}]", "decode[{}]", "execute_{}"))
    for number in range(30):
        begin = engine.host
        engine.model(512, 1, 0)
        engine.launch("cudaLaunchKernel", SAMPLER, 4, grid=[32, 1, 1])
        engine.add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", engine.host, 50, 7)
        engine.model(512, 1, 0)
        engine.add("cpu_op", "Optimizer.step#AdamW.step", engine.host, 100, 7)
        engine.launch("cudaLaunchKernel", "multi_tensor_apply_kernel_adam", 30, grid=[64, 1, 1])
        engine.launch("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 2, category="gpu_memcpy", bytes=8)
        engine.host = engine.device + 5
        engine.set_mark(text.format(number), begin, engine.host)
        engine.host += 20
    return Case(engine, true=[], serves=False)


def skewed(draw):
    """The clock of the GPU is off."""
    engine, off = Host(draw, vllm).serve(), draw.choice((-40, 40))
    for event in engine.events:
        if event["cat"] in ("kernel", "gpu_memcpy"):
            event["ts"] += off
    for step in engine.steps:
        step["span"] = tuple(end + 1000 * off for end in step["span"])
    return Case(engine)


def escaped(draw):
    engine = Host(draw, sglang).serve()
    engine.escapes = True
    return Case(engine)


CASES = [drafts_unmarked, logits_on_host, generated, several_at_once, escaped, dropped_tokens, prompts_alone, prompts_first, names_again, marks_of_the_model, marks_of_the_model_ahead, ends_with_a_prompt, one_prompt, chunks, ahead, marks_elsewhere, two_threads,
         two_processes, two_unmarked, two_unmarked_processes, tensor_ranks_unmarked, two_nodes_unmarked, stages, apart, tensor_ranks, numbers_again, cut, cut_unmarked, warmed_up, warmed_up_unmarked, drafts_of_a_model, other_marks,
         counted_twice, one_profiler_step, embeddings, images, adapters, strange_numbers, nothing_to_do, trained, skewed]


def answer(program, path):
    done = subprocess.run([program, "analyze", str(path), "--window", "all", "--format", "json"], capture_output=True, text=True)
    if not done.stdout:
        return None, done.stderr.strip()[-200:]
    return json.loads(done.stdout), ""


def faults(case, analysis):
    """What is said that is not true, or not said that must be."""
    window, serving = analysis["window"], analysis["serving"]
    if case.counted and window["all_steps"] and abs(len(window["all_steps"]) - len(case.true)) > 0.05 * len(case.true) + 1:
        return [f"{len(window['all_steps'])} steps said for {len(case.true)} by {window['step_source']}"]
    if not case.serves:
        return [f"a section for what serves nothing: {len(serving['steps'])} steps"] if serving else []
    said, true, found = window["all_steps"], case.true, []
    if not said:
        return ["no steps"] if case.known else []
    of_engine = {(step["index"], step["start_ns"]): step for step in serving["steps"]} if serving else {}
    met, wrong, unknown = 0, [], 0
    for one in true:
        middle = sum(one["span"]) // 2
        inside = [step for step in said if step["start_ns"] <= middle < step["start_ns"] + step["duration_ns"]]
        met += len(inside) == 1
        step = of_engine.get((inside[0]["index"], inside[0]["start_ns"])) if inside else None
        if step is None or step["kind"] == "unknown":
            unknown += one["kind"] != "unknown"
        elif step["kind"] != one["kind"]:
            wrong.append(f"{one['kind']} is said to be {step['kind']}")
    if case.known and abs(len(said) - len(true)) > 0.02 * len(true) + (not case.marked):
        found.append(f"{len(said)} steps said for {len(true)}")
    if len(wrong) > 0.02 * len(true) or (case.marked and wrong and case.known):
        found.append(f"{len(wrong)} wrong kinds: {wrong[0]}")
    if case.known and unknown > 0.02 * len(true) + 1:
        found.append(f"{unknown} of {len(true)} kinds unknown")
    if serving:
        tokens = serving["generated"]
        if case.generated == "none" and tokens is not None:
            found.append(f"{tokens} tokens said to be generated")
        # Start-up is no part of the section.
        counted = [step["generated"] for step in true if sum(step["span"]) // 2 >= serving["steps"][0]["start_ns"]]
        if case.generated == "true" and tokens is not None and None not in counted and abs(tokens - sum(counted)) > 0.01 * sum(counted):
            found.append(f"{tokens} tokens said for {sum(counted)}")
        if expected := getattr(case.engine, "requests", None):
            requests = serving["requests"]
            told = {"count": len(requests), "tokens": sum(one["tokens"] for one in requests)}
            if told != expected or any((one["first_token_ns"] or -1) < 0 for one in requests):
                found.append(f"requests {told} for {expected}")
    elif case.known:
        found.append("no section")
    return found


def main(program, *more):
    seeds = int(more[more.index("--seeds") + 1]) if "--seeds" in more else 4
    only = more[more.index("--only") + 1] if "--only" in more else None
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        for make in CASES:
            if only and make.__name__ != only:
                continue
            for seed in range(seeds):
                case = make(random.Random(f"{make.__name__} {seed}"))
                case.engine.save(path)
                if getattr(case.engine, "escapes", False):
                    path.write_text(path.read_text().replace("step[", "\\u0073t\\u0065p\\u005b").replace("bs=", "bs\\u003d"))
                if only:
                    case.engine.save(pathlib.Path(f"/tmp/{only}_{seed}.json"))
                analysis, error = answer(program, path)
                found = faults(case, analysis) if analysis else [f"no answer: {error}"]
                wrong += bool(found)
                for fault in found:
                    print(f"{make.__name__} {seed}: {fault}")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
