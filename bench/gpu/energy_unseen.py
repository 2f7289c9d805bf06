#!/usr/bin/env python3
"""Kernels that the energy calibration never saw: measures each one's energy, or launches each once
for a counter profiler.

measure:  energy_unseen.py measure OUT.jsonl     one line an item: seconds, joules (board counter between two of its
                                                 updates), calls a second, clock, temperature
count:    energy_unseen.py count OUT.txt [SECONDS]  launches each item for a counter profiler: a graph of n calls, then one of
                                                 2 n; their difference is n calls in steady state,
                                                 caches warm. A spin kernel stands before each.
                                                 OUT.txt has one line an item: its name and n. Run
                                                 it under ncu
                                                 --profile-from-start off --graph-profiling graph.
"""
import json
import sys
import threading
import time

import torch
import torch.nn.functional as F

import batches

torch.manual_seed(0)
DEV = "cuda"


def triton_matmul():
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        pm, pn = tl.program_id(0), tl.program_id(1)
        rm, rn, rk = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
        acc = tl.zeros((BM, BN), tl.float32)
        pa, pb = a + rm[:, None] * K + rk[None, :], b + rk[:, None] * N + rn[None, :]
        for _ in range(0, K, BK):
            acc = tl.dot(tl.load(pa), tl.load(pb), acc)
            pa += BK
            pb += BK * N
        tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))

    def make(n, dtype):
        a, b = torch.randn(n, n, device=DEV,
                           dtype=dtype), torch.randn(n, n, device=DEV, dtype=dtype)
        c = torch.empty(n, n, device=DEV, dtype=dtype)
        return lambda: kernel[(n // 128, n // 128)](a, b, c, n, n, n, BM=128, BN=128,
                                                    BK=32 if dtype == torch.float32 else 64,
                                                    num_warps=8)

    return make


def adam_update(p, g, m, v):
    m.lerp_(g, 0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    p.addcdiv_(m, v.abs().sqrt_().add_(1e-8), value=-1e-5)


def items():
    """(name, function) pairs; built lazily, so that memory is held by one item at a time."""
    def matmul(n, kind):
        def build():
            torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
            dtype = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16,
                     "fp16": torch.float16}[kind]
            a, b = torch.randn(n, n, device=DEV,
                               dtype=dtype), torch.randn(n, n, device=DEV, dtype=dtype)
            out = torch.empty(n, n, device=DEV, dtype=dtype)
            return lambda: torch.mm(a, b, out=out)
        return f"matmul_{kind}_{n}", build

    for n in (512, 1024, 2048, 4096, 8192):
        for kind in ("fp32", "tf32", "bf16", "fp16"):
            yield matmul(n, kind)
    make = None

    def hand(n, kind):
        def build():
            nonlocal make
            make = make or triton_matmul()
            return make(n, {"tf32": torch.float32, "bf16": torch.bfloat16,
                            "fp16": torch.float16}[kind])
        return f"triton_matmul_{kind}_{n}", build

    for kind in ("tf32", "bf16", "fp16"):
        yield hand(4096, kind)

    def simple(name, make_inputs, function):
        def build():
            inputs = make_inputs()
            return lambda: function(*inputs)
        return name, build

    big = lambda dtype=torch.float32: torch.randn(1 << 28, device=DEV, dtype=dtype)  # 1 GiB in fp32
    # Copies by a kernel: the copy engine would bypass the SMs and their counters.
    yield simple("copy_fp32_1GiB", lambda: (torch.empty(1 << 28, device=DEV), big()),
                 lambda d, s: torch.abs(s, out=d))
    yield simple("copy_fp32_8MiB", lambda: (torch.empty(1 << 21, device=DEV),
                                            torch.randn(1 << 21, device=DEV)),
                 lambda d, s: torch.abs(s, out=d))
    yield simple("add_bf16_512MiB", lambda: (big(torch.bfloat16), big(torch.bfloat16)),
                 lambda a, b: torch.add(a, b, out=a))
    yield simple("reduction_fp32_1GiB", lambda: (big(),), lambda a: a.sum())
    yield simple("softmax_bf16", lambda: (torch.randn(16384, 8192, device=DEV,
                                                      dtype=torch.bfloat16),),
                 lambda x: torch.softmax(x, -1))
    yield simple("layer_norm_bf16", lambda: (torch.randn(65536, 2048, device=DEV,
                                                         dtype=torch.bfloat16),),
                 lambda x: F.layer_norm(x, (2048,)))
    yield simple("gelu_fp32", lambda: (big(),), lambda x: F.gelu(x))
    yield simple("conv_bf16", lambda: (torch.randn(128, 256, 56, 56, device=DEV,
                                                   dtype=torch.bfloat16).to(memory_format=torch.channels_last),
                                       torch.randn(256, 256, 3, 3, device=DEV,
                                                   dtype=torch.bfloat16).to(memory_format=torch.channels_last)),
                 lambda x, w: F.conv2d(x, w, padding=1))
    yield simple("conv_fp32", lambda: (torch.randn(64, 128, 56, 56, device=DEV),
                                       torch.randn(128, 128, 3, 3, device=DEV)),
                 lambda x, w: F.conv2d(x, w, padding=1))
    yield simple("embedding_bf16", lambda: (torch.randint(0, 1000000, (1 << 18,), device=DEV),
                                            torch.randn(1000000, 512, device=DEV,
                                                        dtype=torch.bfloat16)),
                 lambda i, w: F.embedding(i, w))
    qkv = lambda: tuple(torch.randn(16, 16, 2048, 128, device=DEV, dtype=torch.bfloat16)
                        for _ in range(3))
    yield simple("attention_bf16", qkv, lambda q, k, v: F.scaled_dot_product_attention(q, k, v))
    yield simple("transpose_fp32", lambda: (torch.randn(16384, 8192, device=DEV),),
                 lambda x: x.t().contiguous())
    # The kernels below were added after the form of the model was chosen, on 21 November 2026.
    yield simple("bmm_bf16", lambda: (torch.randn(64, 1024, 128, device=DEV, dtype=torch.bfloat16),
                                      torch.randn(64, 128, 1024, device=DEV, dtype=torch.bfloat16)),
                 torch.bmm)
    yield simple("conv1x1_bf16", lambda: (torch.randn(128, 256, 56, 56, device=DEV,
                                                      dtype=torch.bfloat16).to(memory_format=torch.channels_last),
                                          torch.randn(64, 256, 1, 1, device=DEV,
                                                      dtype=torch.bfloat16).to(memory_format=torch.channels_last)), lambda x, w: F.conv2d(x, w))
    yield simple("batch_norm_bf16", lambda: (torch.randn(128, 256, 56, 56, device=DEV,
                                                         dtype=torch.bfloat16),
                                             torch.ones(256, device=DEV),
                                             torch.zeros(256, device=DEV)),
                 lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True))
    yield simple("max_pool_bf16", lambda: (torch.randn(128, 64, 112, 112, device=DEV,
                                                       dtype=torch.bfloat16).to(memory_format=torch.channels_last),), lambda x: F.max_pool2d(x, 3, 2, 1))
    yield simple("rms_norm_fp32", lambda: (torch.randn(32768, 4096, device=DEV),
                                           torch.ones(4096, device=DEV)),
                 lambda x, w: F.rms_norm(x, (4096,), w))
    yield simple("cumsum_fp32", lambda: (torch.randn(16384, 8192, device=DEV),),
                 lambda x: torch.cumsum(x, -1))
    yield simple("cross_entropy_fp32", lambda: (torch.randn(8192, 32000, device=DEV),
                                                torch.randint(0, 32000, (8192,), device=DEV)),
                 F.cross_entropy)
    yield simple("adam_update_fp32",
                 lambda: tuple(torch.randn(1 << 26, device=DEV) for _ in range(4)), adam_update)
    yield simple("sigmoid_mul_bf16_16MiB",
                 lambda: tuple(torch.randn(1 << 22, device=DEV, dtype=torch.bfloat16)
                               for _ in range(2)), lambda a, b: torch.sigmoid(a) * b)
    yield simple("layer_norm_fp32_1MiB", lambda: (torch.randn(512, 512, device=DEV),),
                 lambda x: F.layer_norm(x, (512,)))
    yield simple("linear_relu_fp16_256",
                 lambda: (torch.randn(256, 4096, device=DEV, dtype=torch.float16),
                          torch.randn(4096, 4096, device=DEV, dtype=torch.float16)),
                 lambda x, w: F.relu(F.linear(x, w)))
    # And this, after its first measurement on that day.
    yield simple("matmul_fp8_4096", lambda: (torch.randn(4096, 4096,
                                                         device=DEV).to(torch.float8_e4m3fn),
                                             torch.randn(4096, 4096,
                                                         device=DEV).to(torch.float8_e4m3fn).t(),
                                             torch.ones((), device=DEV)),
                 lambda a, b, one: torch._scaled_mm(a, b, scale_a=one, scale_b=one,
                                                    out_dtype=torch.bfloat16))
    yield simple("attention_causal_fp16",
                 lambda: tuple(torch.randn(8, 16, 1024, 64, device=DEV, dtype=torch.float16)
                               for _ in range(3)),
                 lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))
    yield simple("depthwise_conv_bf16", lambda: (torch.randn(64, 256, 56, 56, device=DEV,
                                                             dtype=torch.bfloat16),
                                                 torch.randn(256, 1, 3, 3, device=DEV,
                                                             dtype=torch.bfloat16)),
                 lambda x, w: F.conv2d(x, w, padding=1, groups=256))
    yield simple("group_norm_fp32", lambda: (torch.randn(64, 256, 56, 56, device=DEV),),
                 lambda x: F.group_norm(x, 32))
    yield simple("gather_fp32_random", lambda: (torch.randn(1 << 27, device=DEV),
                                                torch.randint(0, 1 << 27, (1 << 24,), device=DEV)),
                 lambda x, i: x[i])
    yield simple("sum_columns_fp32", lambda: (torch.randn(16384, 8192, device=DEV),),
                 lambda x: x.sum(0))
    yield simple("bmm_fp32_small", lambda: (torch.randn(4096, 64, 64, device=DEV),
                                            torch.randn(4096, 64, 64, device=DEV)), torch.bmm)
    yield simple("erfinv_fp32", lambda: (torch.rand(1 << 26, device=DEV) * 1.9 - 0.95,),
                 torch.erfinv)
    yield simple("dropout_bf16", lambda: (torch.randn(1 << 28, device=DEV, dtype=torch.bfloat16),),
                 lambda x: F.dropout(x, 0.1))
    # Kinds that no model has seen, in no calibration before 29 November 2026.
    yield simple("index_add_fp32", lambda: (torch.zeros(1 << 20, 64, device=DEV),
                                            torch.randint(0, 1 << 20, (1 << 21,), device=DEV),
                                            torch.randn(1 << 21, 64, device=DEV)),
                 lambda y, i, x: y.index_add_(0, i, x))
    yield simple("sort_fp32", lambda: (torch.randn(512, 1 << 16, device=DEV),),
                 lambda x: torch.sort(x, -1))
    yield simple("topk_fp32", lambda: (torch.randn(256, 1 << 17, device=DEV),),
                 lambda x: torch.topk(x, 64, -1))
    yield simple("fft_complex64", lambda: (torch.randn(1 << 14, 1 << 12, device=DEV,
                                                       dtype=torch.complex64),),
                 lambda x: torch.fft.fft(x))
    yield simple("matmul_fp64_2048", lambda: tuple(torch.randn(2048, 2048, device=DEV,
                                                               dtype=torch.float64)
                                                   for _ in range(2)), torch.mm)
    yield simple("matmul_int8_4096", lambda: (torch.randint(-127, 127, (4096, 4096), device=DEV,
                                                            dtype=torch.int8),
                                              torch.randint(-127, 127, (4096, 4096), device=DEV,
                                                            dtype=torch.int8).t()),
                 torch._int_mm)
    yield simple("transposed_conv_bf16",
                 lambda: (torch.randn(64, 128, 56, 56, device=DEV, dtype=torch.bfloat16),
                          torch.randn(128, 64, 4, 4, device=DEV, dtype=torch.bfloat16)),
                 lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1))
    yield simple("upsample_bf16", lambda: (torch.randn(32, 64, 128, 128, device=DEV,
                                                       dtype=torch.bfloat16),),
                 lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"))
    yield simple("embedding_bag_fp32", lambda: (torch.randint(0, 4000000, (1 << 16, 20),
                                                              device=DEV),
                                                torch.randn(4000000, 64, device=DEV)),
                 lambda i, w: F.embedding_bag(i, w, mode="sum"))
    yield simple("log_softmax_fp32_small", lambda: (torch.randn(4096, 1024, device=DEV),),
                 lambda x: F.log_softmax(x, -1))
    yield simple("where_compare_fp32", lambda: tuple(torch.randn(1 << 26, device=DEV)
                                                     for _ in range(2)),
                 lambda a, b: torch.where(a > b, a, b))
    yield simple("integer_hash_int64", lambda: (torch.randint(0, 1 << 40, (1 << 25,), device=DEV),),
                 lambda x: ((x ^ (x >> 7)) * 1099511628211) & 0xFFFFFFFF)


def measure(path, seconds):
    import pynvml as nv
    nv.nvmlInit()
    h = batches.board(nv)
    energy = lambda: nv.nvmlDeviceGetTotalEnergyConsumption(h) / 1e3

    def edge():
        before = energy()
        while True:
            now = energy()
            if now != before:
                return time.perf_counter(), now

    out = open(path, "w")
    for name, build in items():
        f = batches.warmed_up(build)
        batch = batches.calls_in(f, 0.03)
        graph = None
        if batch > 20:  # short kernels: a graph keeps the host from limiting them
            try:
                graph = batches.graph_of(f, batch)
            except Exception as e:  # an item that cannot be captured runs as it is
                print(name, "not captured:", e, file=sys.stderr)
                graph = None
        stop, ends = threading.Event(), []

        def feed():
            queue = []
            while not stop.is_set():
                while len(queue) < 4:
                    if graph:
                        graph.replay()
                    else:
                        for _ in range(batch):
                            f()
                    e = torch.cuda.Event()
                    e.record()
                    queue.append(e)
                queue.pop(0).synchronize()
                ends.append(time.perf_counter())
            torch.cuda.synchronize()

        t = threading.Thread(target=feed)
        t.start()
        time.sleep(0.4)
        t0, e0 = edge()
        clock, temperature, n = 0, 0, 0
        while time.perf_counter() - t0 < seconds:
            clock += nv.nvmlDeviceGetClockInfo(h, 1)
            temperature += nv.nvmlDeviceGetTemperature(h, 0)
            n += 1
            time.sleep(0.02)
        t1, e1 = edge()
        stop.set()
        t.join()
        inside = [x for x in ends if t0 <= x <= t1]
        rate = (len(inside) - 1) * batch / (inside[-1] - inside[0])
        began = time.time() - (time.perf_counter() - t0)
        row = dict(name=name, unix_s=began, seconds=t1 - t0, energy_j=e1 - e0, calls_per_s=rate,
                   sm_mhz=clock / n, temperature_c=temperature / n, graph=graph is not None)
        out.write(json.dumps(row) + "\n")
        out.flush()
        del f, graph
        torch.cuda.empty_cache()


def count(path, seconds):
    lines, begin = [], time.monotonic()
    for name, build in items():
        if time.monotonic() - begin > seconds:  # a profiler that is killed leaves nothing
            break
        f = batches.warmed_up(build)
        n = 4 if batches.milliseconds(f, 1) < 0.2 else 1
        runs = []
        for calls in (n, 2 * n):
            try:
                runs.append(batches.graph_of(f, calls).replay)
            except Exception as e:  # an item that cannot be captured is counted kernel by kernel
                print(name, "not captured:", e, file=sys.stderr)
                torch.cuda.synchronize()
                runs.append(lambda calls=calls: [f() for _ in range(calls)])
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        for run in runs:
            torch.cuda._sleep(1000)
            run()
            torch.cuda.synchronize()
        torch.cuda.profiler.stop()
        lines.append(f"{name} {n}")
        open(path, "w").write("\n".join(lines) + "\n")
        print(lines[-1], file=sys.stderr, flush=True)
        del f, runs
        torch.cuda.empty_cache()


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("measure", "count"):
        sys.exit(__doc__)
    measure(sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3
            else 1.3) if sys.argv[1] == "measure" else count(sys.argv[2],
                                                             float(sys.argv[3]) if len(sys.argv) > 3
                                                             else 1e9)
