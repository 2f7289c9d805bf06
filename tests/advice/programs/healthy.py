"""Programs with nothing to mend: each keeps its GPU busy with kernels that suit it."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from models import ConvNet, ConvVae, Decoder, LanguageModel, Ranking, language_loss
from setting import Running, Setting, program


def fused_adamw(model, setting):
    return torch.optim.AdamW(model.parameters(), lr=1e-4, fused=setting.cuda)


def train_images(setting: Setting, model, images, loss_of):
    """Mixed precision with channels last, the way convolutions are fastest."""
    model = model.to(setting.device, memory_format=torch.channels_last)
    images = images.to(memory_format=torch.channels_last)
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        with setting.autocast():
            loss = loss_of(model, images)
        loss.backward()
        optimiser.step()

    return Running(step, images.shape[0])


def train_text(setting: Setting, model, batch, length, words, compiled=False):
    model = model.to(setting.device, torch.bfloat16)
    tokens = torch.randint(0, words, (batch, length), device=setting.device)
    optimiser = fused_adamw(model, setting)
    forward = torch.compile(language_loss) if compiled else language_loss

    def step():
        optimiser.zero_grad(set_to_none=True)
        forward(model, tokens).backward()
        optimiser.step()

    return Running(step, batch)


@program("convnet_amp")
def convnet_amp(setting):
    torch.backends.cudnn.benchmark = True
    batch, side = setting.pick(512, 2), setting.pick(224, 32)
    images = torch.randn(batch, 3, side, side, device=setting.device)
    labels = torch.randint(0, 1000, (batch,), device=setting.device)
    net = ConvNet(setting.pick((64, 128, 256, 512), (8, 8)))
    return train_images(
        setting, net, images, lambda model, inputs: F.cross_entropy(model(inputs), labels)
    )


@program("gpt_compiled")
def gpt_compiled(setting):
    words, length = setting.pick(32768, 64), setting.pick(1024, 16)
    width, layers = setting.pick(1024, 32), setting.pick(3, 1)
    net = LanguageModel(width, layers, setting.pick(16, 2), words, length)
    return train_text(setting, net, setting.pick(16, 2), length, words, compiled=True)


@program("bert_sdpa")
def bert_sdpa(setting):
    words, length = setting.pick(30720, 64), setting.pick(512, 16)
    width, layers = setting.pick(768, 32), setting.pick(3, 1)
    net = LanguageModel(width, layers, setting.pick(12, 2), words, length, causal=False)
    return train_text(setting, net, setting.pick(64, 2), length, words)


@program("mlp_large_batch")
def mlp_large_batch(setting):
    width, batch = setting.pick(4096, 32), setting.pick(32768, 8)
    layers = [layer for _ in range(4) for layer in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
    inputs = torch.randn(batch, width, device=setting.device, dtype=torch.bfloat16)
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        model(inputs).square().mean().backward()
        optimiser.step()

    return Running(step, batch)


def replayed(setting: Setting, work):
    """The work as one CUDA graph where there is a GPU."""
    if not setting.cuda:
        return work
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


@program("decode_graphs")
def decode_graphs(setting):
    batch, length = setting.pick(64, 2), setting.pick(2048, 32)
    width, layers = setting.pick(4096, 32), setting.pick(6, 1)
    net = Decoder(width, layers, setting.pick(32, 2), batch, length, setting.pick(32768, 64),
                  setting.device)
    tokens = torch.zeros(batch, dtype=torch.long, device=setting.device)

    @torch.no_grad()
    def work():
        tokens.copy_(net(tokens))

    return Running(replayed(setting, work), batch)


class VisionTransformer(nn.Module):
    def __init__(self, width, layers, heads, side, patch=16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        body = LanguageModel(width, layers, heads, 8, (side // patch) ** 2, causal=False)
        self.places, self.blocks, self.norm = body.places, body.blocks, body.norm
        self.classify = nn.Linear(width, 1000)

    def forward(self, images):
        hidden = self.patches(images).flatten(2).transpose(1, 2) + self.places
        for block in self.blocks:
            hidden = block(hidden)
        return self.classify(self.norm(hidden).mean(1))


@program("vit")
def vit(setting):
    batch, side = setting.pick(512, 2), setting.pick(256, 32)
    width, layers = setting.pick(768, 32), setting.pick(3, 1)
    model = VisionTransformer(width, layers, setting.pick(12, 2), side)
    model = model.to(setting.device, torch.bfloat16)
    images = torch.randn(batch, 3, side, side, device=setting.device, dtype=torch.bfloat16)
    labels = torch.randint(0, 1000, (batch,), device=setting.device)
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        F.cross_entropy(model(images), labels).backward()
        optimiser.step()

    return Running(step, batch)


@program("ranking_serving")
def ranking_serving(setting):
    rows, batch = setting.pick(200_000, 100), setting.pick(131072, 8)
    model = Ranking(rows=rows).to(setting.device, torch.bfloat16)
    dense = torch.randn(batch, 16, device=setting.device, dtype=torch.bfloat16)
    sparse = torch.randint(0, rows, (batch, model.features), device=setting.device)
    forward = torch.compile(model)

    @torch.no_grad()
    def step():
        forward(dense, sparse)

    return Running(step, batch)


@program("conv_vae")
def conv_vae(setting):
    torch.backends.cudnn.benchmark = True
    batch, side = setting.pick(512, 2), setting.pick(128, 16)
    images = torch.rand(batch, 3, side, side, device=setting.device)
    return train_images(
        setting, ConvVae(setting.pick(64, 8)), images, lambda model, inputs: model(inputs)
    )
