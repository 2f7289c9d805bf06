"""A jitted training step in JAX: jax_jit.py --seconds S."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import clock  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402


def main():
    options = clock.arguments()
    width, batch = (16, 8) if options.tiny else (2048, 8192)
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    weights = [jax.random.normal(k, (width, width), jnp.bfloat16) * 0.02 for k in keys[:3]]
    inputs = jax.random.normal(keys[3], (batch, width), jnp.bfloat16)

    def loss(weights):
        hidden = inputs
        for weight in weights:
            hidden = jax.nn.relu(hidden @ weight)
        return jnp.mean(hidden.astype(jnp.float32) ** 2)

    @jax.jit
    def train(weights):
        gradients = jax.grad(loss)(weights)
        return [w - 1e-4 * g.astype(w.dtype) for w, g in zip(weights, gradients)]

    held = [train(weights)]

    def step():
        held[0] = train(held[0])

    for _ in range(5):
        step()
    jax.block_until_ready(held[0])
    clock.say(clock.loop("jax_jit", step, lambda: jax.block_until_ready(held[0]), options.seconds,
                         jax=jax.__version__))


if __name__ == "__main__":
    main()
