"""Two ranks under torchrun: ranks.py --what ddp|fsdp. Rank 0 prints what each rank knows."""
import os
import time

import clock
import torch
import torch.distributed as dist
import torch.nn as nn
from models import Block, LanguageModel, language_loss
from torch.nn.parallel import DistributedDataParallel


def main():
    options = clock.arguments(["ddp", "fsdp"])
    tiny, rank = options.tiny, int(os.environ["RANK"])
    device = "cpu" if tiny else f"cuda:{rank}"
    os.environ["ZOO_GPU"] = str(rank)
    if not tiny:
        torch.cuda.set_device(rank)
    dist.init_process_group("gloo" if tiny else "nccl")
    torch.manual_seed(0)
    width, length, words = (32, 16, 64) if tiny else (1024, 1024, 32768)
    tokens = torch.randint(0, words, (2 if tiny else 8, length), device=device)
    net = LanguageModel(width, 1 if tiny else 4, 2 if tiny else 16, words, length)
    net = net.to(device, torch.bfloat16)
    if options.what == "ddp":
        net = DistributedDataParallel(net, device_ids=None if tiny else [rank])
    else:
        from torch.distributed.fsdp import fully_shard

        for module in net.modules():
            if isinstance(module, (Block, nn.Embedding)):
                fully_shard(module)
        fully_shard(net)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4)

    def step():
        optimiser.zero_grad(set_to_none=True)
        language_loss(net, tokens).backward()
        optimiser.step()

    def wait():
        if not tiny:
            torch.cuda.synchronize()

    for _ in range(5):
        step()
    wait()
    groups = agreed_groups(options.seconds, step, wait, device)
    known = clock.loop(options.what, step, wait, 0, steps_per_wait=10, groups=groups)
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, known)
    if rank == 0:
        clock.say({**gathered[0], "ranks": gathered[1:], "torch": torch.__version__})
    dist.destroy_process_group()


def agreed_groups(seconds, step, wait, device):
    """As many groups of ten steps as fit into the seconds: the ranks must all make as many."""
    begin = time.perf_counter()
    for _ in range(10):
        step()
    wait()
    groups = torch.tensor([seconds / max(time.perf_counter() - begin, 1e-3)], device=device)
    dist.all_reduce(groups, dist.ReduceOp.MIN)
    return max(1, int(groups.item()))


if __name__ == "__main__":
    main()
