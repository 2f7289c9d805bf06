"""Programs whose planted fault makes the GPU's own work dearer than need be, and those mended."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from healthy import fused_adamw, train_images, train_text
from models import ConvNet, LanguageModel
from setting import Running, pair


@pair("odd_sizes")
def odd_sizes(setting, mended):
    """Products with odd widths, which no aligned kernel takes; mended, the next multiple of 8."""
    width = setting.pick(4096, 32) - (0 if mended else 1)
    batch = setting.pick(16384, 8)
    layers = [layer for _ in range(4) for layer in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
    inputs = torch.randn(batch, width, device=setting.device, dtype=torch.bfloat16)
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        model(inputs).square().mean().backward()
        optimiser.step()

    return Running(step, batch)


@pair("eager_attention")
def eager_attention(setting, mended):
    """Attention out of single operations; mended, scaled_dot_product_attention."""
    words, length = setting.pick(8192, 64), setting.pick(2048, 16)
    width, layers = setting.pick(1024, 32), setting.pick(2, 1)
    net = LanguageModel(width, layers, setting.pick(16, 2), words, length, eager=not mended)
    return train_text(setting, net, setting.pick(8, 2), length, words)


@pair("fp32_products")
def fp32_products(setting, mended):
    """FP32 with TF32 off; mended, the tensor cores take TF32."""
    torch.set_float32_matmul_precision("high" if mended else "highest")
    width, batch = setting.pick(4096, 32), setting.pick(4096, 8)
    layers = [layer for _ in range(4) for layer in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(*layers).to(setting.device)
    inputs = torch.randn(batch, width, device=setting.device)
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        model(inputs).square().mean().backward()
        optimiser.step()

    return Running(step, batch, lambda: torch.set_float32_matmul_precision("highest"))


@pair("no_channels_last")
def no_channels_last(setting, mended):
    """Convolutions in mixed precision on NCHW images; mended, channels last."""
    torch.backends.cudnn.benchmark = True
    batch, side = setting.pick(256, 2), setting.pick(224, 16)
    images = torch.randn(batch, 3, side, side, device=setting.device)
    labels = torch.randint(0, 8, (batch,), device=setting.device)
    net = ConvNet(setting.pick((64, 128, 256, 512), (8, 8)))
    if mended:
        return train_images(
            setting, net, images, lambda model, inputs: F.cross_entropy(model(inputs), labels)
        )
    net = net.to(setting.device)
    optimiser = fused_adamw(net, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        with setting.autocast():
            loss = F.cross_entropy(net(images), labels)
        loss.backward()
        optimiser.step()

    return Running(step, batch)


@pair("unfused_optimiser", active=3)
def unfused_optimiser(setting, mended):
    """AdamW one parameter after the other; mended, one kernel for all of them."""
    width, batch = setting.pick(1024, 16), setting.pick(16384, 8)
    layers = [layer for _ in range(20) for layer in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(*layers).to(setting.device, torch.bfloat16)
    inputs = torch.randn(batch, width, device=setting.device, dtype=torch.bfloat16)
    how = {"fused": setting.cuda} if mended else {"foreach": False, "fused": False}
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, **how)

    def step():
        optimiser.zero_grad(set_to_none=True)
        model(inputs).square().mean().backward()
        optimiser.step()

    return Running(step, batch)
