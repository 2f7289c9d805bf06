#!/usr/bin/env python3
"""A small inference engine with continuous batching, random weights and an exact log of its own:
engine.py --log LOG.json [--marks none|sglang|vllm|vllm_new] [--request-marks] [--chunk TOKENS] …

A decoder of 0.95 billion parameters in bfloat16 with a dense cache of keys and values, a row of it
a request. Running requests hold the first rows, so that a step of decoding works on a slice; those
steps are CUDA graphs of a few batch sizes, prompts are eager. The tokens of each step are copied to
the host. Requests come as a Poisson process of a seed (--rate 0: all at once). Without --chunk
prompts have steps of their own; with it up to so many tokens of prompts join the decoding.

The log has each step's kind, tokens, tokens as run (padded), requests and times (t0: begin, t1:
its work is given to the GPU, t2: its tokens are on the host) and each request's arrival and tokens,
all in nanoseconds since 1970. With --serve it takes loads from standard input, a line of JSON each
(rate, requests, seed), and answers with a line of figures. --cpu: a tiny model, to test all this.
"""
import argparse
import contextlib
import json
import os
import random
import statistics
import sys
import time

import torch
from torch.nn import functional

from joules import energy

ROWS, SIZES, PROMPTS_A_STEP = 32, [1, 2, 4, 8, 16, 32], 2048
LARGE = {"width": 2048, "heads": 16, "inner": 5632, "words": 32000, "layers": 16, "length": 512}
TINY = {"width": 64, "heads": 4, "inner": 128, "words": 500, "layers": 2, "length": 128}
now = time.time_ns


