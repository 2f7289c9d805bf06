"""Programs whose planted fault keeps the GPU waiting for the host or for data, and those mended."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from healthy import fused_adamw
from models import ConvNet, LanguageModel, language_loss
from setting import Running, Setting, pair


def image_trainer(setting: Setting):
    """A small residual network in mixed precision, channels last: what a step does with a batch."""
    torch.backends.cudnn.benchmark = True
    net = ConvNet(setting.pick((64, 128, 256, 512), (8, 8)))
    net = net.to(setting.device, memory_format=torch.channels_last)
    optimiser = fused_adamw(net, setting)

    def train(images, labels):
        images = images.contiguous(memory_format=torch.channels_last)
        optimiser.zero_grad(set_to_none=True)
        with setting.autocast():
            loss = F.cross_entropy(net(images), labels)
        loss.backward()
        optimiser.step()

    return train


def text_trainer(setting: Setting, layers=3, batch=16):
    """A language model in bfloat16, its input and its optimiser."""
    words, length = setting.pick(32768, 64), setting.pick(1024, 16)
    width = setting.pick(1024, 32)
    model = LanguageModel(width, setting.pick(layers, 1), setting.pick(16, 2), words, length)
    model = model.to(setting.device, torch.bfloat16)
    tokens = torch.randint(0, words, (setting.pick(batch, 2), length), device=setting.device)
    return model, tokens, fused_adamw(model, setting)


class Photographs(torch.utils.data.IterableDataset):
    """Batches that the processor has to prepare: random pictures, mirrored and brightened."""

    def __init__(self, batch, side):
        self.batch, self.side = batch, side

    def __iter__(self):
        generator = np.random.default_rng(torch.initial_seed() % 2**32)
        brighten = np.clip(np.arange(256) * 1.2, 0, 255).astype(np.uint8)
        while True:
            shape = (self.batch, 3, self.side, self.side)
            pictures = generator.integers(0, 256, shape, dtype=np.uint8)
            pictures = brighten[pictures[..., ::-1]]
            yield torch.from_numpy(pictures), torch.from_numpy(generator.integers(0, 8, self.batch))


@pair("slow_input")
def slow_input(setting, mended):
    """Batches are prepared in the training process; mended, eight processes prepare ahead."""
    pictures = Photographs(setting.pick(256, 2), setting.pick(128, 16))
    ahead = {"num_workers": setting.pick(8, 1), "prefetch_factor": 4, "pin_memory": setting.cuda}
    loader = torch.utils.data.DataLoader(pictures, batch_size=None, **(ahead if mended else {}))
    batches = iter(loader)
    train = image_trainer(setting)

    def step():
        pixels, labels = next(batches)
        pixels = pixels.to(setting.device, non_blocking=mended)
        labels = labels.to(setting.device, non_blocking=mended)
        train(pixels.float() / 255, labels)

    def close():
        if mended:
            batches._shutdown_workers()

    return Running(step, pictures.batch, close)


@pair("sync_in_step")
def sync_in_step(setting, mended):
    """The norm of every gradient is fetched for a log with .item(); mended, it stays on the GPU."""
    model, tokens, optimiser = text_trainer(setting, layers=4, batch=8)
    log = []

    def step():
        optimiser.zero_grad(set_to_none=True)
        language_loss(model, tokens).backward()
        gradients = [parameter.grad for parameter in model.parameters()]
        if mended:
            log.append(torch.stack(torch._foreach_norm(gradients)))
        else:
            log.append([gradient.norm().item() for gradient in gradients])
        del log[:-1]
        optimiser.step()

    return Running(step, tokens.shape[0])


@pair("tiny_kernels", active=3)
def tiny_kernels(setting, mended):
    """A recurrent network stepped through time in Python; mended, cuDNN's LSTM does it whole."""
    width, batch, length = setting.pick(256, 8), setting.pick(64, 2), setting.pick(48, 4)
    cell = nn.LSTMCell(width, width).to(setting.device)
    whole = nn.LSTM(width, width, batch_first=True).to(setting.device)
    model = whole if mended else cell
    inputs = torch.randn(batch, length, width, device=setting.device)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-4, fused=setting.cuda)

    def stepped():
        state = None
        outputs = []
        for moment in range(length):
            state = cell(inputs[:, moment], state)
            outputs.append(state[0])
        return torch.stack(outputs, 1)

    def step():
        optimiser.zero_grad(set_to_none=True)
        outputs = whole(inputs)[0] if mended else stepped()
        outputs.square().mean().backward()
        optimiser.step()

    return Running(step, batch)


