"""Records TensorFlow inference on the CPU: LeNet-5, ResNet-50 and a BERT-base-sized encoder,
without downloaded weights.

    python tf_models.py MODEL MODE BATCH STEPS OUTPUT

MODEL is lenet5, resnet50 or bert; MODE is sync, async (eager execution), function (tf.function) or
xla. OUTPUT becomes a profile folder: `gpufathom analyze OUTPUT --batch BATCH` reads it. One process
records one profile, because the mode of eager execution holds for the whole process.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf  # noqa: E402

keras = tf.keras


def lenet5(batch):
    layers = keras.layers
    model = keras.Sequential([
        layers.Conv2D(6, 5, padding="same", activation="relu"), layers.AveragePooling2D(2),
        layers.Conv2D(16, 5, activation="relu"), layers.AveragePooling2D(2), layers.Flatten(),
        layers.Dense(120, activation="relu"), layers.Dense(84, activation="relu"),
        layers.Dense(10)])
    return model, tf.random.normal((batch, 28, 28, 1))


def resnet50(batch):
    return keras.applications.ResNet50(weights=None), tf.random.normal((batch, 224, 224, 3))


def bert(batch, layers=12, width=768, heads=12, length=128):
    """The encoder of BERT-base: what a text costs once it is embedded."""
    def block(x):
        attended = keras.layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = keras.layers.LayerNormalization()(x + attended)
        hidden = keras.layers.Dense(4 * width, activation="gelu")(x)
        return keras.layers.LayerNormalization()(x + keras.layers.Dense(width)(hidden))
    tokens = keras.Input((length, width))
    x = tokens
    for _ in range(layers):
        x = block(x)
    return keras.Model(tokens, x), tf.random.normal((batch, length, width))


def main():
    name, mode, batch, steps, output = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    tf.config.experimental.set_synchronous_execution(mode != "async")
    model, data = {"lenet5": lenet5, "resnet50": resnet50, "bert": bert}[name](batch)
    infer = lambda x: model(x, training=False)  # noqa: E731
    if mode in ("function", "xla"):
        infer = tf.function(infer, jit_compile=mode == "xla")
    for _ in range(2):
        infer(data).numpy()
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=3, python_tracer_level=0)
    tf.profiler.experimental.start(output, options)
    for step in range(steps):
        with tf.profiler.experimental.Trace("infer", step_num=step, _r=1):
            infer(data).numpy()
    tf.profiler.experimental.stop()


if __name__ == "__main__":
    main()
