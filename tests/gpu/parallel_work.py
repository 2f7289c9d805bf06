"""Work of a rank under parallelism, on two GPUs: tests/gpu/parallel_work.py GPUFATHOM OUT

Small models with tensor parallelism, sequence parallelism, FSDP2, HSDP, FSDP with tensor
parallelism and (as control) DDP, in bf16 and FP32, one process a GPU, each rank under
torch.profiler with shapes. The operations that `gpufathom work` counts of each rank are held
against those of its shards by hand, against a second reading of the raw events (the innermost
product around each launch), and the products of a rank, run by themselves in one process, against
the operation counters of Nsight Compute. No part takes longer than a minute. OUT gets
parallel_work.json and the traces; ends with 1 when a comparison fails or nothing could be compared.

    parallel_work.py GPUFATHOM --judge TRACE...    only the second reading of traces that exist, without a GPU
"""
import argparse
import csv
import datetime
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
import traceback

RANKS, STEPS, LIMIT_S = 2, 2, 60
BATCH, SEQUENCE, WIDTH, HIDDEN, HEADS = 2, 1024, 1024, 4096, 8
TOKENS = BATCH * SEQUENCE
TYPES = ("bfloat16", "float32")
PRODUCTS = {"mm": 0, "addmm": 1, "bmm": 0, "baddbmm": 1}
COUNTERS = {"sm__ops_path_tensor_src_bf16_dst_fp32.sum": 1, "sm__ops_path_tensor_src_tf32_dst_fp32.sum": 1, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 2}
GEMMS = "regex:gemm|nvjet|cutlass|xmma|s1688|Kernel2"


# What a rank runs: each program returns a step and the product operations of the step by hand.
# Every product of a forward pass has two of the same size in the backward pass.


