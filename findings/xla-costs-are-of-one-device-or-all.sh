#!/usr/bin/env bash
# Guess: the FLOPs of XLA's cost analysis are those of the function, whatever devices it is spread over, and the lowered and
# the compiled analysis differ by what the compiler saves.
# So it is: the compiled one is of one device: a product over 8 devices is an eighth, its bytes 5.2 of 12.6 MB, and the whole
# where every device does the same. The lowered one is of all devices for jit with shardings, and of one inside shard_map
# and pmap. Nothing in the result tells which.
# Why: a utilization from one of them is 8 times too large or too small on 8 devices, and the same layer written with
# shard_map seems to have an eighth of the work.
# Versions: jax 0.10.2, jaxlib 0.10.2, numpy 2.4.6; eight devices of the CPU.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
cd "$tmp"
JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=8 "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { cat "$tmp/err"; exit 1; }
import jax, jax.numpy as jnp, jaxlib
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
print("jax", jax.__version__, "jaxlib", jaxlib.__version__, "devices", jax.device_count())
N = 1024
mesh = Mesh(jax.devices(), ("d",))
rows, columns, whole = (NamedSharding(mesh, spec) for spec in (P("d", None), P(None, "d"), P()))
matrix = jax.ShapeDtypeStruct((N, N), jnp.float32)


def product(x, w):
    return x @ w


def loss(w, x):
    return ((x @ w) ** 2).sum()


def summed(x, w):
    return jax.lax.psum(x @ w, "d")


# In multiples of one product's 2 N^3: what all devices do together, then the two analyses.
def show(title, work, function, *args):
    lowered = function.lower(*args)
    costs = [analysis.cost_analysis() for analysis in (lowered, lowered.compile())]
    flops, moved = ([f"{cost[key] / scale:.{digits}f}" for cost in costs] for key, scale, digits in (("flops", 2 * N**3, 3), ("bytes accessed", 1e6, 1)))
    print(f"{title}: all devices {work}, lowered {flops[0]}, compiled {flops[1]}; MB {moved[0]} and {moved[1]}")


show("one device", 1, jax.jit(product), matrix, matrix)
show("jit, batch over 8", 1, jax.jit(product, in_shardings=(rows, whole), out_shardings=rows), matrix, matrix)
show("jit, inner dimension over 8", 1, jax.jit(product, in_shardings=(columns, rows), out_shardings=whole), matrix, matrix)
show("jit, the same on each of 8", 8, jax.jit(product, in_shardings=(whole, whole), out_shardings=whole), matrix, matrix)
show("gradient of jit, one device", 2, jax.jit(jax.grad(loss)), matrix, matrix)
show("gradient of jit, batch over 8", 2, jax.jit(jax.grad(loss), in_shardings=(whole, rows), out_shardings=whole), matrix, matrix)
show("shard_map, batch over 8", 1, jax.jit(jax.shard_map(product, mesh=mesh, in_specs=(P("d", None), P()), out_specs=P("d", None))), matrix, matrix)
show("shard_map, inner dimension over 8", 1, jax.jit(jax.shard_map(summed, mesh=mesh, in_specs=(P(None, "d"), P("d", None)), out_specs=P())), matrix, matrix)
show("pmap, batch over 8", 1, jax.pmap(product, in_axes=(0, None)), jax.ShapeDtypeStruct((8, N // 8, N), jnp.float32), matrix)
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
jax 0.10.2 jaxlib 0.10.2 devices 8
one device: all devices 1, lowered 1.000, compiled 1.000; MB 12.6 and 12.6
jit, batch over 8: all devices 1, lowered 1.000, compiled 0.125; MB 12.6 and 5.2
jit, inner dimension over 8: all devices 1, lowered 1.000, compiled 0.125; MB 12.6 and 13.6
jit, the same on each of 8: all devices 8, lowered 1.000, compiled 1.000; MB 12.6 and 12.6
gradient of jit, one device: all devices 2, lowered 2.000, compiled 2.000; MB 41.9 and 33.6
gradient of jit, batch over 8: all devices 2, lowered 2.000, compiled 0.251; MB 41.9 and 28.3
shard_map, batch over 8: all devices 1, lowered 0.125, compiled 0.125; MB 5.2 and 5.2
shard_map, inner dimension over 8: all devices 1, lowered 0.125, compiled 0.125; MB 13.6 and 13.6
pmap, batch over 8: all devices 1, lowered 0.125, compiled 0.125; MB 7.3 and 5.2
END