@pair("allocation_in_step")
def allocation_in_step(setting, mended):
    """Every step empties the allocator's cache, so the driver allocates anew; mended, none."""
    model, tokens, optimiser = text_trainer(setting, batch=8)

    def step():
        optimiser.zero_grad(set_to_none=True)
        language_loss(model, tokens).backward()
        optimiser.step()
        if setting.cuda and not mended:
            torch.cuda.empty_cache()

    return Running(step, tokens.shape[0])


@pair("recompilation", active=2, measured=4)
def recompilation(setting, mended):
    """A compiled function gets another length in every step; mended, all are padded to one."""
    torch._dynamo.reset()
    torch._dynamo.config.recompile_limit = 1000
    torch._dynamo.config.accumulated_recompile_limit = 1000
    width, batch = setting.pick(2048, 16), setting.pick(16, 2)
    model = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
    model = model.to(setting.device, torch.bfloat16)
    longest = setting.pick(1024, 64)
    everything = torch.randn(
        batch, longest, width, device=setting.device, dtype=torch.bfloat16
    )

    @torch.compile(dynamic=False)
    def forward(inputs):
        return model(inputs).float().square().mean()

    lengths = iter(range(longest - 1, 0, -1))

    @torch.no_grad()
    def step():
        length = longest if mended else next(lengths)
        forward(everything[:, :length])

    return Running(step, batch, torch._dynamo.reset)


class Prefetched:
    """Batches copied from page-locked memory on a stream of their own, one ahead."""

    def __init__(self, setting, batches):
        self.setting, self.stream = setting, setting.stream()
        self.batches, self.turn = batches, 0
        if setting.cuda:
            self.batches = [batch.pin_memory() for batch in batches]
        self.next = self._fetch()

    def _fetch(self):
        batch = self.batches[self.turn % len(self.batches)]
        self.turn += 1
        with self.setting.on(self.stream):
            return batch.to(self.setting.device, non_blocking=True)

    def take(self):
        if self.stream:
            torch.cuda.current_stream().wait_stream(self.stream)
            self.next.record_stream(torch.cuda.current_stream())
        taken = self.next
        self.next = self._fetch()
        return taken


@pair("pageable_copies")
def pageable_copies(setting, mended):
    """Batches are copied from ordinary memory; mended, from page-locked memory and one ahead."""
    side, batch = setting.pick(224, 16), setting.pick(192, 2)
    batches = [torch.rand(batch, 3, side, side) for _ in range(3)]
    labels = torch.randint(0, 8, (batch,), device=setting.device)
    train = image_trainer(setting)
    ahead = Prefetched(setting, batches) if mended else None
    turn = 0

    def step():
        nonlocal turn
        turn += 1
        images = ahead.take() if mended else batches[turn % 3].to(setting.device)
        train(images, labels)

    return Running(step, batch)


@pair("small_batch")
def small_batch(setting, mended):
    """Four pictures a step; mended, 256. The gain is one of time an item."""
    batch, side = setting.pick(256 if mended else 4, 2), setting.pick(224, 16)
    images = torch.rand(batch, 3, side, side, device=setting.device)
    labels = torch.randint(0, 8, (batch,), device=setting.device)
    train = image_trainer(setting)
    return Running(lambda: train(images, labels), batch)


def count_words(tokens):
    """A word count as one writes it without thinking of the GPU that waits."""
    counts = {}
    for _ in range(8):
        for token in tokens:
            counts[token] = counts.get(token, 0) + 1
    return counts


@pair("host_bound_python", stacks=True)
def host_bound_python(setting, mended):
    """Words are counted in Python between forward and backward; mended, on the GPU."""
    model, tokens, optimiser = text_trainer(setting, batch=8)
    listed = tokens.flatten().tolist()
    words = model.head.out_features

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss = language_loss(model, tokens)
        if mended:
            torch.zeros(words, device=tokens.device).index_add_(
                0, tokens.flatten(), torch.ones(tokens.numel(), device=tokens.device)
            )
        else:
            count_words(listed)
        loss.backward()
        optimiser.step()

    return Running(step, tokens.shape[0])
