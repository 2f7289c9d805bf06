"""JAX with equinox and optax, planted faults, mended, healthy: services_jax.py FOLDER SIZE
NAME..."""
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

import jax_fields


def network(width, depth, type=jnp.float32):
    """An equinox MLP, and the loss by which it is trained to give back what it gets."""
    net = eqx.nn.MLP(width, width, width, depth, jax.nn.gelu, key=jax.random.PRNGKey(0))
    net = jax.tree.map(lambda leaf: leaf.astype(type) if eqx.is_array(leaf) else leaf, net)

    def loss(net, some):
        return jnp.mean((jax.vmap(net)(some) - some).astype(jnp.float32) ** 2)

    return net, loss


def jax_updates_by_operator(tiny, mended):
    """Gradients are jitted, optax's update is not; mended, one jit for the whole step."""
    width, rows = (16, 8) if tiny else (1024, 4096)
    net, loss = network(width, 8)
    some = jnp.ones((rows, width))
    rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-4))
    state = [net, rule.init(eqx.filter(net, eqx.is_array))]
    slopes = eqx.filter_jit(eqx.filter_grad(loss))

    def train(net, known, slope):
        change, known = rule.update(slope, known, eqx.filter(net, eqx.is_array))
        return eqx.apply_updates(net, change), known

    @eqx.filter_jit
    def whole(net, known):
        return train(net, known, eqx.filter_grad(loss)(net, some))

    def step():
        state[:] = whole(*state) if mended else train(*state, slopes(state[0], some))
        return eqx.filter(state[0], eqx.is_array)

    return step, rows


def jax_metrics_fetched(tiny, mended):
    """Twenty-four numbers are made floats of Python after each step; mended, they wait."""
    width, rows = (16, 8) if tiny else (1024, 1024)
    weights = jax_fields.weights_of(width, 24)
    rule = optax.sgd(1e-3)
    some = jnp.ones((rows, width), jnp.bfloat16)

    @jax.jit
    def train(weights, known):
        slopes = jax.grad(jax_fields.loss_of)(weights, some)
        change, known = rule.update(slopes, known, weights)
        sizes = {f"layer {n}": jnp.linalg.norm(s.astype(jnp.float32)) for n, s in enumerate(slopes)}
        return optax.apply_updates(weights, change), known, sizes

    state, log = [weights, rule.init(weights)], []

    def step():
        state[0], state[1], sizes = train(*state)
        log.append(sizes if mended else {name: float(size) for name, size in sizes.items()})
        return state[0]

    return step, rows


def jax_jit_made_again(tiny, mended):
    """A step makes its jit anew around a partial, so it compiles again; mended, it keeps it."""
    width, rows = (16, 8) if tiny else (2048, 4096)
    weights = jax_fields.weights_of(width, 4)
    some = jnp.ones((rows, width), jnp.bfloat16)

    def train(rate, weights, some):
        slopes = jax.grad(jax_fields.loss_of)(weights, some)
        return [weight - (rate * slope).astype(weight.dtype)
                for weight, slope in zip(weights, slopes)]

    state, kept = [weights], jax.jit(train)

    def step():
        run = functools.partial(kept, 1e-3) if mended else jax.jit(functools.partial(train, 1e-3))
        state[0] = run(state[0], some)
        return state[0]

    return step, rows


def jax_recurrence_in_order(tiny, mended):
    """A linear recurrence by lax.scan, place after place; mended, lax.associative_scan."""
    rows, length, width = (2, 16, 8) if tiny else (64, 128, 1024)
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    keep = jax.random.uniform(keys[0], (length, rows, width))
    new = jax.random.normal(keys[1], (length, rows, width))
    mix = jax.random.normal(keys[2], (width, width)) / width**0.5

    @jax.jit
    def run(keep, new, mix):  # as arguments: XLA would work out all that it knows beforehand
        if mended:
            def joined(one, two):
                return one[0] * two[0], two[0] * one[1] + two[1]
            states = jax.lax.associative_scan(joined, (keep, new))[1]
        else:
            def turn(state, now):
                state = now[0] * state + now[1]
                return state, state
            states = jax.lax.scan(turn, jnp.zeros((rows, width)), (keep, new))[1]
        return states.astype(jnp.bfloat16) @ mix.astype(jnp.bfloat16)

    return lambda: run(keep, new, mix), rows * length


def jax_left_in_double(tiny, mended):
    """Waves by Fourier transforms in double, as jax_enable_x64 was left on; mended, in single."""
    side = 8 if tiny else 256
    with jax.enable_x64(not mended):
        field = jax.random.normal(jax.random.PRNGKey(0), (side, side, side), float)
        wave = jnp.fft.fftfreq(side) ** 2
        turn = jnp.exp(-0.1j * (wave[:, None, None] + wave[:, None] + wave))

        @jax.jit
        def run(field, turn):
            for _ in range(2):
                field = jnp.fft.ifftn(jnp.fft.fftn(field) * turn)
                field = field * jnp.exp(-0.01j * jnp.abs(field) ** 2)
            return field

        field = run(field, turn)

    def step():
        with jax.enable_x64(not mended):
            return run(field, turn)

    return step, side**3


