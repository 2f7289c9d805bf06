"""JAX and optax: planted faults, mended, and a healthy program: wards_jax.py FOLDER SIZE NAME..."""
import contextlib
import functools

import jax
import jax.numpy as jnp
import optax

import jax_fields


def jax_nans_looked_for(tiny, mended):
    """jax_debug_nans, switched on for a search, was left on: all results are looked through.

    Mended, it is off.
    """
    rows, width = (8, 16) if tiny else (2048, 1024)
    weights = jax_fields.weights_of(width, 8, jnp.float32)
    some = jax.random.normal(jax.random.PRNGKey(1), (rows, width))

    @jax.jit
    def train(weights, some):
        loss, slopes = jax.value_and_grad(jax_fields.loss_of)(weights, some)
        return [weight - 1e-3 * slope for weight, slope in zip(weights, slopes)], loss

    state = [weights]

    def step():
        with contextlib.nullcontext() if mended else jax.debug_nans(True):
            state[0], loss = train(state[0], some)
        return state[0], loss

    return step, rows


def jax_loss_worked_out_twice(tiny, mended):
    """The loss for the log and its gradient are two calls, so the network runs forward twice.

    Mended, value_and_grad.
    """
    rows, width = (8, 16) if tiny else (8192, 2048)
    weights = jax_fields.weights_of(width, 6)
    some = jax.random.normal(jax.random.PRNGKey(1), (rows, width), jnp.bfloat16)
    loss_of = jax.jit(jax_fields.loss_of)
    slope_of = jax.jit(jax.grad(jax_fields.loss_of))
    both_of = jax.jit(jax.value_and_grad(jax_fields.loss_of))
    state = [weights]

    @functools.partial(jax.jit, donate_argnums=0)
    def moved(weights, slopes):
        return [weight - (1e-3 * slope).astype(weight.dtype)
                for weight, slope in zip(weights, slopes)]

    def step():
        if mended:
            loss, slopes = both_of(state[0], some)
        else:
            loss, slopes = loss_of(state[0], some), slope_of(state[0], some)
        state[0] = moved(state[0], slopes)
        return state[0], loss

    return step, rows


def jax_all_shuffled_for_a_batch(tiny, mended):
    """Four million records are put in a random order to take the first 8192 of them in each step.

    Mended, so many places are drawn.
    """
    count, wide, rows = (64, 4, 8) if tiny else (4_000_000, 32, 8192)
    width = 8 if tiny else 1024
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    records = jax.random.normal(keys[0], (count, wide))
    weights = {"into": jax.random.normal(keys[1], (wide, width)) * 0.1,
               "inner": jax.random.normal(keys[2], (width, width)) / width**0.5,
               "out": jax.random.normal(keys[3], (width, 1)) / width**0.5}
    rule = optax.adam(1e-3)

    def loss(weights, seen):
        states = jnp.tanh(jnp.tanh(seen @ weights["into"]) @ weights["inner"])
        return jnp.mean((states @ weights["out"] - seen.sum(1, keepdims=True)) ** 2)

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def train(weights, known, key, records):
        key, own = jax.random.split(key)
        if mended:
            places = jax.random.randint(own, (rows,), 0, count)
        else:
            places = jax.random.permutation(own, count)[:rows]
        change, known = rule.update(jax.grad(loss)(weights, records[places]), known)
        return optax.apply_updates(weights, change), known, key

    state = [weights, rule.init(weights), jax.random.PRNGKey(9)]

    def step():
        state[:] = train(*state, records)
        return state[0]

    return step, rows


def jax_stays_forecast(tiny, mended):
    """Healthy: a wide recurrence over a year of weeks, in BF16, in one jit."""
    rows, width, weeks = (8, 16, 3) if tiny else (4096, 4096, 12)
    weights = jax_fields.weights_of(width, 2)
    first = jax.random.normal(jax.random.PRNGKey(1), (rows, width), jnp.bfloat16)

    @jax.jit
    def run(first, weights):
        def week(states, _):
            return jax.nn.relu(jnp.tanh(states @ weights[0]) @ weights[1]), None
        return jax.lax.scan(week, first, None, length=weeks)[0]

    return lambda: run(first, weights), rows


BUILDS = {build.__name__: build for build in (
    jax_nans_looked_for, jax_loss_worked_out_twice, jax_all_shuffled_for_a_batch,
    jax_stays_forecast,
)}

if __name__ == "__main__":
    jax_fields.run_all(BUILDS)
