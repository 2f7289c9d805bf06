"""JAX and lineax: planted faults, mended, and healthy programs: orchards_jax.py FOLDER SIZE NAME..."""
import functools

import jax
import jax.numpy as jnp

import jax_fields


def jax_remat_everything(tiny, mended):
    """Blocks of four layers are made again in the backward pass, though memory is plenty.

    Mended, without jax.checkpoint.
    """
    rows, width = (8, 16) if tiny else (8192, 2048)
    weights = jax_fields.weights_of(width, 12)
    some = jax.random.normal(jax.random.PRNGKey(1), (rows, width), jnp.bfloat16)

    def block(states, own):
        for weight in own:
            states = jnp.tanh(states @ weight)
        return states

    used = block if mended else jax.checkpoint(block)

    def loss(weights, some):
        for first in range(0, len(weights), 4):
            some = used(some, weights[first:first + 4])
        return jnp.mean(some.astype(jnp.float32) ** 2)

    @functools.partial(jax.jit, donate_argnums=0)
    def train(weights, some):
        slopes = jax.grad(loss)(weights, some)
        return [weight - (1e-3 * slope).astype(weight.dtype)
                for weight, slope in zip(weights, slopes)]

    state = [weights]

    def step():
        state[0] = train(state[0], some)
        return state[0]

    return step, rows


def jax_tiny_inverses(tiny, mended):
    """jnp.linalg.inv of 400000 matrices of three rows, the strains of a bridge.

    Mended, their adjugates by cross products.
    """
    count = 8 if tiny else 400_000
    strains = jax.random.normal(jax.random.PRNGKey(0), (count, 3, 3)) * 0.1 + jnp.eye(3)
    forces = jax.random.normal(jax.random.PRNGKey(1), (count, 3))

    def adjugate(matrix):
        one, two, three = matrix[:, 0], matrix[:, 1], matrix[:, 2]
        columns = jnp.stack((jnp.cross(two, three), jnp.cross(three, one), jnp.cross(one, two)), -1)
        return columns / jnp.sum(one * columns[..., 0], -1)[:, None, None]

    @jax.jit
    def moved(strains, forces):
        inverse = adjugate(strains) if mended else jnp.linalg.inv(strains)
        return jnp.tanh(jnp.sum(inverse * forces[:, None], -1))

    return lambda: moved(strains, forces), count


def jax_waits_for_the_slowest(tiny, mended):
    """A while loop under vmap turns until the last of two million orbits has settled.

    A few long ones need hundreds of turns; mended, Newton's method settles all in some ten.
    """
    count = 16 if tiny else 2_000_000
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    means = jax.random.uniform(keys[0], (count,), minval=0.05, maxval=3.0)
    rare = jax.random.uniform(keys[2], (count,)) < 1e-3
    longs = jax.random.uniform(keys[1], (count,)) * jnp.where(rare, 0.96, 0.1)

    def settled(mean, long):
        def goes_on(state):
            place, change, turn = state
            return (jnp.abs(change) > 1e-4) & (turn < 400)

        def turned(state):
            place, _, turn = state
            if mended:
                miss = place - long * jnp.sin(place) - mean
                new = place - miss / (1 - long * jnp.cos(place))
            else:
                new = mean + long * jnp.sin(place)
            return new, new - place, turn + 1

        first = jnp.float32(jnp.pi) if mended else mean
        return jax.lax.while_loop(goes_on, turned, (first, jnp.float32(1), 0))[0]

    run = jax.jit(jax.vmap(settled))
    return lambda: run(means, longs), count