def jax_chains_in_a_row(tiny, mended):
    """Sixteen Markov chains go one after the other by lax.map; mended, together by vmap."""
    rows, width, chains, moves = (20, 4, 2, 2) if tiny else (8192, 64, 16, 3)
    data = jax.random.normal(jax.random.PRNGKey(0), (rows, width))

    def energy(state, data):
        return jnp.sum(jax.nn.softplus(data @ state)) + jnp.sum(state**2) / 2

    def move(state, key, data):
        begin, speed = state, jax.random.normal(key, state.shape)
        first = energy(state, data) + jnp.sum(speed**2) / 2
        for _ in range(6):
            speed = speed - 5e-4 * jax.grad(energy)(state, data)
            state = state + 1e-3 * speed
            speed = speed - 5e-4 * jax.grad(energy)(state, data)
        last = energy(state, data) + jnp.sum(speed**2) / 2
        return jnp.where(jnp.log(jax.random.uniform(key)) < first - last, state, begin), None

    def chain(key, data):
        def turn(state, key):
            return move(state, key, data)
        return jax.lax.scan(turn, jnp.zeros(width), jax.random.split(key, moves))[0]

    keys = jax.random.split(jax.random.PRNGKey(1), chains)

    @jax.jit
    def run(keys, data):
        if mended:
            return jax.vmap(chain, (0, None))(keys, data)
        return jax.lax.map(lambda key: chain(key, data), keys)

    return lambda: run(keys, data), chains * moves


def jax_buffer_copied_by_set(tiny, mended):
    """buffer.at[...].set outside of jit copies all of a replay buffer; mended, jit and donation."""
    size, width, rows = (64, 8, 4) if tiny else (200_000, 512, 256)
    weights = jax_fields.weights_of(width, 6)
    buffer = [jnp.zeros((size, width)), 0]
    fresh = jnp.ones((rows, width))

    @functools.partial(jax.jit, donate_argnums=0)
    def put(buffer, place):
        return jax.lax.dynamic_update_slice(buffer, fresh, (place, 0))

    @jax.jit
    def learn(weights, buffer, key):
        some = buffer[jax.random.randint(key, (4 * rows,), 0, size)].astype(jnp.bfloat16)
        slopes = jax.grad(jax_fields.loss_of)(weights, some)
        return [w - (1e-3 * s).astype(w.dtype) for w, s in zip(weights, slopes)]

    state = [weights, jax.random.PRNGKey(0)]

    def step():
        place = buffer[1] % (size - rows)
        if mended:
            buffer[0] = put(buffer[0], place)
        else:
            buffer[0] = buffer[0].at[place : place + rows].set(fresh)
        buffer[1] += rows
        state[0] = learn(state[0], buffer[0], state[1])
        return state[0]

    return step, rows


def jax_optimised_whole(tiny, mended):
    """Healthy: an equinox network in BF16 trained by optax under one jit, its state given away."""
    width, rows = (16, 8) if tiny else (4096, 8192)
    net, loss = network(width, 4, jnp.bfloat16)
    some = jnp.ones((rows, width), jnp.bfloat16)
    rule = optax.sgd(1e-4, momentum=0.9)
    weights, still = eqx.partition(net, eqx.is_array)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def train(weights, known):
        slopes = jax.grad(lambda w: loss(eqx.combine(w, still), some))(weights)
        change, known = rule.update(slopes, known, weights)
        return optax.apply_updates(weights, change), known

    state = [weights, rule.init(weights)]

    def step():
        state[:] = train(*state)
        return state[0]

    return step, rows


def jax_lattice(tiny, mended):
    """Healthy: a wave on a large lattice, many turns of one scan, each a large kernel."""
    side = 16 if tiny else 512
    start = jax.random.normal(jax.random.PRNGKey(0), (2, side, side, side // 2))

    def turn(state, _):
        now, before = state
        near = sum(jnp.roll(now, way, axis) for axis in range(3) for way in (1, -1))
        return jnp.stack((2 * now - before + 0.1 * (near - 6 * now), now)), None

    run = jax.jit(lambda state: jax.lax.scan(turn, state, None, length=4)[0])
    return lambda: run(start), side


BUILDS = {build.__name__: build for build in (
    jax_updates_by_operator, jax_metrics_fetched, jax_jit_made_again, jax_recurrence_in_order,
    jax_left_in_double, jax_chains_in_a_row, jax_buffer_copied_by_set, jax_optimised_whole,
    jax_lattice,
)}

if __name__ == "__main__":
    jax_fields.run_all(BUILDS, slow=("jax_jit_made_again", "jax_recurrence_in_order"))
