"""The same three models in JAX: make(name, tiny) gives initial weights, the loss and data of a
batch."""
import dataclasses
import math
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy
from jax import lax

from sizes import SIZES, TINY

DENSE = 13  # dense features of DLRM


class Weights:
    """Random weights, on the host."""

    def __init__(self):
        self.random = numpy.random.default_rng(0)

    def __call__(self, *shape, scale=None):
        fan_in = math.prod(shape[:-1])
        return self.random.standard_normal(shape, numpy.float32) * (scale or fan_in**-0.5)


def conv(images, kernel, stride=1):
    side = kernel.shape[0] // 2
    return lax.conv_general_dilated(
        images, kernel.astype(images.dtype), (stride, stride), [(side, side)] * 2,
        dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(values, scale_and_shift):
    wide = values.astype(jnp.float32)
    mean = wide.mean((0, 1, 2))
    spread = (wide * wide).mean((0, 1, 2)) - mean * mean
    scale, shift = scale_and_shift
    normed = (wide - mean) * (lax.rsqrt(spread + 1e-5) * scale) + shift
    return normed.astype(values.dtype)


def layer_norm(values, scale_and_shift):
    wide = values.astype(jnp.float32)
    mean = wide.mean(-1, keepdims=True)
    spread = ((wide - mean) ** 2).mean(-1, keepdims=True)
    scale, shift = scale_and_shift
    return ((wide - mean) * lax.rsqrt(spread + 1e-5) * scale + shift).astype(values.dtype)


def norm_weights(width):
    return numpy.ones(width, numpy.float32), numpy.zeros(width, numpy.float32)


def dense(values, layer):
    weight, bias = layer
    return values @ weight.astype(values.dtype) + bias.astype(values.dtype)


def dense_weights(weights, inside, outside):
    return weights(inside, outside), numpy.zeros(outside, numpy.float32)


def cross_entropy(scores, labels):
    logs = jax.nn.log_softmax(scores.astype(jnp.float32))
    return -jnp.take_along_axis(logs, labels[..., None], -1).mean()


# ResNet-50


def resnet50_weights(image, width, blocks, classes):
    weights, made, inside = Weights(), [], width
    stem = {"stem": weights(7, 7, 3, width), "stem_norm": norm_weights(width)}
    for count in blocks:
        for block in range(count):
            one = {"convs": [weights(1, 1, inside, width), weights(3, 3, width, width),
                             weights(1, 1, width, 4 * width)],
                   "norms": [norm_weights(width), norm_weights(width), norm_weights(4 * width)]}
            if block == 0:
                one["skip"] = weights(1, 1, inside, 4 * width)
                one["skip_norm"] = norm_weights(4 * width)
            made.append(one)
            inside = 4 * width
        width *= 2
    return {**stem, "blocks": made, "head": dense_weights(weights, inside, classes)}


def resnet50_loss(weights, inputs, labels, sizes):
    hidden = jax.nn.relu(batch_norm(conv(inputs, weights["stem"], 2), weights["stem_norm"]))
    hidden = lax.reduce_window(
        hidden, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])
    strides = [2 if stage > 0 and block == 0 else 1
               for stage, count in enumerate(sizes["blocks"]) for block in range(count)]
    for stride, block in zip(strides, weights["blocks"]):
        first, second, third = block["convs"]
        path = jax.nn.relu(batch_norm(conv(hidden, first), block["norms"][0]))
        path = jax.nn.relu(batch_norm(conv(path, second, stride), block["norms"][1]))
        path = batch_norm(conv(path, third), block["norms"][2])
        if "skip" in block:
            hidden = batch_norm(conv(hidden, block["skip"], stride), block["skip_norm"])
        hidden = jax.nn.relu(path + hidden)
    return cross_entropy(dense(hidden.mean((1, 2)), weights["head"]), labels)


# BERT


def bert_weights(layers, width, heads, tokens, words):
    weights = Weights()
    stack = [{"project": dense_weights(weights, width, 3 * width),
              "out": dense_weights(weights, width, width),
              "up": dense_weights(weights, width, 4 * width),
              "down": dense_weights(weights, 4 * width, width),
              "first": norm_weights(width), "second": norm_weights(width)}
             for _ in range(layers)]
    return {"word": weights(words, width, scale=0.02), "place": weights(tokens, width, scale=0.02),
            "norm": norm_weights(width), "layers": stack,
            "transform": dense_weights(weights, width, width), "last": norm_weights(width),
            "head": dense_weights(weights, width, words)}


