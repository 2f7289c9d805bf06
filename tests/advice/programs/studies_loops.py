"""Loops around a network: compilers, loaders, gradients by sample, streams and a Triton kernel."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

from libraries_text import SERVED, bfloat
from services_serving import Mixer
from services_training import UNMARKED
from setting import Running, pair
from studies_science import fully


def compiled(setting, function, **how):
    torch._dynamo.reset()
    how = how if setting.cuda else {"backend": "eager", "dynamic": how.get("dynamic")}
    return torch.compile(function, **how)


@pair("compiled_without_graphs", **SERVED)
def compiled_without_graphs(setting, mended):
    """A small compiled network leaves its kernels to the host; mended, mode="reduce-overhead"."""
    width, heads = setting.pick(512, 32), setting.pick(8, 2)
    net = bfloat(setting, nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(12, 1)))))
    some = torch.randn(2, setting.pick(64, 8), width, device=setting.device, dtype=torch.bfloat16)
    run = compiled(setting, net, mode="reduce-overhead" if mended else None)

    @torch.no_grad()
    def step():
        for _ in range(4):
            found = run(some)
        return found

    return Running(step, 4 * len(some))


@pair("limit_of_recompiles_reached", **SERVED)
def limit_of_recompiles_reached(setting, mended):
    """Lengths that all differ, compiled with dynamic=False, reach the limit and run uncompiled.

    Mended, dynamic=True.
    """
    width = setting.pick(2048, 16)
    some = torch.randn(setting.pick(32768, 200), width, device=setting.device, dtype=torch.bfloat16)
    gain = torch.randn(width, device=setting.device, dtype=torch.bfloat16)
    turn = [0]

    def gated(states):
        left = states * torch.sigmoid(1.702 * states)
        size = left.square().mean(-1, keepdim=True)
        left = left * torch.rsqrt(size + 1e-6) * gain
        return torch.tanh(left) * 0.5 + states

    run = compiled(setting, gated, dynamic=mended)

    @torch.no_grad()
    def step():
        turn[0] += 1
        length = len(some) - turn[0] % 500 * setting.pick(16, 0) - turn[0] % 9
        return run(some[:length])

    return Running(step, len(some))


@pair("gradients_sample_by_sample", **UNMARKED | {"active": 3})
def gradients_sample_by_sample(setting, mended):
    """Private training clips each sample's gradients, sample by sample; mended, by vmap."""
    width, rows = setting.pick(512, 16), setting.pick(64, 4)
    net = fully(width, width, width, width, 10).to(setting.device)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-3, fused=setting.cuda)
    some = torch.randn(rows, width, device=setting.device)
    aims = torch.randint(0, 10, (rows,), device=setting.device)
    names = [name for name, _ in net.named_parameters()]

    def loss(weights, one, aim):
        found = torch.func.functional_call(net, weights, (one[None],))
        return F.cross_entropy(found, aim[None])

    by_sample = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))

    def one_by_one():
        sums = [torch.zeros_like(weight) for weight in net.parameters()]
        for one, aim in zip(some, aims):
            net.zero_grad()
            F.cross_entropy(net(one[None]), aim[None]).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            for total, weight in zip(sums, net.parameters()):
                total.add_(weight.grad)
        return sums

    def together():
        weights = {name: weight.detach() for name, weight in net.named_parameters()}
        found = by_sample(weights, some, aims)
        sizes = sum(found[name].flatten(1).square().sum(1) for name in names).sqrt()
        share = (1.0 / (sizes + 1e-6)).clamp(max=1)
        return [torch.tensordot(share, found[name], 1) for name in names]

    def step():
        for weight, total in zip(net.parameters(), together() if mended else one_by_one()):
            weight.grad = total + torch.randn_like(total) * 0.1
        optimiser.step()

    return Running(step, rows)


class Texts(Dataset):
    """Texts as lists of numbers, as a tokenizer leaves them, or as tensors."""

    def __init__(self, length, whole):
        made = torch.randint(0, 30000, (512, length))
        self.texts = made if whole else made.tolist()

    def __len__(self):
        return 1 << 20

    def __getitem__(self, at):
        return self.texts[at % 512]


