"""Faults around pictures and sound, with the libraries made for them."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

from setting import Running, pair
from libraries_text import SERVED, SHAPES, TRAINED, bfloat


@pair("vocoder_with_norms", **SERVED)
def vocoder_with_norms(setting, mended):
    """A vocoder's weight norms are worked out in every call; mended, they are removed."""
    from torch.nn.utils import parametrizations, parametrize

    width, norm = setting.pick(256, 16), parametrizations.weight_norm

    class Branch(nn.Module):
        def __init__(self, channels, size):
            super().__init__()
            self.layers = nn.ModuleList(
                norm(nn.Conv1d(channels, channels, size, padding=size // 2 * apart, dilation=apart))
                for apart in (1, 3, 5)
            )

        def forward(self, sound):
            for layer in self.layers:
                sound = sound + layer(F.leaky_relu(sound, 0.1))
            return sound

    class Vocoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = norm(nn.Conv1d(80, width, 7, padding=3))
            sizes = [width // 2**k for k in range(4)]
            self.ups = nn.ModuleList(
                norm(nn.ConvTranspose1d(size, size // 2, 8, 4, 2)) for size in sizes[:3]
            )
            self.branches = nn.ModuleList(
                nn.ModuleList(Branch(size, kernel) for kernel in (3, 7, 11)) for size in sizes[1:]
            )
            self.last = norm(nn.Conv1d(sizes[3], 1, 7, padding=3))

        def forward(self, mel):
            sound = self.first(mel)
            for up, some in zip(self.ups, self.branches):
                sound = up(F.leaky_relu(sound, 0.1))
                sound = sum(branch(sound) for branch in some) / len(some)
            return self.last(F.leaky_relu(sound)).tanh()

    model = Vocoder()
    if mended:
        for module in list(model.modules()):
            if parametrize.is_parametrized(module, "weight"):
                parametrize.remove_parametrizations(module, "weight")
    model = bfloat(setting, model)
    mel = torch.randn(1, 80, setting.pick(64, 8), device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return model(mel)

    return Running(step, 1)


@pair("lstm_in_pieces", **SERVED | SHAPES)
def lstm_in_pieces(setting, mended):
    """A copied LSTM's weights are not one block, so cuDNN packs them each time; mended, flat."""
    width, layers = setting.pick(2048, 16), setting.pick(4, 2)
    model = bfloat(setting, nn.LSTM(width, width, layers, batch_first=True))
    # As averaged weights and checkpoints by assign=True leave it.
    with torch.no_grad():
        for name, value in list(model.named_parameters()):
            setattr(model, name, nn.Parameter(value.clone(), requires_grad=False))
    if mended:
        model.flatten_parameters()
    frames = torch.randn(16, setting.pick(8, 3), width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return model(frames)[0]

    return Running(step, 16)


@pair("metrics_on_processor", **TRAINED)
def metrics_on_processor(setting, mended):
    """Segmentation whose torchmetrics are on the processor; mended, they are on the GPU."""
    from torchmetrics import MetricCollection
    from torchmetrics.classification import MulticlassConfusionMatrix, MulticlassJaccardIndex
    from torchvision.models.segmentation import lraspp_mobilenet_v3_large

    model = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=21)
    model = model.to(setting.device, memory_format=torch.channels_last).train()
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, fused=setting.cuda)
    metrics = MetricCollection([
        MulticlassJaccardIndex(21, validate_args=False),
        MulticlassConfusionMatrix(21, validate_args=False),
    ], compute_groups=False).to(setting.device if mended else "cpu")
    rows, side = setting.pick(16, 2), setting.pick(384, 64)
    pictures = torch.randn(rows, 3, side, side, device=setting.device)
    pictures = pictures.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 21, (rows, side, side), device=setting.device)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            scores = model(pictures)["out"]
        F.cross_entropy(scores.float(), labels).backward()
        optimiser.step()
        found = scores.detach().argmax(1)
        metrics.update(found, labels) if mended else metrics.update(found.cpu(), labels.cpu())

    return Running(step, rows)


@pair("prompts_encoded_again", **SERVED)
def prompts_encoded_again(setting, mended):
    """CLIP encodes the names of all classes for each batch of pictures; mended, once."""
    from transformers import CLIPConfig, CLIPModel

    width = setting.pick(768, 32)
    part = {"hidden_size": width, "intermediate_size": 4 * width, "projection_dim": width,
            "num_hidden_layers": setting.pick(8, 1), "num_attention_heads": setting.pick(12, 2)}
    text = part | {"vocab_size": 1000, "max_position_embeddings": 77, "eos_token_id": 999}
    vision = part | {"image_size": 224, "patch_size": 32}
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=width)
    model = bfloat(setting, CLIPModel(config))
    names = torch.randint(1, 999, (setting.pick(400, 4), 24), device=setting.device)
    names[:, -1] = 999
    rows = setting.pick(128, 2)
    pictures = torch.randn(rows, 3, 224, 224, device=setting.device, dtype=torch.bfloat16)
    kept = []

    @torch.no_grad()
    def encoded():
        found = model.text_projection(model.text_model(input_ids=names).pooler_output)
        return F.normalize(found, dim=-1)

    if mended:
        kept.append(encoded())

    @torch.no_grad()
    def step():
        some = model.visual_projection(model.vision_model(pixel_values=pictures).pooler_output)
        classes = kept[0] if mended else encoded()
        return (F.normalize(some, dim=-1) @ classes.T).argmax(-1)

    return Running(step, rows)


@pair("weights_offloaded", **SERVED)
def weights_offloaded(setting, mended):
    """accelerate keeps a model that would fit in host memory; mended, it is on the GPU."""
    from accelerate import cpu_offload
    from transformers import ViTConfig, ViTModel

    width = setting.pick(1024, 32)
    config = ViTConfig(
        hidden_size=width, intermediate_size=4 * width, num_hidden_layers=setting.pick(12, 1),
        num_attention_heads=setting.pick(16, 2), image_size=224, patch_size=16,
    )
    model = ViTModel(config).to(torch.bfloat16).eval()
    if mended or not setting.cuda:
        model = model.to(setting.device)
    else:
        model = cpu_offload(model, torch.device("cuda", 0))
    rows = setting.pick(32, 2)
    pictures = torch.randn(rows, 3, 224, 224, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return model(pixel_values=pictures).pooler_output

    return Running(step, rows)


@pair("filter_made_again", **SERVED)
def filter_made_again(setting, mended):
    """functional.resample makes its filter in every call; mended, the transform keeps it."""
    import torchaudio

    sound = torch.randn(16, setting.pick(44100, 4410), device=setting.device)
    net = bfloat(setting, nn.Sequential(
        nn.Conv1d(80, 256, 5, padding=2), nn.GELU(), nn.Conv1d(256, 256, 5, padding=2)
    ))
    resample = torchaudio.transforms.Resample(44100, 16000).to(setting.device)
    mel = torchaudio.transforms.MelSpectrogram(16000, 400, hop_length=160, n_mels=80)
    mel = mel.to(setting.device)

    @torch.no_grad()
    def step():
        if mended:
            low = resample(sound)
        else:
            low = torchaudio.functional.resample(sound, 44100, 16000)
        return net(mel(low).add(1e-6).log().to(torch.bfloat16)).mean(-1)

    return Running(step, 16)


@pair("backbone_not_frozen", **TRAINED)
def backbone_not_frozen(setting, mended):
    """Only the head is trained, but the backbone's gradients are made too; mended, frozen."""
    from torchvision.models import wide_resnet50_2

    model = wide_resnet50_2(weights=None, num_classes=10)
    model = model.to(setting.device, memory_format=torch.channels_last)
    if mended:
        for name, value in model.named_parameters():
            value.requires_grad_(name.startswith("fc."))
    optimiser = torch.optim.AdamW(model.fc.parameters(), lr=1e-3, fused=setting.cuda)
    rows = setting.pick(64, 2)
    side = setting.pick(224, 32)
    pictures = torch.randn(rows, 3, side, side, device=setting.device)
    pictures = pictures.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (rows,), device=setting.device)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            loss = F.cross_entropy(model(pictures), labels)
        loss.backward()
        optimiser.step()

    return Running(step, rows)


@pair("teacher_copied_each_step", **TRAINED)
def teacher_copied_each_step(setting, mended):
    """The averaged teacher is a deep copy made in every step; mended, averaged in place."""
    from torchvision.models import resnet34

    model = resnet34(weights=None).to(setting.device, memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3, fused=setting.cuda)
    teachers = [copy.deepcopy(model).eval()]
    rows, side = setting.pick(64, 2), setting.pick(176, 32)
    pictures = torch.randn(rows, 3, side, side, device=setting.device)
    pictures = pictures.contiguous(memory_format=torch.channels_last)

    def averaged():
        if not mended:
            teachers[0] = copy.deepcopy(teachers[0])
        with torch.no_grad():
            mean, now = list(teachers[0].parameters()), list(model.parameters())
            torch._foreach_lerp_(mean, now, 0.01)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            with torch.no_grad():
                aim = teachers[0](pictures)
            F.mse_loss(model(pictures), aim).backward()
        optimiser.step()
        averaged()

    return Running(step, rows)
