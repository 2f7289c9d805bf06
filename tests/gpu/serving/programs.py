#!/usr/bin/env python3
"""Programs whose start-up is unlike their loop, without marks: programs.py NAME [--seconds S]

Each tunes, loads or allocates first, then works in a loop of equal steps for S seconds. It prints a
line of JSON: the steps of the loop and its begin and end in nanoseconds since 1970. Without a GPU
those of PyTorch and JAX run on the CPU with small sizes, so that they can be tried.
"""
import argparse
import json
import os
import sys
import tempfile
import time

MOST_STEPS = 3000


def loop(step, wait, seconds):
    for number in range(3):
        step(number)
    wait()
    begin, until, steps = time.time_ns(), time.monotonic() + seconds, 0
    while time.monotonic() < until and steps < MOST_STEPS:
        step(steps)
        steps += 1
        if steps % 8 == 0:
            wait()  # else thousands of launches wait in the queue
    wait()
    print(json.dumps({"steps": steps, "t0": begin, "t1": time.time_ns()}), flush=True)


def torch_parts():
    import torch
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    return torch, device, wait, 1 if device == "cuda" else 8


def start_up(torch, device):
    """Work before the loop that no step of it does: products of other sizes, sorts, pauses."""
    for size in (300, 700, 1100):
        matrix = torch.randn(size, size, device=device)
        for _ in range(20):
            matrix = torch.tanh(matrix @ matrix * 0.01)
        matrix.sort(0)
        matrix.sum().item()
        time.sleep(0.15)


