"""JAX, flax, diffrax, optax: planted faults, mended, healthy: trades_jax.py FOLDER SIZE NAME..."""
import functools

import jax
import jax.numpy as jnp
import optax

import jax_fields


def jax_both_branches(tiny, mended):
    """vmap of lax.cond works out both branches for all rows, though one in sixteen needs the large.

    Mended, the large branch is given those rows alone.
    """
    rows, width = (32, 8) if tiny else (16384, 2048)
    weights = jax_fields.weights_of(width, 6)
    some = jax.random.normal(jax.random.PRNGKey(1), (rows, width), jnp.bfloat16)
    hard = jnp.arange(rows) % 16 == 0
    places = jnp.arange(0, rows, 16)

    def large(states, weights):
        for weight in weights:
            states = jnp.tanh(states @ weight)
        return states

    def small(states, weights):
        return states * jnp.bfloat16(0.5)

    @jax.jit
    def whole(some, hard, weights):
        def one(states, asked):
            return jax.lax.cond(asked, large, small, states, weights)
        return jax.vmap(one)(some, hard)

    @jax.jit
    def apart(some, places, weights):
        return small(some, weights).at[places].set(large(some[places], weights),
                                                   unique_indices=True)

    def step():
        return apart(some, places, weights) if mended else whole(some, hard, weights)

    return step, rows


def jax_asked_in_each_turn(tiny, mended):
    """A field of voltages is evened out, and a while_loop asks in each of 256 turns if it is done.

    Mended, it asks after each sixteen turns.
    """
    side, turns, apart = (16, 32, 16) if tiny else (1024, 256, 16)
    charge = jax.random.normal(jax.random.PRNGKey(0), (side, side))

    def move(field, charge):
        near = sum(jnp.roll(field, by, axis) for by in (1, -1) for axis in (0, 1))
        return 0.25 * (near + charge)

    def before(known):
        return (known[1] > 1e-12) & (known[2] < turns)

    def one(known, charge):
        field = move(known[0], charge)
        return field, jnp.abs(field - known[0]).max(), known[2] + 1

    def many(known, charge):
        field = jax.lax.fori_loop(0, apart - 1, lambda _, field: move(field, charge), known[0])
        field, change, _ = one((field, known[1], known[2]), charge)
        return field, change, known[2] + apart

    @jax.jit
    def solved(charge):
        begin = jnp.zeros_like(charge), jnp.float32(1), jnp.int32(0)
        body = functools.partial(many if mended else one, charge=charge)
        return jax.lax.while_loop(before, body, begin)

    return lambda: solved(charge), side * side


def jax_schedule_by_scalars(tiny, mended):
    """A sampler works out its schedule by operators on single numbers between jitted passes.

    Mended, all steps are one jit. The network is flax's.
    """
    import flax.linen as nn

    rows, width, turns = (4, 8, 3) if tiny else (512, 1024, 24)

    class Denoiser(nn.Module):
        @nn.compact
        def __call__(self, states, share):
            states = jnp.concatenate((states, jnp.broadcast_to(share, (rows, 1))), 1)
            for _ in range(2):
                states = nn.silu(nn.Dense(width, dtype=jnp.bfloat16)(states))
            return nn.Dense(width)(states)

    net = Denoiser()
    noise = jax.random.normal(jax.random.PRNGKey(0), (rows, width))
    weights = net.init(jax.random.PRNGKey(1), noise, jnp.float32(0.5))
    kept = jnp.cumprod(1 - jnp.linspace(1e-4, 0.2, turns + 1))

    def shares(now, then):
        clean, noisy = jnp.sqrt(then), jnp.sqrt(1 - then)
        return clean / jnp.sqrt(now), noisy - clean * jnp.sqrt(1 - now) / jnp.sqrt(now)

    @jax.jit
    def pass_of(weights, states, now, left, right):
        return left * states + right * net.apply(weights, states, now)

    @jax.jit
    def whole(weights, states, kept):
        def turn(states, two):
            now, then = two
            return pass_of(weights, states, now, *shares(now, then)), None
        return jax.lax.scan(turn, states, (kept[1:][::-1], kept[:-1][::-1]))[0]

    def step():
        if mended:
            return whole(weights, noise, kept)
        states = noise
        for turn in reversed(range(turns)):
            now, then = kept[turn + 1], kept[turn]
            states = pass_of(weights, states, now, *shares(now, then))
        return states

    return step, rows


