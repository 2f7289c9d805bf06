"""The work of compiled programs against XLA's own cost analysis: small programs of JAX on the CPU,
in one profile, beside what `compile().cost_analysis()` says of each.

    hlo_programs.py FOLDER      (needs jax; writes FOLDER/hlo_cpu.xplane.pb.gz and FOLDER/hlo_cpu.counted.json)

`flops` and `transcendentals` are XLA's, which counts the body of a loop once. `runs` is how often a
program ran in the profile, and `loops` how often the body of its loop did, for programs that have
one.
"""
import glob
import gzip
import json
import pathlib
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy
from jax import lax

LAYERS = 5


def product(left, right):
    return left @ right


def batched_product(left, right):
    return jnp.einsum("bik,bkj->bij", left, right)


def odd_product(left, right):
    return jnp.tanh(left @ right)


def attention(query, key, value):
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / 8
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)


def attention_training(query, key, value):
    return jax.grad(lambda *inputs: attention(*inputs).sum(), argnums=(0, 1, 2))(query, key, value)


def convolve(image, kernel, stride, padding, groups=1):
    return lax.conv_general_dilated(image, kernel, (stride, stride), padding,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    feature_group_count=groups)


def convolution(image, kernel):
    return convolve(image, kernel, 1, "VALID")


def strided_convolution(image, kernel):
    return convolve(image, kernel, 2, "SAME")


def depthwise_convolution(image, kernel):
    return convolve(image, kernel, 1, "SAME", groups=image.shape[-1])


def convolution_training(image, kernel):
    return jax.grad(lambda *inputs: (convolve(*inputs, 2, "SAME") ** 2).sum(),
                    argnums=(0, 1))(image, kernel)


def pool(image):
    return lax.reduce_window(image, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def lenet_loss(weights, images, labels):
    first, second, *dense = weights
    hidden = pool(jax.nn.relu(convolve(images, first, 1, "SAME")))
    hidden = pool(jax.nn.relu(convolve(hidden, second, 1, "VALID")))
    hidden = hidden.reshape(hidden.shape[0], -1)
    for weight in dense[:-1]:
        hidden = jax.nn.relu(hidden @ weight)
    logits = hidden @ dense[-1]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


def lenet_training(weights, images, labels):
    gradients = jax.grad(lenet_loss)(weights, images, labels)
    return [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients)]


def normalise(image):
    mean = image.mean((0, 1, 2))
    return (image - mean) * lax.rsqrt(image.var((0, 1, 2)) + 1e-5)


def residual_block(weights, image):
    narrow, middle, wide = weights
    hidden = jax.nn.relu(normalise(convolve(image, narrow, 1, "SAME")))
    hidden = jax.nn.relu(normalise(convolve(hidden, middle, 1, "SAME")))
    return jax.nn.relu(image + normalise(convolve(hidden, wide, 1, "SAME")))


def residual_training(weights, image):
    return jax.grad(lambda weights: residual_block(weights, image).sum())(weights)


def scanned_layers(state, layers):
    return lax.scan(lambda carry, layer: (jnp.tanh(carry @ layer), carry.sum()), state, layers)


def programs():
    """Function, arguments, and how often its loop runs."""
    normal = numpy.random.default_rng(0).standard_normal

    def random(*sizes):
        return normal(sizes, numpy.float32)

    heads = [random(2, 32, 4, 16)] * 3
    image, kernel = random(2, 17, 17, 8), random(3, 3, 8, 12)
    lenet = [random(5, 5, 1, 6), random(5, 5, 6, 16), random(400, 120), random(120, 84),
             random(84, 10)]
    block = [random(1, 1, 64, 16), random(3, 3, 16, 16), random(1, 1, 16, 64)]
    return [
        (product, (random(64, 256), random(256, 128)), 1),
        (batched_product, (random(4, 24, 40), random(4, 40, 56)), 1),
        (odd_product, (random(33, 77).astype(jnp.bfloat16), random(77, 51).astype(jnp.bfloat16)), 1),
        (attention, heads, 1),
        (attention_training, heads, 1),
        (convolution, (image, kernel), 1),
        (strided_convolution, (image, kernel), 1),
        (depthwise_convolution, (image, random(3, 3, 1, 8)), 1),
        (convolution_training, (image, kernel), 1),
        (lenet_training, (lenet, random(4, 28, 28, 1), numpy.arange(4)), 1),
        (residual_training, (block, random(2, 8, 8, 64)), 1),
        (scanned_layers, (random(64, 128), random(LAYERS, 128, 128)), LAYERS),
    ]


def main():
    folder = pathlib.Path(sys.argv[1])
    compiled, counted = [], {}
    for function, arguments, loops in programs():
        program = jax.jit(function).lower(*arguments).compile()
        cost = program.cost_analysis()
        counted[f"jit_{function.__name__}"] = {"flops": cost.get("flops", 0),
                                               "transcendentals": cost.get("transcendentals", 0),
                                               "loops": loops}
        jax.block_until_ready(program(*arguments))
        compiled.append((program, arguments))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    options.host_tracer_level = 2
    with tempfile.TemporaryDirectory() as logs:
        jax.profiler.start_trace(logs, profiler_options=options)
        for program, arguments in compiled:
            jax.block_until_ready(program(*arguments))
        jax.profiler.stop_trace()
        profile = pathlib.Path(glob.glob(f"{logs}/**/*.xplane.pb", recursive=True)[0]).read_bytes()
    (folder / "hlo_cpu.xplane.pb.gz").write_bytes(gzip.compress(profile, 9, mtime=0))
    (folder / "hlo_cpu.counted.json").write_text(json.dumps(counted, indent=1) + "\n",
                                                 encoding="utf-8")


if __name__ == "__main__":
    main()
