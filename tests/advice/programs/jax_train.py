"""A healthy training step in JAX, timed alone and captured: jax_train.py FOLDER full|tiny"""
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


def build(tiny):
    width, batch = (32, 8) if tiny else (4096, 32768)
    keys = jax.random.split(jax.random.PRNGKey(0), 5)
    weights = [
        jax.random.normal(key, (width, width), jnp.bfloat16) / width**0.5 for key in keys[:4]
    ]
    inputs = jax.random.normal(keys[4], (batch, width), jnp.bfloat16)

    def loss(weights, inputs):
        for weight in weights:
            inputs = jax.nn.relu(inputs @ weight)
        return jnp.mean(inputs.astype(jnp.float32) ** 2)

    @jax.jit
    def step(weights, inputs):
        gradients = jax.grad(loss)(weights, inputs)
        return [w - 1e-4 * g.astype(w.dtype) for w, g in zip(weights, gradients)]

    return step, weights, inputs


def timed(step, weights, inputs, steps):
    """Each step waited for: JAX has no events, and a long step hides the wait."""
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        weights = jax.block_until_ready(step(weights, inputs))
        times.append((time.perf_counter() - begin) * 1e3)
    return weights, times


def main():
    folder, size = sys.argv[1:]
    tiny = size == "tiny"
    step, weights, inputs = build(tiny)
    weights, _ = timed(step, weights, inputs, 3)
    weights, times = timed(step, weights, inputs, 4 if tiny else 30)
    with tempfile.TemporaryDirectory() as kept:
        with jax.profiler.trace(kept):
            for index in range(5):
                with jax.profiler.StepTraceAnnotation("train", step_num=index):
                    weights = step(weights, inputs)
            jax.block_until_ready(weights)
        for found in glob.glob(f"{kept}/**/*.xplane.pb", recursive=True):
            with open(found, "rb") as plain:
                with gzip.open(f"{folder}/jax_train.xplane.pb.gz", "wb", 9) as packed:
                    shutil.copyfileobj(plain, packed)
    known = {
        "program": "jax_train", "rank": 0, "items": inputs.shape[0],
        "alone": {"steps": len(times), "median_ms": statistics.median(times), "clock": "host"},
        "active": 5, "trace": "jax_train.xplane.pb.gz", "jax": jax.__version__,
        "gpu": jax.devices()[0].device_kind,
        "trace_bytes": os.path.getsize(f"{folder}/jax_train.xplane.pb.gz"),
    }
    with open(f"{folder}/jax_train.run.json", "w") as out:
        json.dump(known, out, indent=1)


if __name__ == "__main__":
    main()