def jax_keys_split_in_python(tiny, mended):
    """Each of 48 papers gets a key by split in Python and its prices by a call of its own.

    Mended, keys and prices of all come from one jit.
    """
    papers, paths, days = (4, 8, 6) if tiny else (48, 4096, 64)
    worth = jnp.linspace(80.0, 120.0, papers)

    def price(key, worth):
        moves = 0.01 * jax.random.normal(key, (paths, days))
        ways = worth * jnp.exp(jnp.cumsum(moves - 0.5e-4, 1))
        return jnp.maximum(ways.mean(1) - 100.0, 0).mean()

    one = jax.jit(price)
    first = jax.random.PRNGKey(0)

    @jax.jit
    def whole(key, worth):
        return jax.vmap(price)(jax.random.split(key, papers), worth)

    def step():
        if mended:
            return whole(first, worth)
        key, found = first, []
        for number in range(papers):
            key, own = jax.random.split(key)
            found.append(one(own, worth[number]))
        return found

    return step, papers


def jax_slope_by_forward_mode(tiny, mended):
    """The slope of one cost by 256 controls of arms is worked out forwards (jacfwd), for each.

    Mended, backwards (grad).
    """
    arms, width, turns = (4, 8, 3) if tiny else (256, 128, 32)
    weights = jax_fields.weights_of(width, 2, jnp.float32)
    first = jax.random.normal(jax.random.PRNGKey(2), (arms, width))
    into = jax.random.normal(jax.random.PRNGKey(3), (8, width))
    controls = jnp.zeros((turns, 8))

    def cost(controls, first, weights, into):
        def turn(states, control):
            force = jnp.tanh(states @ weights[0] + control @ into) @ weights[1]
            states = states + 0.1 * force
            return states, jnp.mean(states**2)
        return jax.lax.scan(turn, first, controls)[1].sum()

    slope = jax.jit(jax.grad(cost) if mended else jax.jacfwd(cost))
    state = [controls]

    def step():
        state[0] = state[0] - 0.1 * slope(state[0], first, weights, into)
        return state[0]

    return step, arms


def jax_hundreds_of_leaves(tiny, mended):
    """A model for each of 32 meters, all of whose weights are arrays of their own.

    Mended, one array holds the same weight of all meters.
    """
    meters, rows, width = (3, 8, 4) if tiny else (32, 2048, 16)
    seen = jax.random.normal(jax.random.PRNGKey(0), (meters, rows, width))
    used = jax.random.normal(jax.random.PRNGKey(1), (meters, rows))
    begin = {"slope": jnp.ones((meters, width)) * 0.1, "base": jnp.zeros(meters),
             "bend": jnp.ones(meters)}
    if not mended:
        begin = [jax.tree.map(lambda leaf, at=at: leaf[at], begin) for at in range(meters)]
        seen, used = list(seen), list(used)
    rule = optax.adam(1e-3)

    def wrong(weights, seen, used):
        guess = jnp.tanh((seen * weights["slope"]).sum(-1) + weights["base"]) * weights["bend"]
        return jnp.mean((guess - used) ** 2)

    def loss(weights, seen, used):
        if mended:
            return jax.vmap(wrong)(weights, seen, used).sum()
        return sum(wrong(*one) for one in zip(weights, seen, used))

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def train(weights, known, seen, used):
        change, known = rule.update(jax.grad(loss)(weights, seen, used), known)
        return optax.apply_updates(weights, change), known

    state = [begin, rule.init(begin)]

    def step():
        state[:] = train(*state, seen, used)
        return state[0]

    return step, meters


