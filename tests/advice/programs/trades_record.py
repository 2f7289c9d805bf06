"""Services and CuPy's programs that gpufathom records itself, run as recording.py says."""
import functools

import recording
from studies_record import device, waiting


def layers_of(width, depth, where):
    """Linear layers with an activation after each, in BF16."""
    import torch

    parts = []
    for _ in range(depth):
        parts += [torch.nn.Linear(width, width), torch.nn.GELU()]
    return torch.nn.Sequential(*parts).to(where, torch.bfloat16).eval()


def memory_asked_for_each_layer(tiny, mended):
    """A server asks the driver before each of 48 layers how much memory is free; mended, once."""
    import torch

    width, rows, where = (16, 4, device()) if tiny else (1024, 64, device())
    net = layers_of(width, 4 if tiny else 48, where)
    some = torch.randn(rows, width, device=where, dtype=torch.bfloat16)

    def enough():
        return where == "cpu" or torch.cuda.mem_get_info()[0] > 1 << 28

    @torch.no_grad()
    def step():
        states = some
        for number, layer in enumerate(net):
            if number == 0 or (not mended and number % 2 == 0):
                assert enough()
            states = layer(states)
        return states

    return step, waiting()


def operators_counted(tiny, mended):
    """A counter of operations sees each operator of a service in Python; mended, it is gone."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    width, rows, where = (16, 4, device()) if tiny else (1024, 256, device())
    net = layers_of(width, 2 if tiny else 24, where)
    some = torch.randn(rows, width, device=where, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        if mended:
            return net(some)
        with FlopCounterMode(display=False):
            return net(some)

    return step, waiting()


@functools.cache
def session_of(width, depth):
    """Layers of a network that orders answers, as onnxruntime has them, on the processor."""
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper

    nodes, kept = [], []
    for number in range(depth):
        weight = np.random.randn(width, width).astype(np.float32) / width**0.5
        kept.append(onnx.numpy_helper.from_array(weight, f"weight{number}"))
        nodes.append(helper.make_node("MatMul", [f"states{number}", f"weight{number}"],
                                      [f"product{number}"]))
        nodes.append(helper.make_node("Relu", [f"product{number}"], [f"states{number + 1}"]))
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, width])
              for name in ("states0", f"states{depth}")]
    graph = helper.make_graph(nodes, "order", values[:1], values[1:], initializer=kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    how = onnxruntime.SessionOptions()
    how.intra_op_num_threads = 8
    return onnxruntime.InferenceSession(model.SerializeToString(), how,
                                        providers=["CPUExecutionProvider"])


def ordered_by_onnxruntime(tiny, mended):
    """Results of a network on the GPU are ordered by onnxruntime on the CPU.

    Mended, by the same layers on the GPU.
    """
    import torch

    width, rows, where = (16, 4, device()) if tiny else (1024, 512, device())
    net = layers_of(width, 2 if tiny else 12, where)
    last = torch.nn.Sequential(*(part for _ in range(6) for part in (
        torch.nn.Linear(width, width, bias=False), torch.nn.ReLU()))).to(where)
    some = torch.randn(rows, width, device=where, dtype=torch.bfloat16)
    session = None if mended else session_of(width, 6)

    @torch.no_grad()
    def step():
        found = net(some).float()
        if mended:
            return last(found).sum(1).argsort().cpu()
        order = session.run(None, {"states0": found.cpu().numpy()})[0]
        return order.sum(1).argsort()

    return step, waiting()


def generator_for_each_request(tiny, mended):
    """Each of 64 requests draws its word with a generator of its own, one after the other.

    Mended, all draw together.
    """
    import torch

    rows, words, width, where = (4, 50, 16, device()) if tiny else (64, 32000, 1024, device())
    head = torch.nn.Linear(width, words).to(where, torch.bfloat16)
    some = torch.randn(rows, width, device=where, dtype=torch.bfloat16)
    own = [torch.Generator(where).manual_seed(number) for number in range(rows)]

    @torch.no_grad()
    def step():
        scores = head(some).float()
        if mended:
            return torch.multinomial(scores.softmax(-1), 1, generator=own[0])
        return torch.stack([torch.multinomial(row.softmax(-1), 1, generator=draws)
                            for row, draws in zip(scores, own)])

    return step, waiting()


def bottles_checked(tiny, mended):
    """Healthy: convolutions in BF16, channels last, over large batches of pictures of bottles."""
    import torch

    width, rows, side, where = (8, 1, 8, device()) if tiny else (256, 128, 56, device())
    parts = []
    for _ in range(8):
        parts += [torch.nn.Conv2d(width, width, 3, padding=1), torch.nn.ReLU(inplace=True)]
    net = torch.nn.Sequential(*parts).to(where, torch.bfloat16,
                                         memory_format=torch.channels_last).eval()
    some = torch.randn(rows, width, side, side, device=where, dtype=torch.bfloat16)
    some = some.to(memory_format=torch.channels_last)

    @torch.no_grad()
    def step():
        return net(some)

    return step, waiting()


def grains_weighed(tiny, mended):
    """Healthy: the weight of 128 million grains of sand by one reduction of CuPy."""
    import cupy

    count = 1000 if tiny else 128_000_000
    wide = cupy.random.random_sample(count, dtype=cupy.float32)
    heavy = cupy.ReductionKernel("float32 wide", "float32 sum", "wide * wide * wide", "a + b",
                                 "sum = 2.65f * a", "0", "weight_of_grains")
    total = cupy.empty((), cupy.float32)

    return lambda: heavy(wide, total), lambda: cupy.cuda.Device().synchronize()


BUILDS = {build.__name__: build for build in (
    memory_asked_for_each_layer, operators_counted, ordered_by_onnxruntime,
    generator_for_each_request, bottles_checked, grains_weighed,
)}

if __name__ == "__main__":
    recording.main(BUILDS)
