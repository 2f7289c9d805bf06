"""Faults in pictures, video and diffusion: inference and one pass rather than training."""
import io
import math
import zlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from healthy import fused_adamw
from setting import Running, pair

FEW = {"measured": 10, "active": 2}


def half(setting, model):
    return model.to(setting.device, torch.bfloat16, memory_format=torch.channels_last).eval()


def residual_net(setting):
    import timm

    return half(setting, timm.create_model(setting.pick("resnet50", "resnet18"), num_classes=100))


@pair("views_one_by_one", marks=False, **FEW)
def views_one_by_one(setting, mended):
    """Sixteen random views of a picture go through the network one by one; mended, together."""
    net, side = residual_net(setting), setting.pick(224, 32)
    random = np.random.default_rng(1)
    picture = torch.rand(1, 3, 2 * side, 2 * side, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        views = []
        for top, left in random.integers(0, side, (16, 2)):
            view = picture[:, :, top : top + side, left : left + side]
            view = view.flip(3) if (top + left) % 2 else view
            views.append(view.contiguous(memory_format=torch.channels_last))
        if mended:
            return net(torch.cat(views)).softmax(1).mean(0)
        return torch.cat([net(view).softmax(1) for view in views]).mean(0)

    return Running(step, 1)


class Segmenter(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        sizes = [3, width, 2 * width, 2 * width, width]
        self.layers = nn.Sequential(
            *[
                part
                for inside, outside in zip(sizes, sizes[1:])
                for part in (nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU())
            ],
            nn.Conv2d(width, classes, 1),
        )

    def forward(self, image):
        return self.layers(image)


@pair("tiles_to_host", marks=False, active=1, measured=8)
def tiles_to_host(setting, mended):
    """A large picture tile by tile, each result added up on the host; mended, on the GPU."""
    tile, count, classes = setting.pick(256, 16), setting.pick(7, 2), 8
    net = half(setting, Segmenter(setting.pick(64, 8), classes))
    side = (count + 1) * tile // 2
    picture = torch.rand(1, 3, side, side, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        where = setting.device if mended else "cpu"
        total = torch.zeros(classes, side, side, device=where)
        seen = torch.zeros(side, side, device=where)
        for top in range(0, side - tile + 1, tile // 2):
            for left in range(0, side - tile + 1, tile // 2):
                rows, columns = slice(top, top + tile), slice(left, left + tile)
                part = net(picture[:, :, rows, columns])[0].float()
                total[:, rows, columns] += part.to(where)
                seen[rows, columns] += 1
        return (total / seen).argmax(0).cpu()

    return Running(step, 1)


def overlaps(one, many):
    left = torch.maximum(one[..., :2], many[..., :2])
    right = torch.minimum(one[..., 2:], many[..., 2:])
    shared = (right - left).clamp(min=0).prod(-1)
    area = (one[..., 2:] - one[..., :2]).prod(-1) + (many[..., 2:] - many[..., :2]).prod(-1)
    return shared / (area - shared)


@pair("boxes_in_python", marks=False, shapes=False, **FEW)
def boxes_in_python(setting, mended):
    """Overlapping boxes are dropped in a Python loop; mended, by one matrix of overlaps."""
    net, side = residual_net(setting), setting.pick(320, 32)
    pictures = torch.rand(setting.pick(8, 1), 3, side, side, device=setting.device)
    pictures = pictures.to(torch.bfloat16, memory_format=torch.channels_last)
    count = setting.pick(300, 20)

    @torch.no_grad()
    def step():
        net(pictures)
        corner = torch.rand(count, 2, device=setting.device) * 200
        boxes = torch.cat([corner, corner + 20 + 60 * torch.rand_like(corner)], 1)
        boxes = boxes[torch.rand(count, device=setting.device).argsort(descending=True)]
        if mended:
            worst = overlaps(boxes[:, None], boxes[None]).triu(1).amax(0)
            return torch.where(worst < 0.5, torch.arange(count, device=setting.device), -1)
        kept = []
        while boxes.shape[0]:
            kept.append(boxes[0])
            boxes = boxes[1:][overlaps(boxes[0], boxes[1:]) < 0.5]
        return torch.stack(kept)

    return Running(step, pictures.shape[0])


@pair("float_on_host", **FEW)
def float_on_host(setting, mended):
    """Bytes become floats on the host and are copied as such; mended, on the GPU."""
    net, side = residual_net(setting), setting.pick(224, 32)
    batch = setting.pick(128, 2)
    source = torch.randint(0, 256, (4, batch, side, side, 3), dtype=torch.uint8)
    if mended and setting.cuda:
        source = source.pin_memory()
    mean, spread = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    place = setting.device if mended else "cpu"
    mean, spread = mean.to(place), spread.to(place)
    random = np.random.default_rng(2)

    @torch.no_grad()
    def step():
        pictures = source[random.integers(4)]
        if mended:
            pictures = pictures.to(setting.device, non_blocking=True)
        pictures = ((pictures.float() / 255 - mean) / spread).to(setting.device)
        return net(pictures.permute(0, 3, 1, 2).to(torch.bfloat16)).argmax(1)

    return Running(step, batch)


@pair("frames_one_by_one", marks=False, **FEW)
def frames_one_by_one(setting, mended):
    """Each frame of a clip is copied and made float by itself; mended, the clip is."""
    side, frames = setting.pick(160, 16), setting.pick(64, 4)
    net = nn.Sequential(
        nn.Conv3d(3, 64, (3, 7, 7), (1, 2, 2), 1), nn.ReLU(), nn.Conv3d(64, 128, 3, 2, 1), nn.ReLU()
    ).to(setting.device, torch.bfloat16)
    random = np.random.default_rng(3)
    film = random.integers(0, 256, (frames * 3, 3, side, side), dtype=np.uint8)
    kept = torch.empty((frames, 3, side, side), dtype=torch.uint8, pin_memory=setting.cuda)

    @torch.no_grad()
    def step():
        chosen = np.sort(random.choice(len(film), frames, replace=False))
        if mended:
            np.take(film, chosen, 0, out=kept.numpy())
            clip = kept.to(setting.device, non_blocking=True).to(torch.bfloat16) / 255
        else:
            clip = torch.stack(
                [
                    torch.from_numpy(film[index]).to(setting.device).to(torch.bfloat16) / 255
                    for index in chosen
                ]
            )
        return net(clip.transpose(0, 1).unsqueeze(0)).mean()

    return Running(step, frames)


@pair("color_jitter_chain", shapes=False, **FEW)
def color_jitter_chain(setting, mended):
    """Colours are changed in FP32 by thirty operators; mended, by one small matrix product."""
    batch, side = setting.pick(256, 2), setting.pick(224, 16)
    pictures = torch.rand(batch, 3, side, side, device=setting.device)
    net = half(setting, Segmenter(16, 4))
    gray = torch.tensor([0.299, 0.587, 0.114], device=setting.device).view(1, 3, 1, 1)
    tint = torch.eye(3, device=setting.device, dtype=torch.bfloat16).view(3, 3, 1, 1)
    random = np.random.default_rng(4)

    def jitter(images):
        for _ in range(3):
            images = (images * random.uniform(0.8, 1.2)).clamp(0, 1)
            level = (images * gray).sum(1, keepdim=True).mean((2, 3), keepdim=True)
            images = (images * 1.1 + level * -0.1).clamp(0, 1)
            images = (images * 0.9 + (images * gray).sum(1, keepdim=True) * 0.1).clamp(0, 1)
            images = images.pow(random.uniform(0.9, 1.1))
        return images.to(torch.bfloat16)

    @torch.no_grad()
    def step():
        shaken = F.conv2d(pictures.to(torch.bfloat16), tint) if mended else jitter(pictures)
        return net(shaken.contiguous(memory_format=torch.channels_last)).amax(1).float().mean()

    return Running(step, batch)


@pair("crops_one_by_one", marks=False, shapes=False, **FEW)
def crops_one_by_one(setting, mended):
    """Regions are cut and resized one by one, their borders read by the host; mended, at once."""
    side, count = setting.pick(512, 32), setting.pick(96, 4)
    picture = torch.rand(1, 3, side, side, device=setting.device, dtype=torch.bfloat16)
    net = residual_net(setting)
    out = setting.pick(96, 16)

    @torch.no_grad()
    def step():
        corner = torch.randint(0, side // 2, (count, 2), device=setting.device)
        size = torch.randint(8, side // 2, (count, 2), device=setting.device)
        if mended:
            scale, centre = size / side, (2 * corner + size) / side - 1
            place = torch.zeros(count, 2, 3, device=setting.device)
            place[:, 0, 0], place[:, 1, 1], place[:, :, 2] = scale[:, 0], scale[:, 1], centre
            grid = F.affine_grid(place, [count, 3, out, out], align_corners=False)
            whole = picture.float().expand(count, -1, -1, -1)
            crops = F.grid_sample(whole, grid, align_corners=False).to(torch.bfloat16)
        else:
            crops = []
            for (top, left), (height, width) in zip(corner, size):
                top, left, height, width = int(top), int(left), int(height), int(width)
                crop = picture[:, :, top : top + height, left : left + width]
                crops.append(F.interpolate(crop, (out, out), mode="bilinear"))
            crops = torch.cat(crops)
        return net(crops.contiguous(memory_format=torch.channels_last)).argmax(1)

    return Running(step, count)


class Denoiser(nn.Module):
    """A small UNet without skips: what a step of diffusion runs."""

    def __init__(self, channels, width, depth=4):
        super().__init__()
        self.inside = nn.Conv2d(channels, width, 3, padding=1)
        self.time = nn.Linear(64, width)
        self.norms = nn.ModuleList(nn.GroupNorm(8, width) for _ in range(depth))
        self.convs = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(depth))
        self.outside = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, image, moment):
        hidden = self.inside(image) + self.time(moment)[:, :, None, None]
        for norm, conv in zip(self.norms, self.convs):
            hidden = hidden + conv(F.silu(norm(hidden)))
        return self.outside(hidden)


def moment_of(time, setting):
    steps = torch.arange(32, device=setting.device) * (-math.log(10000) / 32)
    angle = time * steps.exp()
    return torch.cat([angle.sin(), angle.cos()]).to(torch.bfloat16).unsqueeze(0)


@pair("schedule_on_host", marks=False, active=1, measured=8)
def schedule_on_host(setting, mended):
    """Each step of diffusion is taken in NumPy; mended, on the GPU."""
    side, steps = setting.pick(128, 8), setting.pick(20, 2)
    net = half(setting, Denoiser(4, setting.pick(256, 16)))
    kept = np.linspace(0.999, 0.01, steps + 1).tolist()
    random = np.random.default_rng(5)

    @torch.no_grad()
    def step():
        state = random.standard_normal((4, 4, side, side)).astype(np.float32)
        if mended:
            state = torch.from_numpy(state).to(setting.device)
        for index in range(steps):
            now, after = kept[index], kept[index + 1]
            given = state if mended else torch.from_numpy(state).to(setting.device)
            noise = net(given.to(torch.bfloat16), moment_of(index, setting)).float()
            noise = noise if mended else noise.cpu().numpy()
            clean = (state - (1 - now) ** 0.5 * noise) / now**0.5
            clean = clean.clamp(-4, 4) if mended else np.clip(clean, -4, 4)
            state = after**0.5 * clean + (1 - after) ** 0.5 * noise
            state = state if mended else state.astype(np.float32)
        return state

    return Running(step, 4)


@pair("guidance_in_two", marks=False, active=1, measured=8, shapes=False)
def guidance_in_two(setting, mended):
    """With and without the prompt, one picture, two passes in FP32 code; mended, one pass."""
    side, steps = setting.pick(32, 8), setting.pick(12, 2)
    net = half(setting, Denoiser(4, setting.pick(128, 16), depth=16))

    @torch.no_grad()
    def step():
        state = torch.randn(1, 4, side, side, device=setting.device, dtype=torch.bfloat16)
        for index in range(steps):
            moment = moment_of(index, setting)
            if mended:
                free, led = net(state.expand(2, -1, -1, -1), moment.expand(2, -1)).chunk(2)
            else:
                free, led = net(state, moment), net(state, moment * 0.5)
            state = state - 0.05 * (free + 5.0 * (led - free))
        return state

    return Running(step, 1)


@pair("average_one_by_one", active=2)
def average_one_by_one(setting, mended):
    """The moving average of the weights, tensor by tensor; mended, many at once."""
    net = Denoiser(4, setting.pick(96, 16), depth=setting.pick(60, 2)).to(setting.device)
    net = net.to(memory_format=torch.channels_last)
    average = [parameter.detach().clone() for parameter in net.parameters()]
    optimiser = fused_adamw(net, setting)
    batch, side = setting.pick(32, 1), setting.pick(32, 8)

    def step():
        clean = torch.randn(batch, 4, side, side, device=setting.device)
        noise = torch.randn_like(clean)
        optimiser.zero_grad(set_to_none=True)
        with setting.autocast():
            loss = F.mse_loss(net(clean * 0.7 + noise * 0.7, moment_of(3, setting)), noise)
        loss.backward()
        optimiser.step()
        with torch.no_grad():
            now = [parameter.detach() for parameter in net.parameters()]
            if mended:
                torch._foreach_lerp_(average, now, 0.001)
                return
            for mine, theirs in zip(average, now):
                mine.copy_(mine * 0.999 + theirs * 0.001)

    return Running(step, batch)


@pair("preview_each_step", marks=False, active=1, measured=6)
def preview_each_step(setting, mended):
    """A picture is compressed after each step of diffusion; mended, after the last."""
    side, steps = setting.pick(256, 8), setting.pick(8, 2)
    net = half(setting, Denoiser(3, setting.pick(192, 16)))

    def preview(state):
        pixels = (state[0].float().clamp(0, 1) * 255).to(torch.uint8).cpu().numpy()
        return io.BytesIO(zlib.compress(pixels.tobytes(), 6)).getbuffer().nbytes

    @torch.no_grad()
    def step():
        state = torch.rand(2, 3, side, side, device=setting.device, dtype=torch.bfloat16)
        for index in range(steps):
            state = state - 0.05 * net(state, moment_of(index, setting))
            if not mended or index == steps - 1:
                preview(state)

    return Running(step, 2)