def jax_flows_solved_apart(tiny, mended):
    """diffrax solves the flow of each of sixteen tanks by a call of its own; mended, by vmap."""
    import diffrax

    tanks, width, moves = (2, 8, 2) if tiny else (16, 256, 12)
    weights = jax_fields.weights_of(width, 2, jnp.float32)
    first = jax.random.normal(jax.random.PRNGKey(1), (tanks, width))

    def flow(time, level, weights):
        return jnp.tanh(level @ weights[0]) @ weights[1] - 0.1 * level

    def solved(level, weights):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(flow), diffrax.Heun(), 0.0, 1.0, 1.0 / moves, level, args=weights,
            max_steps=2 * moves).ys[-1]

    one = jax.jit(solved)
    whole = jax.jit(jax.vmap(solved, (0, None)))

    def step():
        if mended:
            return whole(first, weights)
        return [one(level, weights) for level in first]

    return step, tanks


def jax_bytes_made_wide(tiny, mended):
    """A network of whole bytes is multiplied as 32-bit whole numbers; mended, as bytes."""
    side, depth = (16, 2) if tiny else (2048, 2)
    keys = jax.random.split(jax.random.PRNGKey(0), depth + 1)
    some, *weights = (jax.random.randint(key, (side, side), -127, 127, jnp.int8) for key in keys)

    @jax.jit
    def run(some, weights):
        for weight in weights:
            if mended:
                found = jnp.matmul(some, weight, preferred_element_type=jnp.int32)
            else:
                found = some.astype(jnp.int32) @ weight.astype(jnp.int32)
            some = jnp.clip(found // 2048, -127, 127).astype(jnp.int8)
        return some

    return lambda: run(some, weights), side


def jax_warp_and_weft(tiny, mended):
    """Healthy: a flax network of wide layers is trained in BF16 under one jit."""
    import flax.linen as nn

    rows, width = (8, 16) if tiny else (8192, 4096)

    class Cloth(nn.Module):
        @nn.compact
        def __call__(self, states):
            for _ in range(3):
                layer = nn.Dense(width, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16)
                states = nn.relu(layer(states))
            return states

    net = Cloth()
    some = jax.random.normal(jax.random.PRNGKey(0), (rows, width), jnp.bfloat16)
    weights = net.init(jax.random.PRNGKey(1), some)
    rule = optax.sgd(1e-4)

    def loss(weights, some):
        return jnp.mean((net.apply(weights, some) - some).astype(jnp.float32) ** 2)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def train(weights, known, some):
        change, known = rule.update(jax.grad(loss)(weights, some), known, weights)
        return optax.apply_updates(weights, change), known

    state = [weights, rule.init(weights)]

    def step():
        state[:] = train(*state, some)
        return state[0]

    return step, rows


def jax_lanterns_in_fog(tiny, mended):
    """Healthy: light through fog along 16 million ways, one kernel's work for each piece of way."""
    ways, pieces = (64, 3) if tiny else (16_000_000, 8)
    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    thick, place = (jax.random.uniform(key, (ways,)) for key in keys)

    @jax.jit
    def seen(thick, place):
        def piece(known, _):
            light, place = known
            fog = thick * jnp.exp(-place) + 0.1 * jnp.sin(9 * place) ** 2
            return (light * jnp.exp(-0.1 * fog), place + 0.1), None
        return jax.lax.scan(piece, (jnp.ones_like(thick), place), None, length=pieces)[0][0]

    return lambda: seen(thick, place), ways


BUILDS = {build.__name__: build for build in (
    jax_both_branches, jax_asked_in_each_turn, jax_schedule_by_scalars, jax_keys_split_in_python,
    jax_slope_by_forward_mode, jax_hundreds_of_leaves, jax_flows_solved_apart, jax_bytes_made_wide,
    jax_warp_and_weft, jax_lanterns_in_fog,
)}

if __name__ == "__main__":
    jax_fields.run_all(BUILDS)