@pair("lists_made_tensors", **UNMARKED)
def lists_made_tensors(setting, mended):
    """A collate function makes a tensor of lists of numbers; mended, texts are kept as tensors."""
    width, length, rows = setting.pick(512, 16), setting.pick(512, 8), setting.pick(256, 4)
    table = nn.EmbeddingBag(30000, width).to(setting.device)
    net = fully(width, width, width, 20).to(setting.device)
    optimiser = torch.optim.SGD([*table.parameters(), *net.parameters()], lr=1e-3)
    aims = torch.randint(0, 20, (rows,), device=setting.device)

    def collated(texts):
        return torch.stack(texts) if mended else torch.tensor(texts)

    batches = iter(DataLoader(Texts(length, mended), rows, collate_fn=collated))

    def step():
        tokens = next(batches).to(setting.device)
        optimiser.zero_grad()
        F.cross_entropy(net(table(tokens)), aims).backward()
        optimiser.step()

    return Running(step, rows)


class Photos(Dataset):
    """Photographs that are cropped, turned and coloured by NumPy."""

    def __init__(self, side):
        self.photos = np.random.randint(0, 255, (64, side + 32, side + 32, 3), dtype=np.uint8)
        self.side = side

    def __len__(self):
        return 1 << 20

    def __getitem__(self, at):
        down, right = np.random.randint(0, 32, 2)
        photo = self.photos[at % 64, down : down + self.side, right : right + self.side]
        photo = photo.astype(np.float32) / 255
        photo = (photo - photo.mean((0, 1))) * np.random.uniform(0.8, 1.2) + 0.5
        photo = photo @ (np.eye(3, dtype=np.float32) + np.random.rand(3, 3).astype(np.float32) / 9)
        return torch.from_numpy(np.ascontiguousarray(photo.transpose(2, 0, 1)))


def photographs(setting, net, rows, workers):
    """A network of torchvision is trained on photographs that worker processes prepare."""
    side = setting.pick(224, 64)
    loader = DataLoader(Photos(side), rows, num_workers=workers, pin_memory=setting.cuda,
                        persistent_workers=True, prefetch_factor=4)
    batches = [iter(loader)]
    net = net(weights=None).to(setting.device, memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, fused=setting.cuda)
    aims = torch.randint(0, 1000, (rows,), device=setting.device)

    def step():
        photos = next(batches[0]).to(setting.device, non_blocking=True)
        photos = photos.contiguous(memory_format=torch.channels_last)
        optimiser.zero_grad()
        with setting.autocast():
            loss = F.cross_entropy(net(photos), aims)
        loss.backward()
        optimiser.step()

    return Running(step, rows, batches.clear)


@pair("one_worker", **UNMARKED)
def one_worker(setting, mended):
    """A DataLoader has one worker process for work of 50 ms a batch; mended, ten workers."""
    from torchvision.models import resnet18

    return photographs(setting, resnet18, setting.pick(48, 2), setting.pick(10, 2) if mended else 1)


@pair("copy_stream_waited_for", **SERVED)
def copy_stream_waited_for(setting, mended):
    """The host waits for the copying stream before it starts the network; mended, it copies ahead.

    The answers of each batch are fetched, as a service does.
    """
    width, rows = setting.pick(4096, 16), setting.pick(16384, 4)
    net = bfloat(setting, nn.Sequential(*(nn.Linear(width, width) for _ in range(6))))
    waiting = torch.randn(rows, width).to(torch.bfloat16)
    waiting = waiting.pin_memory() if setting.cuda else waiting
    places = [torch.zeros_like(waiting, device=setting.device) for _ in "ab"]
    beside, turn = setting.stream(), [0]

    @torch.no_grad()
    def step():
        turn[0] += 1
        here = places[turn[0] % 2 if mended else 0]
        if beside:
            torch.cuda.current_stream().wait_stream(beside)  # mended: this batch has come
        with setting.on(beside):
            places[(turn[0] + 1) % 2 if mended else 0].copy_(waiting, non_blocking=True)
        if beside and not mended:
            beside.synchronize()
        return net(here).amax(1).cpu()

    return Running(step, rows)


@pair("triton_row_by_row", **SERVED)
def triton_row_by_row(setting, mended):
    """A Triton kernel is launched for each of 256 rows; mended, once for all rows."""
    if not setting.cuda:
        raise RuntimeError("a kernel of one's own needs a GPU")
    import studies_triton

    rows, wide = 256, 8192
    values, out = (torch.randn(rows, wide, device=setting.device) for _ in "ab")

    def step():
        if mended:
            studies_triton.softmax[(rows,)](values, out, WIDE=wide)
            return out
        for one, answer in zip(values, out):
            studies_triton.softmax[(1,)](one, answer, WIDE=wide)
        return out

    return Running(step, rows)
