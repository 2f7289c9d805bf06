"""JAX programs with planted faults, mended, and a healthy one: jax_fields.py FOLDER SIZE NAME...

One process; each program is timed alone and captured, as jax_train.py does it.
"""
import glob
import gzip
import json
import os
import shutil
import statistics
import sys
import tempfile
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402


def weights_of(width, count, type=jnp.bfloat16):
    keys = jax.random.split(jax.random.PRNGKey(0), count)
    return [jax.random.normal(key, (width, width), type) / width**0.5 for key in keys]


def loss_of(weights, inputs):
    for weight in weights:
        inputs = jnp.tanh(inputs @ weight)
    return jnp.mean(inputs.astype(jnp.float32) ** 2)


def jax_by_operator(tiny, mended):
    """Training without jit: each operator is launched by itself; mended, jit."""
    weights, rows = weights_of(16 if tiny else 512, 8), 8 if tiny else 1024
    inputs = jnp.ones((rows, weights[0].shape[0]), jnp.bfloat16)

    def train(weights, inputs):
        gradients = jax.grad(loss_of)(weights, inputs)
        return [w - (1e-3 * g).astype(w.dtype) for w, g in zip(weights, gradients)]

    run = jax.jit(train) if mended else train
    state = [weights]

    def step():
        state[0] = run(state[0], inputs)
        return state[0]

    return step, rows


def jax_lengths(tiny, mended):
    """Each batch has another length, so each compiles anew; mended, padded to one."""
    weights = weights_of(16 if tiny else 1024, 4)
    run = jax.jit(loss_of)
    turn = [0]

    def step():
        turn[0] += 1
        rows = (4096 if mended else 2048 + 16 * turn[0]) // (64 if tiny else 1)
        return run(weights, jnp.ones((rows, weights[0].shape[0]), jnp.bfloat16))

    return step, 1


def jax_to_numpy(tiny, mended):
    """The state goes through NumPy in each step; mended, it stays."""
    side = 16 if tiny else 2048
    weight = weights_of(side, 1, jnp.float32)[0]
    run = jax.jit(lambda weight, state: jnp.tanh(weight @ state))
    state = [np.ones((side, side), np.float32)]

    def step():
        answer = run(weight, state[0])
        if mended:
            state[0] = jnp.clip(answer, -0.9, 0.9)
        else:
            state[0] = np.clip(np.asarray(answer), -0.9, 0.9)
        return state[0]

    return step, 1


def jax_highest(tiny, mended):
    """Products in full FP32, asked for once for a test; mended, in BF16."""
    type = jnp.bfloat16 if mended else jnp.float32
    weights = weights_of(16 if tiny else 4096, 4, type)
    inputs = jnp.ones((8 if tiny else 8192, weights[0].shape[0]), type)

    @jax.jit
    def run(weights, inputs):
        for weight in weights:
            product = jnp.matmul(inputs, weight, precision=None if mended else "highest")
            inputs = jnp.tanh(product)
        return inputs.mean()

    return lambda: run(weights, inputs), inputs.shape[0]


def jax_scan(tiny, mended):
    """Healthy: a recurrence of wide products in one scan."""
    width = 16 if tiny else 4096
    weight = weights_of(width, 1)[0]
    start = jnp.ones((8 if tiny else 4096, width), jnp.bfloat16)

    @jax.jit
    def run(state):
        return jax.lax.scan(lambda s, _: (jnp.tanh(s @ weight), None), state, None, length=8)[0]

    return lambda: run(start), start.shape[0]


FAULTS = (jax_by_operator, jax_lengths, jax_to_numpy, jax_highest)
NAMES = [name for fault in FAULTS for name in (fault.__name__, f"{fault.__name__}.mended")]
NAMES.append("jax_scan")


def time_steps(step, steps):
    """Each step waited for."""
    times = []
    for _ in range(steps):
        before = time.perf_counter()
        jax.block_until_ready(step())
        times.append((time.perf_counter() - before) * 1e3)
    return {"steps": len(times), "median_ms": statistics.median(times), "clock": "host"}


def time_repeats(step, steps, repeats):
    """Waited for at the end only, as in the capture: the host runs ahead where it may."""
    times = []
    for _ in range(repeats):
        before = time.perf_counter()
        for _ in range(steps):
            answer = step()
        jax.block_until_ready(answer)
        times.append((time.perf_counter() - before) * 1e3 / steps)
    return times


def run(name, folder, tiny, builds, active=3, repeats=0, slow=()):
    """Builds, times and captures one program; of those in `slow` few steps, and two in the
    trace."""
    plain, _, mended = name.partition(".")
    step, items = builds[plain](tiny, bool(mended))
    begin = time.perf_counter()
    for _ in range(3):
        jax.block_until_ready(step())
    steps = 4 if tiny or plain in slow else 20 if repeats else 30
    active = min(active, 2) if plain in slow else active
    alone = time_steps(step, steps)
    runs = time_repeats(step, steps, repeats)
    with tempfile.TemporaryDirectory() as kept:
        with jax.profiler.trace(kept):
            for _ in range(active):
                answer = step()
            jax.block_until_ready(answer)
        for found in glob.glob(f"{kept}/**/*.xplane.pb", recursive=True):
            with open(found, "rb") as source:
                with gzip.open(f"{folder}/{name}.xplane.pb.gz", "wb", 9) as packed:
                    shutil.copyfileobj(source, packed)
    if repeats:
        runs += time_repeats(step, steps, repeats)
        alone |= {"waited_median_ms": alone["median_ms"], "repeats_ms": runs}
        alone["median_ms"] = statistics.median(runs)
    return {
        "program": name, "rank": 0, "items": items, "alone": alone,
        "active": active, "trace": f"{name}.xplane.pb.gz", "jax": jax.__version__,
        "gpu": jax.devices()[0].device_kind,
        "trace_bytes": os.path.getsize(f"{folder}/{name}.xplane.pb.gz"),
        "total_s": round(time.perf_counter() - begin, 2),
    }


def run_all(builds, names=(), **how):
    """The programs that the command line names, one after the other, with five steps in a trace."""
    folder, size, *asked = sys.argv[1:]
    for name in asked or names:
        print(f"begin {name}", flush=True)
        try:
            known = run(name, folder, size == "tiny", builds, **{"active": 5, "repeats": 3} | how)
        except Exception as error:  # one program's failure is its result
            known = {"program": name, "rank": 0, "error": f"{type(error).__name__}: {error}"}
        with open(f"{folder}/{name}.run.json", "w") as out:
            json.dump(known, out, indent=1)
        print(f"end {name}", flush=True)


if __name__ == "__main__":
    builds = {build.__name__: build for build in (*FAULTS, jax_scan)}
    run_all(builds, NAMES, active=3, repeats=0, slow=("jax_lengths",))
