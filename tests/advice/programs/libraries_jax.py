"""JAX and NumPyro with planted faults, mended, and healthy: libraries_jax.py FOLDER SIZE NAME...

One process, timed and captured as jax_fields.py does it.
"""
import jax
import jax.numpy as jnp
import numpy as np

import jax_fields


def jax_residual_asked(tiny, mended):
    """Conjugate gradients whose end the host asks for in each turn; mended, lax.while_loop."""
    side, turns = (8, 5) if tiny else (128, 60)
    right = jax.random.normal(jax.random.PRNGKey(0), (side, side, side))

    def applied(field):
        near = sum(jnp.roll(field, way, axis) for axis in range(3) for way in (1, -1))
        return 6.5 * field - near

    def turn(state):
        field, rest, way, size, count = state
        along = applied(way)
        far = size / jnp.vdot(way, along)
        field, rest = field + far * way, rest - far * along
        new = jnp.vdot(rest, rest)
        return field, rest, rest + new / size * way, new, count + 1

    def start():
        return jnp.zeros_like(right), right, right, jnp.vdot(right, right), 0

    whole = jax.jit(lambda: jax.lax.while_loop(lambda s: s[4] < turns, turn, start()))
    once, begin = jax.jit(turn), jax.jit(start)

    def step():
        if mended:
            return whole()[0]
        state = begin()
        while float(state[3]) > 0 and state[4] < turns:
            state = once(state)
        return state[0]

    return step, 1


def jax_samples_in_a_loop(tiny, mended):
    """A jitted network is called for each of 64 sequences; mended, by vmap for all."""
    width, length, count = (16, 8, 4) if tiny else (512, 128, 64)
    weights = jax_fields.weights_of(width, 8)
    samples = jax.random.normal(jax.random.PRNGKey(1), (count, length, width), jnp.bfloat16)

    def scored(sample):
        for one, two in zip(weights[::2], weights[1::2]):
            mixed = jax.nn.softmax((sample @ one) @ sample.T / width**0.5) @ sample
            sample = sample + jnp.tanh(mixed @ two)
        return sample.mean(0)

    single, every = jax.jit(scored), jax.jit(jax.vmap(scored))

    def step():
        if mended:
            return every(samples)
        return jnp.stack([single(sample) for sample in samples])

    return step, count


def jax_data_from_numpy(tiny, mended):
    """NumPyro's inference gets its data as NumPy arrays in every step; mended, on the GPU."""
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal

    rows, width = (50, 4) if tiny else (400_000, 64)
    random = np.random.default_rng(0)
    inputs = random.standard_normal((rows, width), np.float32)
    seen = (random.random(rows) < 0.5).astype(np.int32)

    def model(inputs, seen):
        weight = numpyro.sample("weight", dist.Normal(0, 1).expand([width]).to_event(1))
        with numpyro.plate("rows", rows):
            numpyro.sample("seen", dist.Bernoulli(logits=inputs @ weight), obs=seen)

    svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(1e-3), Trace_ELBO())
    if mended:
        inputs, seen = jax.device_put(inputs), jax.device_put(seen)
    state = [svi.init(jax.random.PRNGKey(0), inputs, seen)]
    update = jax.jit(svi.update)

    def step():
        state[0], loss = update(state[0], inputs, seen)
        return loss

    return step, rows


def jax_called_back(tiny, mended):
    """A jitted step asks NumPy for its augmentation by pure_callback; mended, jax.random."""
    width, rows = (16, 8) if tiny else (2048, 1024)
    weights = jax_fields.weights_of(width, 6, jnp.bfloat16)
    inputs = jnp.ones((rows, width), jnp.bfloat16)
    random = np.random.default_rng(0)
    shape = jax.ShapeDtypeStruct((rows, width), jnp.float32)

    def noise(_):
        return 0.1 * random.standard_normal((rows, width), np.float32)

    @jax.jit
    def train(weights, key):
        if mended:
            extra = 0.1 * jax.random.normal(key, (rows, width))
        else:
            extra = jax.pure_callback(noise, shape, key)
        some = inputs + extra.astype(jnp.bfloat16)
        slopes = jax.grad(jax_fields.loss_of)(weights, some)
        key = jax.random.split(key)[0]
        return [w - (1e-3 * g).astype(w.dtype) for w, g in zip(weights, slopes)], key

    state = [weights, jax.random.PRNGKey(0)]

    def step():
        state[:] = train(*state)
        return state[0]

    return step, rows


def jax_attention_trained(tiny, mended):
    """Healthy: a transformer trained in BF16 under one jit."""
    width, length, rows, heads = (32, 8, 2, 2) if tiny else (2048, 1024, 8, 16)
    keys = iter(jax.random.split(jax.random.PRNGKey(0), 99))

    def weight(*shape):
        return jax.random.normal(next(keys), shape, jnp.bfloat16) / shape[0] ** 0.5

    layers = [(weight(width, 3 * width), weight(width, width), weight(width, 4 * width),
               weight(4 * width, width)) for _ in range(4)]
    inputs = jax.random.normal(next(keys), (rows, length, width), jnp.bfloat16)

    def loss(layers):
        state = inputs
        for qkv, out, up, down in layers:
            query, key, value = (part.reshape(rows, length, heads, -1)
                                 for part in jnp.split(state @ qkv, 3, -1))
            mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True,
                                                 implementation=None if tiny else "cudnn")
            state = state + mixed.reshape(state.shape) @ out
            state = state + jax.nn.gelu(state @ up) @ down
        return jnp.mean(state.astype(jnp.float32) ** 2)

    @jax.jit
    def train(layers):
        slopes = jax.grad(loss)(layers)
        return jax.tree.map(lambda w, g: w - (1e-4 * g).astype(w.dtype), layers, slopes)

    state = [layers]

    def step():
        state[0] = train(state[0])
        return state[0][0][0]

    return step, rows


def jax_pictures(tiny, mended):
    """Healthy: convolutions of many channels in BF16 on many pictures under one jit."""
    width, rows, side = (8, 2, 8) if tiny else (512, 256, 32)
    weights = [jax.random.normal(key, (3, 3, width, width), jnp.bfloat16) / (9 * width) ** 0.5
               for key in jax.random.split(jax.random.PRNGKey(0), 6)]
    pictures = jnp.ones((rows, side, side, width), jnp.bfloat16)

    @jax.jit
    def run(pictures):
        for weight in weights:
            pictures = jax.nn.relu(jax.lax.conv_general_dilated(
                pictures, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            ))
        return pictures.mean((1, 2))

    return lambda: run(pictures), rows


BUILDS = {build.__name__: build for build in (
    jax_residual_asked, jax_samples_in_a_loop, jax_data_from_numpy, jax_called_back,
    jax_attention_trained, jax_pictures,
)}


if __name__ == "__main__":
    jax_fields.run_all(BUILDS)