def bert_layer(hidden, layer, heads):
    batch, tokens, width = hidden.shape
    projected = dense(hidden, layer["project"]).reshape(batch, tokens, 3, heads, width // heads)
    query, key, value = jnp.moveaxis(projected, 2, 0)
    attended = jax.nn.dot_product_attention(query, key, value).reshape(batch, tokens, width)
    hidden = layer_norm(hidden + dense(attended, layer["out"]), layer["first"])
    inner = jax.nn.gelu(dense(hidden, layer["up"]), approximate=False)
    return layer_norm(hidden + dense(inner, layer["down"]), layer["second"])


def bert_loss(weights, tokens, labels, sizes, dtype):
    hidden = weights["word"][tokens].astype(dtype) + weights["place"].astype(dtype)
    hidden = layer_norm(hidden, weights["norm"])
    for layer in weights["layers"]:
        hidden = bert_layer(hidden, layer, sizes["heads"])
    hidden = jax.nn.gelu(dense(hidden, weights["transform"]), approximate=False)
    return cross_entropy(dense(layer_norm(hidden, weights["last"]), weights["head"]), labels)


# DLRM


def perceptron_weights(weights, widths):
    return [dense_weights(weights, a, b) for a, b in zip(widths, widths[1:])]


def dlrm_weights(tables, rows, width, bottom, top):
    weights = Weights()
    pairs = (tables + 1) * tables // 2
    return {"tables": [weights(rows, width, scale=0.02) for _ in range(tables)],
            "bottom": perceptron_weights(weights, (DENSE, *bottom, width)),
            "top": perceptron_weights(weights, (pairs + width, *top)),
            "last": dense_weights(weights, top[-1], 1)}


def dlrm_loss(weights, looked_up, inputs, labels, dtype):
    features, _ = inputs
    bottom = features.astype(dtype)
    for layer in weights["bottom"]:
        bottom = jax.nn.relu(dense(bottom, layer))
    vectors = jnp.stack([bottom, *(vector.astype(dtype) for vector in looked_up)], 1)
    products = jnp.einsum("bid,bjd->bij", vectors, vectors)
    rows, columns = jnp.tril_indices(len(looked_up) + 1, -1)
    top = jnp.concatenate([bottom, products[:, rows, columns]], 1)
    for layer in weights["top"]:
        top = jax.nn.relu(dense(top, layer))
    scores = dense(top, weights["last"])[:, 0].astype(jnp.float32)
    return (jnp.logaddexp(0, scores) - scores * labels).mean()


def dlrm_step(weights, state, inputs, labels, dtype):
    """Of the tables only the rows that the batch looks up change."""
    dense = {name: weights[name] for name in ("bottom", "top", "last")}
    chosen = inputs[1]
    looked_up = [table[chosen[:, i]] for i, table in enumerate(weights["tables"])]
    loss, (gradients, of_rows) = jax.value_and_grad(dlrm_loss, (0, 1))(
        dense, looked_up, inputs, labels, dtype)
    dense, state = optimizer_step(dense, gradients, state, "sgd")
    tables = [table.at[chosen[:, i]].add(-1e-3 * rows)
              for i, (table, rows) in enumerate(zip(weights["tables"], of_rows))]
    return {**dense, "tables": tables}, state, loss


@dataclasses.dataclass
class Workload:
    weights: Any
    loss: Callable | None  # (weights, inputs, labels, dtype) -> loss; None: sparse DLRM's own step
    data: Callable  # batch -> (inputs, labels)
    optimizer: str  # sgd, momentum or adam


def make(name, tiny):
    sizes = (TINY if tiny else SIZES)[name]
    key = jax.random.PRNGKey(1)
    if name == "resnet50":
        side = sizes["image"]

        def data(batch):
            return (jax.random.normal(key, (batch, side, side, 3)),
                    jax.random.randint(key, (batch,), 0, sizes["classes"]))

        def loss(weights, inputs, labels, dtype):
            return resnet50_loss(weights, inputs.astype(dtype), labels, sizes)
        return Workload(resnet50_weights(**sizes), loss, data, "momentum")
    if name == "bert":
        def data(batch):
            tokens = jax.random.randint(key, (batch, sizes["tokens"]), 0, sizes["words"])
            return tokens, tokens

        def loss(weights, inputs, labels, dtype):
            return bert_loss(weights, inputs, labels, sizes, dtype)
        return Workload(bert_weights(**sizes), loss, data, "adam")

    def data(batch):
        features = (jax.random.normal(key, (batch, DENSE)),
                    jax.random.randint(key, (batch, sizes["tables"]), 0, sizes["rows"]))
        return features, jax.random.uniform(key, (batch,))

    def loss(weights, inputs, labels, dtype):
        looked_up = [table[inputs[1][:, i]] for i, table in enumerate(weights["tables"])]
        return dlrm_loss(weights, looked_up, inputs, labels, dtype)
    return Workload(dlrm_weights(**sizes), None if name == "dlrm_sparse" else loss, data, "sgd")


def optimizer_step(weights, gradients, state, optimizer):
    """SGD, SGD with momentum, or Adam with decay of weights."""
    tree = jax.tree_util.tree_map
    if optimizer == "sgd":
        return tree(lambda weight, gradient: weight - 1e-3 * gradient, weights, gradients), state
    if optimizer == "momentum":
        state = tree(lambda momentum, gradient: 0.9 * momentum + gradient, state, gradients)
        return tree(lambda weight, momentum: weight - 1e-3 * momentum, weights, state), state
    first, second = state
    first = tree(lambda mean, gradient: 0.9 * mean + 0.1 * gradient, first, gradients)
    second = tree(lambda square, g: 0.999 * square + 0.001 * g * g, second, gradients)
    weights = tree(
        lambda weight, mean, square: weight * (1 - 1e-7)
        - 1e-5 * mean / (jnp.sqrt(square) + 1e-8), weights, first, second)
    return weights, (first, second)


def initial_state(weights, optimizer):
    def zeros():
        return jax.tree_util.tree_map(jnp.zeros_like, weights)
    if optimizer == "sgd":
        return ()
    return zeros() if optimizer == "momentum" else (zeros(), zeros())


def train_step(workload, dtype):
    def step(weights, state, inputs, labels):
        if workload.loss is None:
            return dlrm_step(weights, state, inputs, labels, dtype)
        loss, gradients = jax.value_and_grad(workload.loss)(weights, inputs, labels, dtype)
        return *optimizer_step(weights, gradients, state, workload.optimizer), loss
    return step
