"""The networks that only the zoo trains and runs; the others are in tests/advice/programs."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Denoiser(nn.Module):
    """A small U: down, attention at the bottom, up."""

    def __init__(self, width):
        super().__init__()
        self.down1 = nn.Conv2d(4, width, 3, 1, 1)
        self.down2 = nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.down3 = nn.Conv2d(2 * width, 4 * width, 3, 2, 1)
        self.norms = nn.ModuleList(nn.GroupNorm(8, width * w) for w in (1, 2, 4, 2, 1))
        self.attend = nn.MultiheadAttention(4 * width, 8, batch_first=True)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 4, 2, 1)
        self.last = nn.Conv2d(width, 4, 3, 1, 1)

    def forward(self, noisy):
        first = F.silu(self.norms[0](self.down1(noisy)))
        second = F.silu(self.norms[1](self.down2(first)))
        third = F.silu(self.norms[2](self.down3(second)))
        batch, width, height, across = third.shape
        tokens = third.flatten(2).transpose(1, 2)
        tokens = tokens + self.attend(tokens, tokens, tokens, need_weights=False)[0]
        third = tokens.transpose(1, 2).reshape(batch, width, height, across)
        second = F.silu(self.norms[3](self.up2(third))) + second
        first = F.silu(self.norms[4](self.up1(second))) + first
        return self.last(first)


class Experts(nn.Module):
    """Eight experts; each token goes to one, as many tokens to each."""

    def __init__(self, width, experts=8):
        super().__init__()
        self.route = nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, 4 * width) / width**0.5)
        self.down = nn.Parameter(torch.randn(experts, 4 * width, width) / width**0.5 / 2)

    def forward(self, hidden):
        weights = self.route(hidden).softmax(-1)
        room = hidden.shape[0] // self.up.shape[0]
        best, chosen = weights.t().topk(room, dim=1)
        taken = hidden[chosen]
        answered = torch.bmm(F.silu(torch.bmm(taken, self.up)), self.down) * best.unsqueeze(-1)
        return hidden.index_add(0, chosen.flatten(), answered.flatten(0, 1))


class PatchClassifier(nn.Module):
    """Images in patches, through a transformer."""

    def __init__(self, width, depth, heads, side):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.place = nn.Parameter(torch.zeros(1, (side // 16) ** 2, width))
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.1, "gelu",
                                           batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.classes = nn.Linear(width, 1000)

    def forward(self, images):
        tokens = self.patches(images).flatten(2).transpose(1, 2) + self.place
        return self.classes(self.layers(tokens).mean(1))


class Segmenter(nn.Module):
    """A U with batch norms: two levels down, two up."""

    def __init__(self, width):
        super().__init__()

        def block(left, right):
            return nn.Sequential(nn.Conv2d(left, right, 3, 1, 1, bias=False), nn.BatchNorm2d(right),
                                 nn.ReLU(True), nn.Conv2d(right, right, 3, 1, 1, bias=False),
                                 nn.BatchNorm2d(right), nn.ReLU(True))

        self.top, self.middle, self.bottom = block(3, width), block(width, 2 * width), block(
            2 * width, 4 * width)
        self.raise_bottom = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2)
        self.raise_middle = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.join_middle, self.join_top = block(4 * width, 2 * width), block(2 * width, width)
        self.classes = nn.Conv2d(width, 21, 1)

    def forward(self, images):
        top = self.top(images)
        middle = self.middle(F.max_pool2d(top, 2))
        bottom = self.bottom(F.max_pool2d(middle, 2))
        middle = self.join_middle(torch.cat([middle, self.raise_bottom(bottom)], 1))
        return self.classes(self.join_top(torch.cat([top, self.raise_middle(middle)], 1)))
