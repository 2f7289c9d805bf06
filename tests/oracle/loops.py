"""Loops that could be one batch, and those that could not: traces of both are made up, and
`analyze` must tell them apart. Usage: loops.py PROGRAM [--seeds N]

A recurrence carries a state from round to round, layers hand their result on, a training loop
changes weights, the host works on what it got: of these nothing may be said, whatever is put
together afterwards. Each case is written down as the operators that PyTorch would record, with
their kernels; the number of rounds, times and whether shapes are recorded are drawn by lot.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ADD, MUL = "at::native::CUDAFunctor_add<float>", "at::native::BinaryFunctor<float, float, float, MulFunctor<float>>"
SCALED = "at::native::BUnaryFunctor<float, float, float, MulFunctor<float>>"
# Operators that only look at memory in another way start nothing; of the others the kernel's
# functor tells how many tensors they take.
VIEWS = {"select", "slice", "unbind", "chunk", "squeeze", "unsqueeze", "transpose", "reshape",
         "lift_fresh"}
FUNCTORS = {"add": ADD, "sub": ADD, "mul": MUL, "scaled": SCALED, "eq": SCALED}

RECURRENCES = {
    "rnn_by_hand": "select linear linear add tanh",
    "relu_rnn_with_head": "select linear linear add relu linear",
    "lstm_by_hand": "select linear linear add chunk sigmoid sigmoid sigmoid tanh mul mul add tanh mul",
    "gru_by_hand": "select linear linear chunk chunk add sigmoid add sigmoid mul add tanh sub mul add",
    "lstm_cell": "select lstm_cell linear",
    "state_space_scan": "select mul select add select unsqueeze matmul squeeze",
    "linear_attention": "select select select mul add matmul",
    "advantages": "select scaled add",
    "rotations_in_a_chain": "select matmul",
    "products_in_a_chain": "select matmul tanh",
    "forward_algorithm": "select matmul mul",
    "greedy_decoding": "embedding layer_norm linear scaled_dot_product_attention linear gelu linear argmax",
    "sampled_decoding": "select embedding linear gelu linear softmax multinomial",
    "beam_search": "select linear log_softmax topk",
    "video_with_memory": "select cat conv2d relu conv2d relu conv2d",
    "memory_written": "select linear copy_ linear softmax",
    "residual_state": "select linear add layer_norm linear relu",
    "fed_by_the_host": "to linear relu linear softmax to_host",
    "solver_that_asks": "matmul mul sum mul add sub mul sum item select mul add",
    "decoder_that_asks": "embedding linear relu linear slice argmax item",
    "fed_and_asked": "to_device linear relu linear softmax item",
    "worked_on_by_the_host": "select linear relu linear to_host",
    "memory_asked": "select linear mul item",
    "tree_searched": "slice tanh item conv2d relu conv2d relu linear slice softmax item",
}
LAYERS = {
    "transformer_blocks": "layer_norm linear scaled_dot_product_attention linear add layer_norm linear gelu linear add",
    "plain_layers": "linear relu",
    "jumping_knowledge": "linear zeros index_add_ add relu",
    "diffusion_trajectory": "conv2d group_norm silu conv2d add scaled add",
    "dense_block": "cat batch_norm relu conv2d",
    "residual_blocks": "conv2d batch_norm relu conv2d batch_norm add relu",
    "optimizer_steps": "select linear relu linear mse_loss _foreach_add_",
    "library_function": "select MyFunction",
}
BATCHES = {
    "heads": ("chunk", "transpose matmul scaled softmax matmul"),
    "tables": ("unbind", "reshape embedding_bag"),
    "frames": ("", "lift_fresh to_device to scaled"),
    "samples": ("", "slice linear gelu linear gelu linear"),
    "views": ("", "slice " + "conv2d batch_norm relu conv2d batch_norm add relu " * 4 + "mean linear softmax"),
    "graphs": ("", "slice " + "zeros index index_add_ linear relu add " * 4 + "sum"),
    "members": ("", "unbind " + "select matmul tanh " * 4),
    "crops": ("", "slice slice upsample_bilinear2d"),
    "filters": ("unbind", "fft_rfft scaled fft_irfft mean"),
    "classes_asked": ("", "select linear softmax argmax item"),
    "values_asked": ("", "select linear relu linear item"),
    "inverses": ("unbind", "linalg_inv_that_waits"),
    "experts": ("", "eq nonzero_that_waits squeeze index select linear silu mul linear mul index_add_"),
}


class Trace:
    def __init__(self, draw, shapes):
        self.draw, self.shapes = draw, shapes
        self.events, self.now, self.device, self.correlation = [], 1000.0, 0.0, 0

    def op(self, name, duration, inside=()):
        begin = self.now
        self.now += 1
        for one in inside:
            one()
        self.now = max(self.now + 0.5, begin + duration)
        args = {"External id": len(self.events) + 1}
        if self.shapes:
            args |= {"Input Dims": [[8, 64]], "Input type": ["float"]}
        self.events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1,
                            "ts": begin, "dur": self.now - begin, "args": args})
        self.now += self.draw.uniform(1, 3)

    def wait(self):
        """The host waits for the device."""
        end = max(self.now, self.device) + 1.5
        self.events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize",
                            "pid": 1, "tid": 1, "ts": self.now,
                            "dur": end - self.now, "args": {"External id": 0}})
        self.now = end + 0.5

    def launch(self, name, kind="kernel", grid=(4, 1, 1), length=None, size=0):
        self.correlation += 1
        call = {"kernel": "cudaLaunchKernel"}.get(kind, "cudaMemcpyAsync")
        self.events.append({"ph": "X", "cat": "cuda_runtime", "name": call, "pid": 1, "tid": 1,
                            "ts": self.now, "dur": 3.0,
                            "args": {"correlation": self.correlation, "External id": 0}})
        self.now += 3.5
        start = max(self.now, self.device)
        length = length or self.draw.uniform(1.5, 4)
        self.device = start + length
        args = {"correlation": self.correlation, "device": 0, "context": 1, "stream": 7,
                "External id": 0}
        args |= {"grid": list(grid), "block": [128, 1, 1]} if kind == "kernel" else {"bytes": size}
        self.events.append({"ph": "X", "cat": kind, "name": name, "pid": 0, "tid": 7, "ts": start,
                            "dur": length, "args": args})

    def work(self, word, length=None):
        if word in VIEWS:
            return self.op(f"aten::{word}", 2)
        grid = (264, 1, 1) if length else (4, 1, 1)  # what fills the device gains nothing
        if word.endswith("_that_waits"):
            name = word.removesuffix("_that_waits")
            return self.op(f"aten::{name}", 8,
                           [lambda: self.launch(f"{name}_kernel", grid=grid, length=length),
                            self.wait])
        if word in ("item", "to_host", "to_device"):
            copy = "HtoD (Pageable -> Device)" if word == "to_device" else "DtoH (Device -> Pageable)"
            size = 4 if word == "item" else 80_000
            return self.op("aten::item" if word == "item" else "aten::to", 6,
                           [lambda: self.launch(f"Memcpy {copy}", "gpu_memcpy", size=size),
                            self.wait])
        functor = FUNCTORS.get(word)
        kernel = f"void at::native::vectorized_elementwise_kernel<4, {functor}>" if functor else f"{word}_kernel"
        name = {"scaled": "aten::mul", "MyFunction": "MyFunction"}.get(word, f"aten::{word}")
        self.op(name, 8, [lambda: self.launch(kernel, grid=grid, length=length)])

    def gather(self, rounds, stacked):
        def cat():
            self.op("aten::cat", 8, [lambda: self.launch("void at::native::CatArrayBatchedCopy<float>", grid=(16, rounds, 1))])

        if not stacked:
            return cat()
        self.op("aten::stack", 8, [*[lambda: self.op("aten::unsqueeze", 1)] * rounds, cat])

    def save(self, path):
        device = {"id": 0, "name": "NVIDIA H200", "numSms": 132, "computeMajor": 9,
                  "computeMinor": 0, "totalGlobalMem": 150 * 10**9}
        path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [device],
                                    "traceEvents": self.events}))


def loop(draw, before, words, rounds, length=None):
    trace = Trace(draw, draw.random() < 0.5)
    for _ in range(draw.randint(2, 4)):
        for word in ("randn", "linear", "relu"):
            trace.work(word)
        if before:
            trace.work(before)
        for _ in range(rounds):
            for word in words.split():
                trace.work(word, length)
        trace.gather(rounds, draw.random() < 0.5)
        trace.work("sum")
    return trace


def main(program, *more):
    seeds = int(more[1]) if more[:1] == ("--seeds",) else 3
    failed = cases = 0
    quiet = RECURRENCES | LAYERS
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(seeds):
            draw = random.Random(seed)
            made = [(name, False, loop(draw,
                                       draw.choice(["", "unbind"]) if name in RECURRENCES else "",
                                       words, draw.randint(8, 40)))
                    for name, words in quiet.items()]
            made += [(name, True, loop(draw, *parts, draw.randint(8, 40)))
                     for name, parts in BATCHES.items()]
            made += [(f"few_{name}", False, loop(draw, *parts, draw.randint(2, 7)))
                     for name, parts in BATCHES.items()]
            made += [(f"large_{name}", False, loop(draw, *parts, 12, length=400))
                     for name, parts in BATCHES.items() if name != "frames"]
            for name, expected, trace in made:
                path = pathlib.Path(folder) / "trace.json"
                trace.save(path)
                done = subprocess.run([program, "analyze", str(path), "--format", "json"],
                                      capture_output=True, text=True)
                said = [one["id"] for one in json.loads(done.stdout)["findings"]]
                cases += 1
                if ("unbatched_loop" in said) != expected:
                    failed += 1
                    print(f"{name} (seed {seed}): {'not said' if expected else 'said'}; {' '.join(said)}")
    print(f"{cases - failed} of {cases} told apart")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
