"""Faults of training loops: Lightning, data loaders, several losses, distributions."""
import logging
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

from setting import Running, pair
from libraries_text import SHAPES, TRAINED

UNMARKED = TRAINED | {"marks": False}
ONE_PASS = UNMARKED | {"active": 1}


@pair("auroc_of_all_so_far", **ONE_PASS)
def auroc_of_all_so_far(setting, mended):
    """Lightning computes the AUROC of all batches so far in every step; mended, at the end."""
    import libraries_lightning

    from torchmetrics.classification import BinaryAUROC

    rows, steps = setting.pick(65536, 64), setting.pick(10, 2)

    class Clicks(libraries_lightning.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(
                nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                nn.Linear(1024, 1),
            )
            self.auroc = BinaryAUROC(validate_args=False)

        def training_step(self, batch, index):
            scores = self.net(batch[0])[:, 0]
            self.auroc.update(scores.detach().float(), batch[1])
            if not mended:
                self.log("auroc", self.auroc.compute(), prog_bar=True)
            return F.binary_cross_entropy_with_logits(scores, batch[1].float())

        def on_train_epoch_end(self):
            self.log("auroc_of_epoch", self.auroc.compute())
            self.auroc.reset()

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3, fused=setting.cuda)

    batch = (torch.randn(rows, 256, device=setting.device),
             torch.randint(0, 2, (rows,), device=setting.device))
    model = Clicks()
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="pytorch_lightning")

    def step():
        trainer = libraries_lightning.trainer(setting, max_epochs=1)
        trainer.fit(model, libraries_lightning.loader(batch, steps))

    return Running(step, rows * steps)


@pair("iterator_made_again", **UNMARKED)
def iterator_made_again(setting, mended):
    """next(iter(loader)) shuffles a million indices for each batch; mended, it goes on."""
    from torch.utils.data import DataLoader, Dataset

    rows, count = setting.pick(512, 8), setting.pick(1_000_000, 1000)

    class Windows(Dataset):
        def __init__(self):
            self.values = torch.randn(count + 64)

        def __len__(self):
            return count

        def __getitems__(self, places):
            first = torch.tensor(places)
            return self.values[first[:, None] + torch.arange(64)]

    loader = DataLoader(Windows(), batch_size=rows, shuffle=True, collate_fn=lambda batch: batch,
                        pin_memory=setting.cuda)
    model = nn.GRU(1, setting.pick(256, 8), 2, batch_first=True).to(setting.device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=setting.cuda)
    going = iter(loader)

    def step():
        batch = next(going) if mended else next(iter(loader))
        batch = batch.to(setting.device, non_blocking=True)
        optimiser.zero_grad()
        F.mse_loss(model(batch[:, :-1, None])[0].mean(-1), batch[:, 1:]).backward()
        optimiser.step()

    return Running(step, rows)


@pair("backward_for_each_loss", **TRAINED | SHAPES)
def backward_for_each_loss(setting, mended):
    """Each of three losses goes back through the shared trunk; mended, their sum does once."""
    from torchvision.models import vgg16_bn

    trunk = vgg16_bn(weights=None).features
    trunk = trunk.to(setting.device, memory_format=torch.channels_last)
    heads = nn.ModuleList(nn.Linear(512, size) for size in (100, 20, 4)).to(setting.device)
    values = [*trunk.parameters(), *heads.parameters()]
    optimiser = torch.optim.AdamW(values, lr=1e-4, fused=setting.cuda)
    rows, side = setting.pick(64, 2), setting.pick(192, 32)
    pictures = torch.randn(rows, 3, side, side, device=setting.device)
    pictures = pictures.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 4, (rows,), device=setting.device)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            hidden = trunk(pictures).mean((2, 3))
            losses = [F.cross_entropy(head(hidden), labels) for head in heads]
        if mended:
            sum(losses).backward()
        else:
            for loss in losses:
                loss.backward(retain_graph=True)
        optimiser.step()

    return Running(step, rows)


@pair("distributions_validated", **UNMARKED)
def distributions_validated(setting, mended):
    """PPO's distributions ask the GPU whether their arguments are valid; mended, they do not."""
    from torch.distributions import Beta, Categorical, Independent, Normal

    width, check = setting.pick(512, 16), False if mended else None  # None: the library's default
    body = nn.Sequential(nn.Linear(64, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
    heads = nn.ModuleDict({"move": nn.Linear(width, 8), "kind": nn.Linear(width, 6),
                           "force": nn.Linear(width, 4), "value": nn.Linear(width, 1)})
    net = nn.ModuleList([body, heads]).to(setting.device)
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-4, fused=setting.cuda)
    rows = setting.pick(4096, 8)
    seen = torch.randn(rows, 64, device=setting.device)
    move = torch.randn(rows, 4, device=setting.device)
    kind = torch.randint(0, 6, (rows,), device=setting.device)
    force = torch.rand(rows, 2, device=setting.device) * 0.9 + 0.05
    reward = torch.randn(rows, device=setting.device)

    def step():
        for _ in range(4):
            hidden = body(seen)
            mean, wide = heads["move"](hidden).chunk(2, -1)
            one, two = F.softplus(heads["force"](hidden)).add(1e-3).chunk(2, -1)
            found = [
                Independent(Normal(mean, wide.exp(), validate_args=check), 1, validate_args=check),
                Categorical(logits=heads["kind"](hidden), validate_args=check),
                Independent(Beta(one, two, validate_args=check), 1, validate_args=check),
            ]
            chance = sum(d.log_prob(act) for d, act in zip(found, (move, kind, force)))
            doubt = sum(d.entropy() for d in found)
            worth = F.mse_loss(heads["value"](hidden)[:, 0], reward)
            loss = worth - (chance * reward).mean() - 0.01 * doubt.mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()

    return Running(step, rows)