class Net:
    """A decoder whose every layer is a norm, attention, a norm and a gated perceptron."""

    def __init__(self, shape, device, kind):
        self.shape, self.device, self.kind = shape, device, kind
        torch.manual_seed(0)
        width, inner, words = shape["width"], shape["inner"], shape["words"]

        def weight(outputs, inputs):
            return torch.randn(outputs, inputs, device=device, dtype=kind) * 0.6 * inputs ** -0.5
        self.words, self.places = weight(words, width), weight(shape["length"], width)
        self.head = weight(words, width)
        self.norm = torch.ones(width, device=device, dtype=kind)
        self.layers = [{"qkv": weight(3 * width, width), "out": weight(width, width),
                        "up": weight(2 * inner, width), "down": weight(width, inner)}
                       for _ in range(shape["layers"])]
        self.cache = torch.zeros(shape["layers"], 2, ROWS, shape["length"], shape["heads"],
                                 width // shape["heads"], device=device, dtype=kind)

    def parameters(self):
        return sum(tensor.numel() for tensor in [self.words, self.places, self.head] + [
            tensor for layer in self.layers for tensor in layer.values()])

    def forward(self, tokens, places, rows, attend, chosen=None):
        """The next token of `chosen` tokens, of all without. attend(query, key, value, kept keys,
        kept values) gives what each token draws from those that it may see."""
        width, heads = self.shape["width"], self.shape["heads"]
        x = functional.embedding(tokens, self.words) + functional.embedding(places, self.places)
        for layer, (keys, values) in zip(self.layers, self.cache):
            normed = functional.rms_norm(x, (width,), self.norm, 1e-6)
            query, key, value = functional.linear(normed, layer["qkv"]).view(
                len(tokens), 3, heads, -1).unbind(1)
            keys[rows, places], values[rows, places] = key, value
            seen = attend(query, key, value, keys, values)
            x = x + functional.linear(seen.reshape(len(tokens), width), layer["out"])
            normed = functional.rms_norm(x, (width,), self.norm, 1e-6)
            gate, up = functional.linear(normed, layer["up"]).chunk(2, -1)
            x = x + functional.linear(functional.silu(gate) * up, layer["down"])
        if chosen is not None:
            x = x[chosen]
        x = functional.rms_norm(x, (width,), self.norm, 1e-6)
        return functional.linear(x, self.head).argmax(-1)

    def decode_attention(self, places):
        """One token of each of the first rows, against all that is kept of it. The mask is made
        once a step and in the type of the queries, else each layer would convert it."""
        count, length = len(places), self.shape["length"]
        mask = torch.zeros(count, length, device=self.device, dtype=self.kind).masked_fill_(
            torch.arange(length, device=self.device) > places[:, None], float("-inf"))
        mask = mask[:, None, None].expand(-1, self.shape["heads"], -1, -1)

        def attend(query, _key, _value, keys, values):
            return functional.scaled_dot_product_attention(
                query[:, :, None], keys[:count].transpose(1, 2), values[:count].transpose(1, 2),
                attn_mask=mask)[:, :, 0]
        return attend

    def prompt_attention(self, pieces, decodes):
        """Pieces of prompts (row, first place, end), behind `decodes` tokens of decoding."""
        decoding = self.decode_attention(decodes) if len(decodes) else None
        masks = [None] * len(pieces)
        for number, (_, first, end) in enumerate(pieces):
            if first:  # the efficient kernel wants keys in eights
                room = min(-(-end // 8) * 8, self.shape["length"])
                masks[number] = torch.full((end - first, room), float("-inf"), dtype=self.kind,
                                           device=self.device).triu_(first + 1)

        def attend(query, key, value, keys, values):
            seen, at = [], len(decodes)
            if at:
                seen.append(decoding(query[:at], None, None, keys, values))
            for (row, first, end), mask in zip(pieces, masks):
                to = at + end - first
                ask = query[None, at:to].transpose(1, 2)
                if mask is None:
                    own, given = key[None, at:to], value[None, at:to]
                else:
                    own, given = (kept[row:row + 1, :mask.shape[1]] for kept in (keys, values))
                got = functional.scaled_dot_product_attention(
                    ask, own.transpose(1, 2), given.transpose(1, 2), attn_mask=mask,
                    is_causal=mask is None)
                seen.append(got[0].transpose(0, 1))
                at = to
            return torch.cat(seen) if len(seen) > 1 else seen[0]
        return attend


class Marks:
    """Ranges as engines draw them: NVTX, and where a profiler looks on, its own too."""

    def __init__(self, style, of_requests, cuda, profiled):
        self.style, self.of_requests, self.cuda, self.profiled = style, of_requests, cuda, profiled

    @contextlib.contextmanager
    def range(self, text):
        record = torch.profiler.record_function(text) if self.profiled else None
        if self.cuda:
            torch.cuda.nvtx.range_push(text)
        with record or contextlib.nullcontext():
            yield
        if self.cuda:
            torch.cuda.nvtx.range_pop()

    def step(self, prompts, tokens, decodes):
        """A range around a step of so many prompts with so many tokens, and of so many decodes."""
        if self.style == "sglang":
            mode = "MIXED" if prompts and decodes else "EXTEND" if prompts else "DECODE"
            return self.range(f"step[{mode} bs={prompts + decodes} toks={tokens + decodes}]")
        if self.style == "vllm":
            return self.range(
                f"execute_context_{prompts}({tokens})_generation_{decodes}({decodes})")
        if self.style == "vllm_new":
            return self.range(f"execute_new_{prompts}_cached_{decodes}")
        return contextlib.nullcontext()

    def request(self, number, tokens):
        if self.of_requests:
            with self.range(f"gpufathom.request({number}, {tokens})"):
                pass

    def arrived(self, number):
        if self.of_requests:
            with self.range(f"gpufathom.arrived({number})"):
                pass


class Request:
    def __init__(self, number, due, prompt, wanted):
        self.number, self.due, self.prompt, self.wanted = number, due, prompt, wanted
        self.done, self.given, self.times, self.arrival = 0, [], [], None


def load_of(seed, count, rate, shape):
    """Requests of a Poisson process; prompts of many lengths, all of which leave room to answer."""
    chance, due, requests = random.Random(seed), 0.0, []
    longest = shape["length"] // 2
    for number in range(count):
        due += chance.expovariate(rate) if rate else 0.0
        length = min(longest, max(8, int(chance.lognormvariate(0, 0.8) * longest / 3)))
        prompt = [chance.randrange(shape["words"]) for _ in range(length)]
        requests.append(Request(number, due, prompt, chance.randint(8, shape["length"] // 4)))
    return requests


class Engine:
    def __init__(self, options):
        self.cuda = torch.cuda.is_available() and not options.cpu
        self.shape = dict(LARGE if self.cuda else TINY)
        if options.layers:
            self.shape["layers"] = options.layers
        self.device = "cuda" if self.cuda else "cpu"
        self.chunk = options.chunk
        self.net = Net(self.shape, self.device, torch.bfloat16)
        self.marks = Marks(options.marks, options.request_marks, self.cuda, bool(options.profile))
        self.inputs = torch.zeros(2, ROWS, dtype=torch.long, device=self.device)  # tokens, places
        self.all_rows = torch.arange(ROWS, device=self.device)
        self.given = torch.zeros(2, PROMPTS_A_STEP + ROWS, dtype=torch.long, pin_memory=self.cuda)
        self.taken = torch.zeros(ROWS, dtype=torch.long, pin_memory=self.cuda)
        self.graphs = {}
        if self.cuda:
            torch.backends.cuda.enable_cudnn_sdp(options.cudnn)
            self.capture(options.names)
        self.begin()
        for length in (8, 64, min(200, self.shape["length"] // 2)):  # libraries load their kernels
            prompt = torch.zeros(length, dtype=torch.long, device=self.device)
            self.net.forward(prompt, torch.arange(length, device=self.device), prompt,
                             self.net.prompt_attention([(0, 0, length)], prompt[:0]))
        self.wait()

    def begin(self):
        self.waiting, self.rows, self.steps = [], [], []  # rows: decoding first, then prompts

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def decode_of(self, size):
        tokens, places = self.inputs[:, :size]
        return self.net.forward(tokens, places, self.all_rows[:size],
                                self.net.decode_attention(places))

    def capture(self, names):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for size in SIZES:
                self.decode_of(size)
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        pool = None
        # Operators as NVTX ranges while the graphs are captured, if asked for: replays have none.
        ranges = torch.autograd.profiler.emit_nvtx() if names else contextlib.nullcontext()
        with ranges:
            for size in reversed(SIZES):
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=pool):
                    out = self.decode_of(size)
                pool = pool or graph.pool()
                self.graphs[size] = graph, out
        for graph, _ in self.graphs.values():
            graph.replay()
        torch.cuda.synchronize()

    def ready(self):
        """Requests whose prompts are done; they hold the first rows."""
        return sum(request.done == len(request.prompt) for request in self.rows)

    def choose(self):
        """The plan of the next step: how many rows decode, and the pieces of prompts."""
        ready, pieces = self.ready(), []
        if self.chunk:
            left = max(self.chunk - ready, 0)
            while left and self.waiting and len(self.rows) < ROWS:
                self.rows.append(self.waiting.pop(0))
                left -= min(left, len(self.rows[-1].prompt))
            left = max(self.chunk - ready, 0)
            for row, request in enumerate(self.rows[ready:], ready):
                size = min(left, len(request.prompt) - request.done)
                if size:
                    pieces.append((row, request.done, request.done + size))
                left -= size
            return ready, pieces
        left = PROMPTS_A_STEP
        while self.waiting and len(self.rows) < ROWS and len(self.waiting[0].prompt) <= left:
            self.rows.append(self.waiting.pop(0))
            length = len(self.rows[-1].prompt)
            pieces.append((len(self.rows) - 1, 0, length))
            left -= length
        return (0 if pieces else ready), pieces

    def put(self, tokens, places):
        count = len(tokens)
        self.given[0, :count], self.given[1, :count] = torch.tensor(tokens), torch.tensor(places)
        return self.given[:, :count]

    def decode(self, count):
        size = next(each for each in SIZES if each >= count)
        fill = [0] * (size - count)
        given = self.put([request.given[-1] for request in self.rows[:count]] + fill,
                         [len(request.prompt) + len(request.given) - 1
                          for request in self.rows[:count]] + fill)
        for to, of in zip(self.inputs[:, :size], given):
            to.copy_(of, non_blocking=True)
        if not self.cuda:
            return self.decode_of(size), size
        graph, out = self.graphs[size]
        graph.replay()
        return out, size

    def with_prompts(self, decodes, pieces):
        running = self.rows[:decodes]
        tokens = [request.given[-1] for request in running]
        places = [len(request.prompt) + len(request.given) - 1 for request in running]
        rows, chosen = list(range(decodes)), list(range(decodes))
        for row, first, end in pieces:
            tokens += self.rows[row].prompt[first:end]
            places += range(first, end)
            rows += [row] * (end - first)
            if end == len(self.rows[row].prompt):
                chosen.append(len(tokens) - 1)
        given = self.put(tokens, places).to(self.device, non_blocking=True)
        rows = torch.tensor(rows).to(self.device)
        out = self.net.forward(given[0], given[1], rows, self.net.prompt_attention(
            pieces, given[1][:decodes]), torch.tensor(chosen, dtype=torch.long).to(self.device))
        return out, len(tokens)

    def step(self):
        decodes, pieces = self.choose()
        begin, prompt_tokens = now(), sum(end - first for _, first, end in pieces)
        parts = [(row, 1) for row in range(decodes)] + [(row, end - at) for row, at, end in pieces]
        with self.marks.step(len(pieces), prompt_tokens, decodes):
            for row, tokens in parts:
                self.marks.request(self.rows[row].number, tokens)
            out, run = self.with_prompts(decodes, pieces) if pieces else self.decode(decodes)
            for row, _, end in pieces:
                self.rows[row].done = end
            got = [row for row, _ in parts
                   if self.rows[row].done == len(self.rows[row].prompt)]
            if got:
                self.taken[:len(got)].copy_(out[:len(got)], non_blocking=True)
            given = now()
            self.wait()
            end = now()
        for row, token in zip(got, self.taken.tolist()):
            self.rows[row].given.append(token)
            self.rows[row].times.append(end)
        kind = "decode" if not pieces else "mixed" if decodes else "prefill" if got else "chunked"
        self.steps.append({
            "kind": kind, "tokens": prompt_tokens + decodes, "padded": run, "graph": not pieces,
            "prefills": len(pieces), "decodes": decodes, "generated": len(got),
            "requests": [[self.rows[row].number, tokens] for row, tokens in parts],
            "t0": begin, "t1": given, "t2": end})
        self.leave()

    def leave(self):
        """Rows of those that are served go to the last that decodes, and its to the last of all."""
        for row in reversed(range(len(self.rows))):
            if len(self.rows[row].given) < self.rows[row].wanted:
                continue
            for last in (self.ready() - 1, len(self.rows) - 1):
                if last > row:
                    self.net.cache[:, :, row].copy_(self.net.cache[:, :, last])
                    self.rows[row] = self.rows[last]
                    row = last
            self.rows.pop()

    @torch.inference_mode()
    def serve(self, requests):
        self.begin()
        coming, begin = list(requests), now()
        while coming or self.waiting or self.rows:
            while coming and now() >= begin + coming[0].due * 1e9:
                request = coming.pop(0)
                self.marks.arrived(request.number)
                request.arrival = now()
                self.waiting.append(request)
            if self.waiting or self.rows:
                self.step()
            else:
                time.sleep(max(0.0, (begin + coming[0].due * 1e9 - now()) / 1e9))
        return begin, now()


def figures(engine, begin, end):
    decodes = [step for step in engine.steps if step["kind"] == "decode"]
    full = [(step["t2"] - step["t0"]) / 1e6 for step in decodes if step["decodes"] > ROWS // 2]
    every = [(step["t2"] - step["t0"]) / 1e6 for step in decodes]
    tokens = sum(step["generated"] for step in engine.steps)
    return {"seconds": (end - begin) / 1e9, "steps": len(engine.steps), "tokens": tokens,
            "tokens_per_s": tokens / ((end - begin) / 1e9),
            "decode_ms_p50": statistics.median(full or every) if every else None,
            "decodes": len(full or every), "start": begin, "end": end}


def log_of(engine, requests, options, begin, end, joules):
    return {"meta": {"parameters": engine.net.parameters(), "marks": options.marks,
                     "mode": "chunked" if options.chunk else "graph",
                     "request_marks": options.request_marks, "chunk": options.chunk,
                     "names": options.names, "rate": options.rate, "seed": options.seed,
                     "torch": torch.__version__, "pid": os.getpid(), "start": begin, "end": end,
                     "mj_start": joules[0], "mj_end": joules[1],
                     **{key: value for key, value in figures(engine, begin, end).items()
                        if key not in ("start", "end")}},
            "steps": engine.steps,
            "requests": [{"id": request.number, "due": begin + round(request.due * 1e9),
                          "arrival": request.arrival, "prompt": len(request.prompt),
                          "first_token": request.times[0], "times": request.times}
                         for request in requests]}


def profiled(path, cuda):
    """torch.profiler around what is in it, as a trace."""
    if not path:
        return contextlib.nullcontext()
    kinds = [torch.profiler.ProfilerActivity.CPU]
    kinds += [torch.profiler.ProfilerActivity.CUDA] if cuda else []
    return torch.profiler.profile(activities=kinds,
                                  on_trace_ready=lambda of: of.export_chrome_trace(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log")
    parser.add_argument("--marks", default="none", choices=["none", "sglang", "vllm", "vllm_new"])
    parser.add_argument("--request-marks", action="store_true")
    parser.add_argument("--chunk", type=int, default=0)
    parser.add_argument("--requests", type=int, default=64)
    parser.add_argument("--rate", type=float, default=0, help="requests a second, 0: all at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=int)
    parser.add_argument("--names", action="store_true", help="operators as ranges in the capture")
    parser.add_argument("--cudnn", action="store_true", help="attention may be cuDNN's")
    parser.add_argument("--profile", help="a trace of torch.profiler, with the graphs' capture")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    options.chunk = min(options.chunk, PROMPTS_A_STEP)
    with profiled(options.profile, torch.cuda.is_available() and not options.cpu):
        with torch.inference_mode():
            engine = Engine(options)
        if not options.serve:
            requests, read = load_of(options.seed, options.requests, options.rate,
                                     engine.shape), energy()
            first = read()
            begin, end = engine.serve(requests)
            log = log_of(engine, requests, options, begin, end, (first, read()))
    if not options.serve:
        if options.log:
            with open(options.log, "w", encoding="utf-8") as file:
                json.dump(log, file)
        print(json.dumps(figures(engine, begin, end)), flush=True)
        return
    print(json.dumps({"ready": True, "pid": os.getpid()}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        requests = load_of(asked.get("seed", 1), asked["requests"], asked.get("rate", 0),
                           engine.shape)
        print(json.dumps(figures(engine, *engine.serve(requests))), flush=True)


if __name__ == "__main__":
    main()
