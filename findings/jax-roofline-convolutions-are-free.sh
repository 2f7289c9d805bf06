#!/usr/bin/env bash
# Guess: `flops` and `hbm_bytes` of JAX's own roofline (jax.experimental.roofline) are those of the products and convolutions
# of a function, what fusion cannot hide, and what it does not know is an error or marked.
# So it is: only dot_general counts in them. A convolution has 0 FLOPs and 0 bytes (it is in `unfused_flops`): a network of four
# convolutions and a last layer of 10 classes has 10240 FLOPs, its last layer's, of 2.3 GFLOP (XLA and
# `unfused_flops` agree on those). Work in lax.cond and while_loop and a mixture of experts by lax.ragged_dot is 0 in both, of
# lax.scan and lax.map one step counts. Nothing warns.
# Why: a roofline from these numbers has the network 226000 times faster than its FLOPs, bound by nothing.
# Versions: jax 0.10.2, jaxlib 0.10.2, absl-py 2.5.1, numpy 2.4.6 (CPU).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q jax==0.10.2 jaxlib==0.10.2 absl-py==2.5.1 numpy==2.4.6
cd "$tmp"
JAX_PLATFORMS=cpu "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import jax, jax.numpy as jnp
from jax import lax
from jax.experimental import roofline
print("jax", jax.__version__)
SIZE, STEPS = 64, 8


def floats(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def network(images, kernels, last):
    for kernel in kernels:
        images = jax.nn.relu(lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    return images.mean((1, 2)) @ last


def loop(x, w):
    for _ in range(STEPS):
        x = x @ w
    return x


square, product = floats(SIZE, SIZE), 2 * SIZE**3
images, kernels, last = floats(8, 32, 32, 64), [floats(3, 3, 64, 64)] * 4, floats(64, 10)
heads = floats(2, 128, 4, 64)
ways = {"four convolutions and a layer": (network, (images, kernels, last), 8 * 32 * 32 * 9 * 64 * 64 * 2 * 4 + 2 * 8 * 64 * 10),
        "attention": (jax.nn.dot_product_attention, (heads, heads, heads), 4 * 2 * 4 * 128**2 * 64),
        "8 products in a Python loop": (loop, (square, square), STEPS * product),
        "in lax.scan": (lambda x, w: lax.scan(lambda x, _: (x @ w, None), x, None, STEPS)[0], (square, square), STEPS * product),
        "in lax.map": (lambda xs, w: lax.map(lambda x: x @ w, xs), (floats(STEPS, SIZE, SIZE), square), STEPS * product),
        "in lax.while_loop": (lambda x, w: lax.while_loop(lambda at: at[0] < STEPS, lambda at: (at[0] + 1, at[1] @ w), (0, x)), (square, square), STEPS * product),
        "one product in lax.cond": (lambda x, w: lax.cond(x[0, 0] > 0, lambda: x @ w, lambda: w @ x), (square, square), product),
        "4 experts by lax.ragged_dot": (lax.ragged_dot, (square, floats(4, SIZE, SIZE), jax.ShapeDtypeStruct((4,), jnp.int32)), product)}
for title, (function, inputs, true) in ways.items():
    result = roofline.roofline(function)(*inputs)[1]
    print(f"{title}: flops {result.flops}, unfused_flops {result.unfused_flops}, hbm_bytes {result.hbm_bytes}; products need {true}")
print(f"XLA's count of the network: {jax.jit(network).lower(images, kernels, last).compile().cost_analysis()['flops']:.0f}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
jax 0.10.2
four convolutions and a layer: flops 10240, unfused_flops 2318936064, hbm_bytes 4928; products need 2415929344
attention: flops 33554432, unfused_flops 34209792, hbm_bytes 2097152; products need 33554432
8 products in a Python loop: flops 4194304, unfused_flops 4194304, hbm_bytes 393216; products need 4194304
in lax.scan: flops 524288, unfused_flops 524288, hbm_bytes 49152; products need 4194304
in lax.map: flops 524288, unfused_flops 524288, hbm_bytes 49152; products need 4194304
in lax.while_loop: flops 0, unfused_flops 0, hbm_bytes 0; products need 4194304
one product in lax.cond: flops 0, unfused_flops 1, hbm_bytes 0; products need 524288
4 experts by lax.ragged_dot: flops 0, unfused_flops 0, hbm_bytes 0; products need 524288
XLA's count of the network: 2318936064
END