def mlp(torch, dtype):
    class Mlp(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Linear(WIDTH, HIDDEN, bias=False)
            self.down = torch.nn.Linear(HIDDEN, WIDTH, bias=False)

        def forward(self, x):
            return self.down(torch.relu(self.up(x)))

    return Mlp().to("cuda", dtype)


def stepper(torch, model, dtype, *shape):
    x = torch.randn(*shape, WIDTH, device="cuda", dtype=dtype, requires_grad=True)

    def step():
        for parameter in model.parameters():
            parameter.grad = None
        x.grad = None
        y = model(x)
        y.backward(torch.ones_like(y))

    return step


def pairs(shards=1, tokens=TOKENS):
    """Both products of the MLP, forward and backward."""
    return 3 * 2 * (2 * tokens * WIDTH * HIDDEN // shards)


def mesh_of(torch, shape, names):
    from torch.distributed.device_mesh import init_device_mesh

    return init_device_mesh("cuda", shape, mesh_dim_names=names)


def tensor_parallel_plan():
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

    return {"up": ColwiseParallel(), "down": RowwiseParallel()}


def shard_fully(model, mesh):
    from torch.distributed.fsdp import fully_shard

    fully_shard(model.up, mesh=mesh)
    fully_shard(model.down, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def plain_ddp(torch, dtype):
    model = torch.nn.parallel.DistributedDataParallel(mlp(torch, dtype))
    return stepper(torch, model, dtype, TOKENS), pairs()


def tensor_parallel(torch, dtype):
    from torch.distributed.tensor.parallel import parallelize_module

    model = parallelize_module(mlp(torch, dtype), mesh_of(torch, (RANKS,), ("tp",)), tensor_parallel_plan())
    return stepper(torch, model, dtype, TOKENS), pairs(RANKS)


def sequence_parallel(torch, dtype):
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.LayerNorm(WIDTH).to("cuda", dtype)
            self.mlp = mlp(torch, dtype)

        def forward(self, x):
            return self.mlp(self.norm(x))

    plan = {
        "norm": SequenceParallel(),
        "mlp": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
        "mlp.up": ColwiseParallel(),
        "mlp.down": RowwiseParallel(output_layouts=Shard(1)),
    }
    model = parallelize_module(Block(), mesh_of(torch, (RANKS,), ("tp",)), plan)
    return stepper(torch, model, dtype, BATCH, SEQUENCE // RANKS), pairs(RANKS)


def attention_parallel(torch, dtype):
    """Heads divided over the ranks."""
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backend = SDPBackend.FLASH_ATTENTION if dtype == torch.bfloat16 else SDPBackend.EFFICIENT_ATTENTION

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name in ("q", "k", "v", "o"):
                setattr(self, name, torch.nn.Linear(WIDTH, WIDTH, bias=False, device="cuda", dtype=dtype))

        def forward(self, x):
            heads = [getattr(self, name)(x).view(BATCH, SEQUENCE, -1, WIDTH // HEADS).transpose(1, 2) for name in ("q", "k", "v")]
            with sdpa_kernel(backend):
                mixed = torch.nn.functional.scaled_dot_product_attention(*heads)
            return self.o(mixed.transpose(1, 2).reshape(BATCH, SEQUENCE, -1))

    plan = {"q": ColwiseParallel(), "k": ColwiseParallel(), "v": ColwiseParallel(), "o": RowwiseParallel()}
    model = parallelize_module(Attention(), mesh_of(torch, (RANKS,), ("tp",)), plan)
    projections = 3 * 4 * 2 * TOKENS * WIDTH * WIDTH // RANKS
    scores = 2 * BATCH * (HEADS // RANKS) * SEQUENCE * SEQUENCE * (WIDTH // HEADS)
    return stepper(torch, model, dtype, BATCH, SEQUENCE), projections + (2 + 5) * scores


def fsdp(torch, dtype):
    return stepper(torch, shard_fully(mlp(torch, dtype), mesh_of(torch, (RANKS,), ("dp",))), dtype, TOKENS), pairs()


def hsdp(torch, dtype):
    return stepper(torch, shard_fully(mlp(torch, dtype), mesh_of(torch, (RANKS, 1), ("replicate", "shard"))), dtype, TOKENS), pairs()


def fsdp_and_tensor_parallel(torch, dtype):
    from torch.distributed.tensor.parallel import parallelize_module

    mesh = mesh_of(torch, (1, RANKS), ("dp", "tp"))
    model = parallelize_module(mlp(torch, dtype), mesh["tp"], tensor_parallel_plan())
    return stepper(torch, shard_fully(model, mesh["dp"]), dtype, TOKENS), pairs(RANKS)


def products_of_dtensors(torch, dtype):
    """Operands that must be redistributed inside the product; what the ranks then multiply is
    PyTorch's choice."""
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = mesh_of(torch, (RANKS,), ("tp",))
    with torch.no_grad():
        left = distribute_tensor(torch.randn(TOKENS, WIDTH, device="cuda", dtype=dtype), mesh, [Shard(0)])
        right = distribute_tensor(torch.randn(WIDTH, HIDDEN, device="cuda", dtype=dtype), mesh, [Shard(1)])

    def step():
        with torch.no_grad():
            torch.mm(left, right)

    return step, None


PROGRAMS = {f.__name__: f for f in (plain_ddp, tensor_parallel, sequence_parallel, attention_parallel, fsdp, hsdp, fsdp_and_tensor_parallel, products_of_dtensors)}


def rank(folder, type_name):
    import torch
    import torch.distributed as dist
    from torch.profiler import ProfilerActivity, profile, record_function

    torch.backends.cuda.matmul.allow_tf32 = False
    number = int(os.environ["RANK"])
    torch.cuda.set_device(number)
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=30), device_id=torch.device("cuda", number))
    torch.manual_seed(0)
    for name, program in PROGRAMS.items():
        facts = {"program": name, "type": type_name, "rank": number, "torch": torch.__version__, "gpu": torch.cuda.get_device_name()}
        base = folder / f"{name}.{type_name}.rank{number}"
        try:
            step, flops = program(torch, getattr(torch, type_name))
            for _ in range(3):
                step()
            torch.cuda.synchronize()
            dist.barrier()
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as recorded:
                for number_of_step in range(STEPS):
                    with record_function(f"ProfilerStep#{number_of_step}"):
                        step()
                torch.cuda.synchronize()
            recorded.export_chrome_trace(f"{base}.json")
            facts["by_hand"] = flops and flops * STEPS
        except Exception:  # every rank meets the same error, or the limit of time ends all
            facts["error"] = traceback.format_exc()[-1500:]
        pathlib.Path(f"{base}.facts.json").write_text(json.dumps(facts))
    dist.destroy_process_group()


def shapes_alone(path):
    """The products of a rank one after the other, for Nsight Compute."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    wanted = json.loads(pathlib.Path(path).read_text())
    for sizes in wanted["products"]:
        b, m, n, k = sizes
        left, right = (torch.randn(b, *shape, device="cuda", dtype=getattr(torch, wanted["type"])) for shape in ((m, k), (k, n)))
        torch.bmm(left, right) if b > 1 else torch.mm(left[0], right[0])
        torch.cuda.synchronize()


# The judge's side, without a GPU.


def product_of(event):
    """Sizes b, m, n, k of an operator that multiplies."""
    name = event["name"].removeprefix("aten::").rstrip("_")
    dims = event.get("args", {}).get("Input Dims")
    if name not in PRODUCTS or not dims:
        return None
    left, right = dims[PRODUCTS[name] : PRODUCTS[name] + 2]
    return (1, left[0], right[1], left[1]) if len(left) == 2 else (left[0], left[1], right[2], left[2])


def read_again(path):
    """{(b, m, n, k): calls}: the innermost product around the launch of each kernel that is no
    collective, each call once."""
    events = [e for e in json.loads(pathlib.Path(path).read_text())["traceEvents"] if e.get("ph") == "X"]
    kernels = {e["args"].get("correlation") for e in events if e.get("cat") == "kernel" and not e["name"].startswith("nccl")}
    threads = {}
    for event in events:
        if event.get("cat") == "cpu_op" and product_of(event) or event.get("cat") in ("cuda_runtime", "cuda_driver"):
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    calls = {}
    for on_thread in threads.values():
        around = []
        for event in sorted(on_thread, key=lambda e: (e["ts"], -e["dur"])):
            while around and around[-1]["ts"] + around[-1]["dur"] <= event["ts"]:
                around.pop()
            if event["cat"] == "cpu_op":
                around.append(event)
            elif around and event["args"].get("correlation") in kernels:
                calls[id(around[-1])] = product_of(around[-1])
    counts = {}
    for sizes in calls.values():
        counts[sizes] = counts.get(sizes, 0) + 1
    return counts


def operations(counts):
    return sum(2 * b * m * n * k * calls for (b, m, n, k), calls in counts.items())


def answered(gpufathom, trace):
    run = subprocess.run([gpufathom, "work", str(trace), "--window", "all", "--format", "json"], capture_output=True, timeout=LIMIT_S)
    if run.returncode:
        raise RuntimeError(run.stderr.decode()[-500:])
    answer = json.loads(run.stdout)
    rows = [row for row in answer["operators"] if row["product_flops"] > 0]
    plain = [row for row in rows if row["name"].removeprefix("aten::").rstrip("_") in PRODUCTS]
    by_call = {}
    for row in plain:
        each = round(row["product_flops"] / row["calls"])
        by_call[each] = by_call.get(each, 0) + row["calls"]
    return {"all": sum(row["product_flops"] for row in rows), "by_call": by_call, "mfu": [account["mfu"] for account in answer.get("accounts", [])]}


def judge(gpufathom, trace):
    answer, counts = answered(gpufathom, trace), read_again(trace)
    by_call = {}
    for (b, m, n, k), calls in counts.items():
        by_call[2 * b * m * n * k] = by_call.get(2 * b * m * n * k, 0) + calls
    return {"answer": answer["all"], "mfu": answer["mfu"], "by_call": answer["by_call"], "read_again": by_call,
            "products": [list(sizes) for sizes in counts], "each_product_holds": by_call == answer["by_call"] and bool(by_call)}


def run_limited(commands, limit):
    """Starts all, ends all after the limit; [exit status], None for one that did not end."""
    running = [subprocess.Popen(command, env={**os.environ, **env}, stdout=log, stderr=subprocess.STDOUT, start_new_session=True) for command, env, log in commands]
    until = time.monotonic() + limit
    statuses = []
    for process in running:
        try:
            statuses.append(process.wait(max(0.1, until - time.monotonic())))
        except subprocess.TimeoutExpired:
            statuses.append(None)
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return statuses


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return str(listening.getsockname()[1])


def run_ranks(folder, type_name):
    env = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": str(RANKS)}
    logs = [open(folder / f"{type_name}.rank{number}.log", "w") for number in range(RANKS)]
    command = [sys.executable, __file__, "--rank", str(folder), "--type", type_name]
    return run_limited([(command, {**env, "RANK": str(n), "LOCAL_RANK": str(n)}, logs[n]) for n in range(RANKS)], LIMIT_S)


def counted_by_ncu(folder, type_name, products):
    """[operations of each kernel] of the products alone, by Nsight Compute's counters."""
    ncu = shutil.which("ncu") or next(iter(sorted(map(str, pathlib.Path("/opt/nvidia").glob("nsight-compute/*/ncu")))), None)
    if not ncu or not products:
        return {"error": "no ncu" if not ncu else "no products"}
    wanted, out = folder / f"{type_name}.products.json", folder / f"{type_name}.ncu.csv"
    wanted.write_text(json.dumps({"type": type_name, "products": products}))
    command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--target-processes", "application-only", "--clock-control", "none", "-k", GEMMS,
               "--metrics", ",".join(COUNTERS), sys.executable, __file__, "--shapes", str(wanted)]
    with open(out, "w") as log:
        status = run_limited([(command, {"CUDA_VISIBLE_DEVICES": "0"}, log)], LIMIT_S)[0]
    text = out.read_text()
    at = text.find('"ID"')
    if status != 0 or at < 0:
        return {"error": f"ncu ended with {status}: {text[-500:]}"}
    rows = [row for row in csv.DictReader(io.StringIO(text[at:])) if (row.get("ID") or "").isdigit()]
    number = lambda cell: float(re.sub(r"[^0-9.eE+-]", "", cell or "") or 0)
    kernels = [{"kernel": row["Kernel Name"][:80], "operations": sum(number(row.get(name)) * times for name, times in COUNTERS.items())} for row in rows]
    return {"kernels": [kernel for kernel in kernels if kernel["operations"] > 0]}


def with_ncu(folder, type_name, products):
    counted = counted_by_ncu(folder, type_name, products)
    if "error" in counted:
        return counted
    model, measured = [2 * b * m * n * k for b, m, n, k in products], [kernel["operations"] for kernel in counted["kernels"]]
    same = len(model) == len(measured)  # split products run in several kernels: then the sums alone
    ratios = [counter / flops for counter, flops in zip(measured, model)] if same else []
    ratios.append(sum(measured) / sum(model))
    return {**counted, "products": products, "model": model, "counted_over_model": ratios, "holds": all(0.99 <= ratio <= 1.05 for ratio in ratios)}


def main(gpufathom, out):
    out.mkdir(parents=True, exist_ok=True)
    folder = out / "traces"
    folder.mkdir(exist_ok=True)
    hardware = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], capture_output=True, text=True).stdout
    result = {"command": " ".join(sys.argv), "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "hardware": hardware.strip().splitlines(),
              "gpufathom": subprocess.run([gpufathom, "--version"], capture_output=True, text=True).stdout.strip(), "ranks": [], "ncu": {}}
    failed = compared = 0
    for type_name in TYPES:
        result.setdefault("ended", {})[type_name] = run_ranks(folder, type_name)
        products = []
        for path in sorted(folder.glob(f"*.{type_name}.rank*.facts.json")):
            facts = json.loads(path.read_text())
            trace = pathlib.Path(str(path).removesuffix(".facts.json") + ".json")
            if trace.exists() and "error" not in facts:
                try:
                    facts.update(judge(gpufathom, trace))
                    by_hand = facts.get("by_hand")
                    facts["by_hand_holds"] = by_hand is None or abs(facts["answer"] - by_hand) <= 1e-6 * by_hand
                    facts["holds"] = facts["by_hand_holds"] and facts["each_product_holds"] and all(mfu is None or mfu <= 1 for mfu in facts["mfu"])
                    compared += 1
                    failed += not facts["holds"]
                    products += [sizes for sizes in facts["products"] if sizes not in products]
                except Exception:
                    facts["error"] = traceback.format_exc()[-1500:]
            failed += "error" in facts
            result["ranks"].append(facts)
            print(facts["program"], type_name, facts["rank"], {key: facts.get(key) for key in ("answer", "by_hand", "holds", "error")}, flush=True)
        result["ncu"][type_name] = with_ncu(folder, type_name, products)
        failed += not result["ncu"][type_name].get("holds", False)
        print("ncu", type_name, {key: result["ncu"][type_name].get(key) for key in ("counted_over_model", "holds", "error")}, flush=True)
    expected = len(PROGRAMS) * len(TYPES) * RANKS
    result.update(compared=compared, expected=expected, failed=failed)
    (out / "parallel_work.json").write_text(json.dumps(result, indent=1))
    with tarfile.open(out / "traces.tar.gz", "w:gz") as packed:
        packed.add(folder, "traces")
    shutil.rmtree(folder)
    print(f"{compared} of {expected} ranks compared, {failed} failed")
    return 1 if failed or compared < expected else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("gpufathom", nargs="?")
    parser.add_argument("out", nargs="?", type=pathlib.Path)
    parser.add_argument("--judge", nargs="+")
    parser.add_argument("--rank", type=pathlib.Path)
    parser.add_argument("--type")
    parser.add_argument("--shapes")
    given = parser.parse_args()
    if given.rank:
        rank(given.rank, given.type)
    elif given.shapes:
        shapes_alone(given.shapes)
    elif given.judge:
        answers = [judge(given.gpufathom, trace) for trace in given.judge]
        print(json.dumps(answers, indent=1))
        sys.exit(0 if all(answer["each_product_holds"] for answer in answers) else 1)
    else:
        sys.exit(main(given.gpufathom, given.out))
