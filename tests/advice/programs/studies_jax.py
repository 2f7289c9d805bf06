"""Plain JAX and optax: planted faults, mended, healthy: studies_jax.py FOLDER SIZE NAME..."""
import functools

import jax
import jax.numpy as jnp
import optax

import jax_fields


def jax_rollout_in_python(tiny, mended):
    """A jitted move of 2048 games is called 64 times from Python; mended, by lax.scan in one
    jit."""
    games, width, turns = (8, 8, 4) if tiny else (2048, 256, 64)
    weights = jax_fields.weights_of(width, 2, jnp.float32)
    first = jax.random.normal(jax.random.PRNGKey(0), (games, width))

    def move(state, weights):
        force = jnp.tanh(jnp.tanh(state @ weights[0]) @ weights[1])
        state = jnp.clip(0.99 * state + 0.05 * force, -3, 3)
        fell = jnp.abs(state).max(-1, keepdims=True) > 2.9
        return jnp.where(fell, 0.0, state), state.mean(-1)

    one = jax.jit(move)

    @jax.jit
    def all_turns(state, weights):
        return jax.lax.scan(lambda state, _: move(state, weights), state, None, length=turns)

    def step():
        if mended:
            return all_turns(first, weights)
        state, gains = first, []
        for _ in range(turns):
            state, gain = one(state, weights)
            gains.append(gain)
        return state, gains

    return step, games * turns


def jax_prints_left_in(tiny, mended):
    """jax.debug.print of the size of each layer's states was left in; mended, it is gone."""
    width, rows = (16, 8) if tiny else (2048, 4096)
    weights = jax_fields.weights_of(width, 16)
    some = jax.random.normal(jax.random.PRNGKey(1), (rows, width), jnp.bfloat16)

    def loss(weights, some):
        for number, weight in enumerate(weights):
            some = jnp.tanh(some @ weight)
            if not mended:
                jax.debug.print("layer {n}: {size}", n=number, size=jnp.abs(some).max())
        return jnp.mean(some.astype(jnp.float32) ** 2)

    @jax.jit
    def train(weights, some):
        slopes = jax.grad(loss)(weights, some)
        return [weight - (1e-3 * slope).astype(weight.dtype)
                for weight, slope in zip(weights, slopes)]

    state = [weights]

    def step():
        state[0] = train(state[0], some)
        return state[0]

    return step, rows


def jax_timed_part_by_part(tiny, mended):
    """block_until_ready after each of 24 jitted parts, left from timing; mended, none."""
    width, rows = (16, 8) if tiny else (2048, 2048)
    weights = jax_fields.weights_of(width, 24)
    some = jax.random.normal(jax.random.PRNGKey(1), (rows, width), jnp.bfloat16)
    part = jax.jit(lambda states, weight: states + jax.nn.gelu(states @ weight))

    def step():
        states = some
        for weight in weights:
            states = part(states, weight)
            if not mended:
                states.block_until_ready()
        return states

    return step, rows


def jax_cache_not_donated(tiny, mended):
    """A decoder's cache of 2 GB is copied to change one place in it; mended, it is donated."""
    layers, rows, most, width = (2, 2, 8, 16) if tiny else (8, 32, 2048, 2048)
    near = 8 if tiny else 256
    cache = [jnp.zeros((layers, rows, most, width), jnp.bfloat16)]
    weights = jax.random.normal(jax.random.PRNGKey(0), (layers, width, width), jnp.bfloat16)
    some, turn = jnp.ones((rows, width), jnp.bfloat16), [0]

    @functools.partial(jax.jit, donate_argnums=0 if mended else ())
    def write(cache, weights, states, place):
        for layer in range(layers):
            states = jnp.tanh(states @ weights[layer])
            fresh = states[None, :, None]
            cache = jax.lax.dynamic_update_slice(cache, fresh, (layer, 0, place, 0))
            known = cache[layer, :, :near]
            share = jax.nn.softmax(jnp.einsum("rw,rpw->rp", states, known) / width**0.5)
            states = states + jnp.einsum("rp,rpw->rw", share, known)
        return cache, states

    def step():
        turn[0] = (turn[0] + 1) % near
        cache[0], states = write(cache[0], weights, some, turn[0])
        return states

    return step, rows


def jax_mixer_trained(tiny, mended):
    """Healthy: mixing of places and channels trained in BF16 by optax under one jit."""
    rows, places, width = (2, 8, 16) if tiny else (64, 256, 2048)
    keys = jax.random.split(jax.random.PRNGKey(0), 8)
    shapes = [(places, places), (width, 2 * width), (2 * width, width)] * 2
    weights = [(jax.random.normal(key, shape) / shape[0] ** 0.5).astype(jnp.bfloat16)
               for key, shape in zip(keys, shapes)]
    some = jax.random.normal(keys[6], (rows, places, width), jnp.bfloat16)
    rule = optax.sgd(1e-4, momentum=0.9)

    def loss(weights, states, aim):
        for across, up, down in (weights[:3], weights[3:]):
            states = states + jnp.einsum("rpw,pq->rqw", states, across)
            states = states + jax.nn.gelu(states @ up) @ down
        return jnp.mean((states - aim).astype(jnp.float32) ** 2)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def train(weights, known, some):
        change, known = rule.update(jax.grad(loss)(weights, some, some), known, weights)
        return optax.apply_updates(weights, change), known

    state = [weights, rule.init(weights)]

    def step():
        state[:] = train(*state, some)
        return state[0]

    return step, rows


def jax_stars(tiny, mended):
    """Healthy: each of 65536 stars is drawn by all others, worked out in pieces by one jit."""
    count, pieces = (64, 4) if tiny else (65536, 32)
    places = jax.random.normal(jax.random.PRNGKey(0), (3, count))
    heavy = jnp.ones(count)

    @jax.jit
    def pulled(places, heavy):
        def piece(some):
            apart = [whole[None] - part[:, None] for whole, part in zip(places, some)]
            near = heavy * jax.lax.rsqrt(sum(way * way for way in apart) + 1e-3) ** 3
            return [jnp.sum(near * way, 1) for way in apart]
        return jax.lax.map(piece, list(places.reshape(3, pieces, -1)))

    return lambda: pulled(places, heavy), count


BUILDS = {build.__name__: build for build in (
    jax_rollout_in_python, jax_prints_left_in, jax_timed_part_by_part, jax_cache_not_donated,
    jax_mixer_trained, jax_stars,
)}

if __name__ == "__main__":
    jax_fields.run_all(BUILDS)
