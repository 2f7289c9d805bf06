#!/usr/bin/env bash
# Guess: the FLOPs of a model in XLA's cost analysis are the same whether its layers are a Python loop or jax.lax.scan, as
# the work is; the number of steps is a constant of the program.
# So it is: the body of a loop counts once, however often it runs: 8 layers by scan, fori_loop or lax.map are 1, lowered and
# compiled; with unroll=2 they are 2. The gradient is 3, not 23. A Python loop and vmap are 8. Flax' table of a
# model takes the number over: one with nn.scan has all its parameters and an eighth of its FLOPs.
# Why: large models scan their layers to compile fast; their MFU by this analysis is too low by the number of layers.
# Versions: jax 0.10.2, jaxlib 0.10.2, flax 0.12.8, numpy 2.4.6 (CPU).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q jax==0.10.2 jaxlib==0.10.2 flax==0.12.8 numpy==2.4.6
JAX_PLATFORMS=cpu "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata
import flax.linen as nn
import jax
import jax.numpy as jnp
print(*(f"{name} {importlib.metadata.version(name)}" for name in ("jax", "jaxlib", "flax", "numpy")))
layers, width = 8, 256
weights, inputs = jnp.ones((layers, width, width)), jnp.ones((width, width))


def layer(state, weight):
    return jnp.tanh(state @ weight), None


def loop(weights, state):
    for weight in weights:
        state, _ = layer(state, weight)
    return state


def scan(unroll):
    return lambda weights, state: jax.lax.scan(layer, state, weights, unroll=unroll)[0]


def fori(weights, state):
    return jax.lax.fori_loop(0, layers, lambda step, state: layer(state, weights[step])[0], state)


def gradient(model):
    return jax.grad(lambda weights, state: model(weights, state).sum())


each = 2 * width**3
for title, model in (("a Python loop", loop), ("scan", scan(1)), ("scan, unroll=2", scan(2)), ("scan, unroll=8", scan(8)), ("fori_loop", fori),
                     ("vmap", lambda weights, state: jax.vmap(lambda weight: state @ weight)(weights)),
                     ("lax.map", lambda weights, state: jax.lax.map(lambda weight: state @ weight, weights)),
                     ("gradient of the Python loop", gradient(loop)), ("gradient of scan", gradient(scan(1)))):
    lowered = jax.jit(model).lower(weights, inputs)
    print(f"{title}: lowered {lowered.cost_analysis()['flops'] / each:.1f}, compiled {lowered.compile().cost_analysis()['flops'] / each:.1f} layers")


class Block(nn.Module):
    @nn.compact
    def __call__(self, state, _):
        return jnp.tanh(nn.Dense(width, use_bias=False)(state)), None


class Loop(nn.Module):
    @nn.compact
    def __call__(self, state):
        for _ in range(layers):
            state, _ = Block()(state, None)
        return state


class Scan(nn.Module):
    @nn.compact
    def __call__(self, state):
        return nn.scan(Block, variable_axes={"params": 0}, split_rngs={"params": True}, length=layers)()(state, None)[0]


for model in (Loop(), Scan()):
    rows = nn.tabulate(model, jax.random.key(0), compute_flops=True, depth=0, console_kwargs={"width": 150, "force_terminal": False})(inputs)
    (cells,) = [line.replace("\u2502", " ").split() for line in rows.splitlines() if "float32[" in line]
    print(f"Flax' table of {cells[0]}: {int(cells[3]) / each:.1f} layers, parameters {cells[4]}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
jax 0.10.2 jaxlib 0.10.2 flax 0.12.8 numpy 2.4.6
a Python loop: lowered 8.0, compiled 8.0 layers
scan: lowered 1.0, compiled 1.0 layers
scan, unroll=2: lowered 2.0, compiled 2.0 layers
scan, unroll=8: lowered 8.0, compiled 8.0 layers
fori_loop: lowered 1.0, compiled 1.0 layers
vmap: lowered 8.0, compiled 8.0 layers
lax.map: lowered 1.0, compiled 1.0 layers
gradient of the Python loop: lowered 23.2, compiled 23.2 layers
gradient of scan: lowered 3.0, compiled 3.0 layers
Flax' table of Loop: 8.0 layers, parameters 524,288
Flax' table of Scan: 1.0 layers, parameters 524,288
END