def foreach(seconds):
    torch, device, wait, small = torch_parts()
    start_up(torch, device)
    net = torch.nn.Sequential(*[part for _ in range(12) for part in (
        torch.nn.Linear(1024 // small, 1024 // small), torch.nn.GELU())]).to(device)
    adam = torch.optim.AdamW(net.parameters(), 1e-4, foreach=True)
    batch = torch.randn(4096 // small, 1024 // small, device=device)

    def step(_):
        adam.zero_grad()
        net(batch).square().mean().backward()
        adam.step()
    loop(step, wait, seconds)


def scatter(seconds):
    """A graph network as PyG writes it: gathers, messages and sums by target."""
    torch, device, wait, small = torch_parts()
    nodes, edges, width = 60000 // small, 600000 // small, 128
    features = torch.randn(nodes, width, device=device)
    source, target = torch.randint(0, nodes, (2, edges), device=device)
    labels = torch.randint(0, 40, (nodes,), device=device)
    for _ in range(10):  # neighbours are sorted and counted before the training
        order = torch.argsort(target)
        torch.bincount(target[order], minlength=nodes).max().item()
        time.sleep(0.05)
    net = torch.nn.ModuleList([torch.nn.Linear(2 * width, width), torch.nn.Linear(2 * width, 40)])
    net.to(device)
    adam = torch.optim.Adam(net.parameters(), 1e-3)

    def step(_):
        x = features
        for layer in net:
            drawn = torch.zeros_like(x).index_add_(0, target, x[source])
            x = layer(torch.cat([x, drawn], 1))
            x = x.relu() if layer is not net[-1] else x
        loss = torch.nn.functional.cross_entropy(x, labels)
        adam.zero_grad()
        loss.backward()
        adam.step()
    loop(step, wait, seconds)


def cupy_raw(seconds):
    import cupy
    fields = cupy.random.rand(64, 512, 512).astype(cupy.float32)
    for _ in range(4):  # plans and a sort before the loop
        cupy.sort(fields.ravel()[:4_000_000])
        cupy.cumsum(fields[0])
        cupy.cuda.Stream.null.synchronize()
    damp = cupy.RawKernel("""extern "C" __global__ void damp(float2* x, long n, float by) {
        long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
        if (i < n) { x[i].x *= by; x[i].y *= by; } }""", "damp")
    blend = cupy.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x * y + 0.5f", "blend")

    def step(_):
        spectrum = cupy.fft.rfft2(fields).astype(cupy.complex64)
        damp(((spectrum.size + 255) // 256,), (256,),
             (spectrum, cupy.int64(spectrum.size), cupy.float32(0.999)))
        blend(fields, cupy.fft.irfft2(spectrum).astype(cupy.float32)).sum(axis=0)
    loop(step, cupy.cuda.Stream.null.synchronize, seconds)


def numba_heat(seconds):
    import numpy
    for gone, kept in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
        if not hasattr(numpy, gone):  # numba still asks for names that NumPy 2.5 has no more
            setattr(numpy, gone, getattr(numpy, kept))
    from numba import cuda

    @cuda.jit
    def heat(old, new):
        x, y = cuda.grid(2)
        if 0 < x < old.shape[0] - 1 and 0 < y < old.shape[1] - 1:
            new[x, y] = 0.25 * (old[x - 1, y] + old[x + 1, y] + old[x, y - 1] + old[x, y + 1])
    grids = [cuda.to_device(numpy.random.rand(4096, 4096).astype(numpy.float32)) for _ in range(2)]
    for _ in range(6):  # the host looks at the fields
        grids[0].copy_to_host().mean()

    def step(_):
        for _ in range(10):
            heat[(128, 512), (32, 8)](grids[0], grids[1])
            grids.reverse()
    loop(step, cuda.synchronize, seconds)


def autotune(seconds):
    torch, device, wait, small = torch_parts()
    net = torch.nn.Sequential(torch.nn.Linear(1024 // small, 4096 // small), torch.nn.GELU(),
                              torch.nn.Linear(4096 // small, 1024 // small))
    net = net.to(device, torch.bfloat16)
    fast = torch.compile(net, mode="max-autotune" if device == "cuda" else "default")
    batch = torch.randn(8192 // small, 1024 // small, device=device, dtype=torch.bfloat16)

    def step(_):
        with torch.no_grad():
            fast(batch)
    loop(step, wait, seconds)


def trainer(seconds):
    torch, device, wait, small = torch_parts()
    import transformers

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 100_000

        def __getitem__(self, number):
            chance = torch.Generator().manual_seed(number)
            words = torch.randint(0, 8000, (256,), generator=chance)
            return {"input_ids": words, "labels": words}

    class Watch(transformers.TrainerCallback):
        begin, first = None, 4

        def on_step_begin(self, _options, state, control, **_more):
            if state.global_step == self.first:
                wait()
                self.begin, self.until = time.time_ns(), time.monotonic() + seconds

        def on_step_end(self, _options, state, control, **_more):
            control.should_training_stop = self.begin and time.monotonic() > self.until

        def on_train_end(self, _options, state, control, **_more):
            wait()
            print(json.dumps({"steps": state.global_step - self.first, "t0": self.begin,
                              "t1": time.time_ns()}), flush=True)
    net = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        hidden_size=512 // small, num_hidden_layers=6, num_attention_heads=8,
        num_key_value_heads=4, intermediate_size=1408 // small, vocab_size=8000))
    with tempfile.TemporaryDirectory() as folder:
        options = transformers.TrainingArguments(
            output_dir=folder, per_device_train_batch_size=16 // small, max_steps=MOST_STEPS,
            bf16=device == "cuda", logging_strategy="no", save_strategy="no", report_to=[],
            disable_tqdm=True, dataloader_num_workers=2 if device == "cuda" else 0)
        transformers.Trainer(model=net, args=options, train_dataset=Data(),
                             callbacks=[Watch()]).train()


def graph(seconds):
    torch, device, wait, small = torch_parts()
    start_up(torch, device)
    net = torch.nn.Sequential(*[part for _ in range(8) for part in (
        torch.nn.Linear(1024 // small, 1024 // small), torch.nn.LayerNorm(1024 // small),
        torch.nn.GELU())]).to(device)
    batch = torch.randn(256, 1024 // small, device=device)
    run = lambda: net(batch)
    with torch.no_grad():
        run()
        if device == "cuda":
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                net(batch)
            wait()
            captured = torch.cuda.CUDAGraph()
            with torch.cuda.graph(captured):
                net(batch)
            run = captured.replay
        loop(lambda _: run(), wait, seconds)


class Pictures:
    def __len__(self):
        return 1 << 20

    def __getitem__(self, number):
        import numpy
        drawn = numpy.random.default_rng(number).integers(0, 255, (3, 160, 160), numpy.uint8)
        return (drawn.astype(numpy.float32) / 255)[:, 16:144, 16:144].copy(), number % 100


def loader(seconds):
    torch, device, wait, small = torch_parts()
    start_up(torch, device)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 7, 2), torch.nn.ReLU(), torch.nn.Conv2d(64, 128, 3, 2),
        torch.nn.ReLU(), torch.nn.Conv2d(128, 256, 3, 2), torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(), torch.nn.Linear(256, 100)).to(device)
    descent = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    data = iter(torch.utils.data.DataLoader(Pictures(), batch_size=96 // small, num_workers=4,
                                            pin_memory=device == "cuda", persistent_workers=True))

    def step(_):
        pictures, labels = (part.to(device, non_blocking=True) for part in next(data))
        loss = torch.nn.functional.cross_entropy(net(pictures), labels)
        descent.zero_grad()
        loss.backward()
        descent.step()
    loop(step, wait, seconds)


def triton_softmax(seconds):
    torch, device, wait, _ = torch_parts()
    import triton
    import triton.language as tl

    @triton.jit
    def softmax(x, y, width, block: tl.constexpr):
        at = tl.program_id(0) * width + tl.arange(0, block)
        known = tl.arange(0, block) < width
        values = tl.load(x + at, mask=known, other=-1e30)
        raised = tl.exp(values - tl.max(values, 0))
        tl.store(y + at, raised / tl.sum(raised, 0), mask=known)
    globals()["tl"] = tl  # the compiler looks there
    start_up(torch, device)
    one = torch.randn(4096, 2048, device=device)
    other = torch.empty_like(one)

    def step(_):
        for _ in range(4):
            softmax[(4096,)](one, other, 2048, 2048)
            softmax[(4096,)](other, one, 2048, 2048)
    loop(step, wait, seconds)


def jax_scan(seconds):
    import jax
    from jax import numpy
    width = 1024 if jax.default_backend() != "cpu" else 64
    key = jax.random.PRNGKey(0)
    weights = [jax.random.normal(key, (width, width)) * 0.02 for _ in range(8)]
    batch = jax.random.normal(key, (2048, width))

    def loss_of(weights, batch):
        for weight in weights:
            batch = jax.nn.gelu(batch @ weight) + batch
        return (batch ** 2).mean()

    @jax.jit
    def update(weights, batch):
        steps = jax.grad(loss_of)(weights, batch)
        return [weight - 1e-3 * step for weight, step in zip(weights, steps)]
    for rows in (256, 512, 1024):
        numpy.sort(batch[:rows], 0).sum().block_until_ready()
        time.sleep(0.1)
    state = [weights]

    def step(_):
        state[0] = update(state[0], batch)
    loop(step, lambda: state[0][0].block_until_ready(), seconds)


def flax_train(seconds):
    """A residual network of convolutions: what XLA tunes and names most for."""
    import jax
    import optax
    from flax import linen
    from jax import numpy
    small = 8 if jax.default_backend() == "cpu" else 1

    class Block(linen.Module):
        width: int

        @linen.compact
        def __call__(self, x):
            y = linen.Conv(self.width, (3, 3), use_bias=False)(linen.relu(linen.GroupNorm(8)(x)))
            y = linen.Conv(self.width, (3, 3), use_bias=False)(linen.relu(linen.GroupNorm(8)(y)))
            return y + (x if x.shape == y.shape else linen.Conv(self.width, (1, 1))(x))

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x):
            x = linen.Conv(64, (3, 3))(x)
            for width in (64, 64, 128, 128, 256):
                x = Block(width)(x)
                x = linen.avg_pool(x, (2, 2), (2, 2)) if width == 128 else x
            return linen.Dense(100)(x.mean((1, 2)))
    net, key, batch = Net(), jax.random.PRNGKey(0), 64 // small
    pictures = jax.random.normal(key, (batch, 64 // small, 64 // small, 3))
    labels = numpy.arange(batch) % 100
    weights, adam = net.init(key, pictures), optax.adamw(1e-3)

    @jax.jit
    def update(weights, kept):
        def loss_of(weights):
            return optax.softmax_cross_entropy_with_integer_labels(
                net.apply(weights, pictures), labels).mean()
        steps, kept = adam.update(jax.grad(loss_of)(weights), kept, weights)
        return optax.apply_updates(weights, steps), kept
    state = [weights, adam.init(weights)]

    def step(_):
        state[:] = update(*state)
    loop(step, lambda: jax.block_until_ready(state), seconds)


def host_start(seconds):
    """A start-up that keeps the host busy: a vocabulary is made while the GPU has its context."""
    torch, device, wait, small = torch_parts()
    weights = torch.randn(2048 // small, 2048 // small, device=device)
    words = {}
    until = time.monotonic() + 2
    while time.monotonic() < until:
        for number in range(1000):
            words[str(number * 7919 % 100_003)] = len(words)
        (weights[:64, :64] @ weights[:64, :64]).sum().item()

    def step(_):
        x = weights
        for _ in range(6):
            x = torch.tanh(x @ weights)
        x.softmax(-1)
    loop(step, wait, seconds)


def allocate(seconds):
    """Buffers are taken, filled and given back before the loop, which allocates nothing new."""
    torch, device, wait, small = torch_parts()
    held = [torch.empty(64 << 20 if small == 1 else 1 << 16, device=device).fill_(number)
            for number in range(40)]
    for part in held:
        part.sum().item()
    del held, part
    if device == "cuda":
        torch.cuda.empty_cache()
    x = torch.randn(16 // small, 16, 512 // small, 64, device=device, dtype=torch.bfloat16)

    def step(_):
        for _ in range(4):
            torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).mul_(0.5)
    loop(step, wait, seconds)


PROGRAMS = {each.__name__: each for each in (
    foreach, scatter, cupy_raw, numba_heat, graph, loader, triton_softmax, jax_scan, trainer,
    host_start, allocate, autotune)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=[*PROGRAMS, "flax_train"])
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    {**PROGRAMS, "flax_train": flax_train}[options.name](options.seconds)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