def jax_solved_by_svd(tiny, mended):
    """lineax solves for the yield of each field by an SVD, though the matrix is a covariance.

    Mended, by Cholesky.
    """
    import lineax

    fields = 12 if tiny else 256
    places = jax.random.uniform(jax.random.PRNGKey(0), (fields, 2))
    yields = jax.random.normal(jax.random.PRNGKey(1), (fields,))
    solver = lineax.Cholesky() if mended else lineax.SVD()
    tags = lineax.positive_semidefinite_tag if mended else ()

    @jax.jit
    def likely(scale, places, yields):
        apart = jnp.sum((places[:, None] - places) ** 2, -1)
        matrix = jnp.exp(-apart / scale) + 0.1 * jnp.eye(fields)
        operator = lineax.MatrixLinearOperator(matrix, tags)
        return yields @ lineax.linear_solve(operator, yields, solver=solver).value

    return lambda: likely(0.1, places, yields), fields


def jax_frames_stacked_from_list(tiny, mended):
    """The last 48 frames of sixteen drones are a list of arrays, stacked anew in each step.

    Mended, a buffer in which the jitted step puts each frame.
    """
    count, rows, side, width = (4, 2, 4, 8) if tiny else (48, 16, 32, 512)
    weights = jax_fields.weights_of(width, 4, jnp.float32)
    into = jax.random.normal(jax.random.PRNGKey(1), (side * side, width)) / side
    first = jax.random.normal(jax.random.PRNGKey(2), (rows, side, side))

    def flown(frames, into, weights):
        states = frames.reshape(count * rows, -1) @ into
        for weight in weights:
            states = jnp.tanh(states @ weight)
        return states.reshape(count, rows, width).mean((0, 2))

    @jax.jit
    def seen(frame, moves):
        return frame * 0.99 + moves[:, None, None] * 0.01

    @functools.partial(jax.jit, donate_argnums=0)
    def whole(frames, frame, turn, into, weights):
        frames = frames.at[turn % count].set(frame)
        moves = flown(frames, into, weights)
        return frames, frame * 0.99 + moves[:, None, None] * 0.01, turn + 1

    fly = jax.jit(flown)
    listed = [first] * count
    state = [jnp.stack(listed), first, jnp.int32(0)]

    def step():
        if mended:
            state[:] = whole(*state, into, weights)
            return state[1]
        moves = fly(jnp.stack(listed), into, weights)
        listed.append(seen(listed[-1], moves))
        del listed[0]
        return listed[-1]

    return step, rows


def jax_cider_pressed(tiny, mended):
    """Healthy: gated wide layers trained in BF16 under one jit."""
    rows, width = (8, 16) if tiny else (8192, 4096)
    weights = jax_fields.weights_of(width, 6)
    some = jax.random.normal(jax.random.PRNGKey(1), (rows, width), jnp.bfloat16)

    def loss(weights, some):
        for gate, up in zip(weights[::2], weights[1::2]):
            some = some + jax.nn.sigmoid(some @ gate) * (some @ up)
        return jnp.mean(some.astype(jnp.float32) ** 2)

    @functools.partial(jax.jit, donate_argnums=0)
    def train(weights, some):
        slopes = jax.grad(loss)(weights, some)
        return [weight - (1e-6 * slope).astype(weight.dtype)
                for weight, slope in zip(weights, slopes)]

    state = [weights]

    def step():
        state[0] = train(state[0], some)
        return state[0]

    return step, rows


def jax_frost_spreads(tiny, mended):
    """Healthy: warmth over a wide valley, twenty turns of one fused kernel in a loop."""
    side, turns = (8, 2) if tiny else (8192, 20)
    first = jax.random.normal(jax.random.PRNGKey(0), (side, side))

    @jax.jit
    def run(warmth):
        def turn(_, here):
            around = (jnp.roll(here, 1, 0) + jnp.roll(here, -1, 0) + jnp.roll(here, 1, 1)
                      + jnp.roll(here, -1, 1))
            return here + 0.1 * (around - 4 * here)
        return jax.lax.fori_loop(0, turns, turn, warmth)

    return lambda: run(first), 1


BUILDS = {build.__name__: build for build in (
    jax_remat_everything, jax_tiny_inverses, jax_waits_for_the_slowest, jax_solved_by_svd,
    jax_frames_stacked_from_list, jax_cider_pressed, jax_frost_spreads,
)}

if __name__ == "__main__":
    jax_fields.run_all(BUILDS)
