"""Training: forgeries, tables of patients, warnings, boxes and smooth networks."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import TRAINED
from services_serving import Mixer
from services_training import UNMARKED
from setting import Running, pair
from studies_science import fully


@pair("forgeries_not_detached", **UNMARKED)
def forgeries_not_detached(setting, mended):
    """The critic's loss goes back through the forger too, whose gradients are thrown away.

    Mended, what was forged is detached for the critic.
    """
    width, rows = setting.pick(4096, 16), setting.pick(8192, 4)
    forger = fully(width // 8, width, width, width, width // 4).to(setting.device, torch.bfloat16)
    critic = fully(width // 4, width // 4, width // 4, 1).to(setting.device, torch.bfloat16)
    both = [torch.optim.SGD(net.parameters(), lr=1e-4, fused=setting.cuda)
            for net in (forger, critic)]
    how = {"device": setting.device, "dtype": torch.bfloat16}
    noise, true = torch.randn(rows, width // 8, **how), torch.randn(rows, width // 4, **how)

    def step():
        forged = forger(noise)
        both[1].zero_grad()
        shown = forged.detach() if mended else forged
        wrong = F.softplus(critic(shown).float()).mean() + F.softplus(-critic(true).float()).mean()
        wrong.backward(retain_graph=not mended)
        both[1].step()
        both[0].zero_grad()
        F.softplus(-critic(forged).float()).mean().backward()
        both[0].step()

    return Running(step, rows)


class Patients(torch.utils.data.Dataset):
    """A table of pandas, row by row, as it was in the notebook."""

    def __init__(self, frame, columns):
        self.frame, self.columns = frame, columns

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, place):
        row = self.frame.iloc[place]
        seen = torch.tensor(row[self.columns].to_numpy(np.float32))
        return seen, torch.tensor(int(row["ward"]))


@pair("rows_by_iloc", **TRAINED)
def rows_by_iloc(setting, mended):
    """A dataset takes each row of a table by iloc; mended, whole batches of rows of tensors."""
    import pandas

    count, wide, rows = setting.pick(50_000, 60), 48, setting.pick(64, 4)
    width = setting.pick(1024, 8)
    columns = [f"measure{number}" for number in range(wide)]
    frame = pandas.DataFrame(np.random.randn(count, wide).astype(np.float32), columns=columns)
    frame["ward"] = np.random.randint(0, 12, count)
    frame["name"] = "of a patient"
    net = fully(wide, width, width, width, 12).to(setting.device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=setting.cuda)
    if mended:
        whole = torch.from_numpy(frame[columns].to_numpy(np.float32))
        wards = torch.from_numpy(frame["ward"].to_numpy().copy())
        def batches():
            while True:
                for places in torch.randperm(count).split(rows):
                    yield whole[places], wards[places]
    else:
        loader = torch.utils.data.DataLoader(Patients(frame, columns), rows, shuffle=True)
        def batches():
            while True:
                yield from loader
    source = batches()

    def step():
        seen, wards = (part.to(setting.device) for part in next(source))
        optimiser.zero_grad()
        F.cross_entropy(net(seen), wards).backward()
        optimiser.step()

    return Running(step, rows)


def area_on_device(scores, truth):
    """The area under the curve by ranks."""
    ranks = torch.empty_like(scores)
    ranks[scores.argsort()] = torch.arange(1, len(scores) + 1, device=scores.device,
                                           dtype=scores.dtype)
    good = truth.sum()
    bad = len(truth) - good
    return ((ranks * truth).sum() - good * (good + 1) / 2) / (good * bad)


@pair("auc_by_sklearn", **TRAINED)
def auc_by_sklearn(setting, mended):
    """scikit-learn works out the area under the curve of each batch while the GPU waits.

    Mended, ranks on the GPU, read by nobody until the end.
    """
    from sklearn.metrics import roc_auc_score

    rows, wide, width = setting.pick(65536, 50), setting.pick(256, 8), setting.pick(2048, 16)
    net = fully(wide, width, width, 1).to(setting.device, torch.bfloat16)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-4, fused=setting.cuda)
    some = torch.randn(rows, wide, device=setting.device, dtype=torch.bfloat16)
    truth = (torch.rand(rows, device=setting.device) < 0.3).float()
    areas = []

    def step():
        optimiser.zero_grad()
        scores = net(some)[:, 0].float()
        F.binary_cross_entropy_with_logits(scores, truth).backward()
        optimiser.step()
        scores = scores.detach()
        if mended:
            areas.append(area_on_device(scores, truth))
        else:
            areas.append(roc_auc_score(truth.cpu().numpy(), scores.cpu().numpy()))

    return Running(step, rows)


@pair("matched_picture_by_picture", **UNMARKED)
def matched_picture_by_picture(setting, mended):
    """A detector's boxes are matched with true ones: costs of each picture by operators of its own,
    and a copy down for each; mended, costs of all pictures at once and one copy.
    """
    from scipy.optimize import linear_sum_assignment

    rows, asked, true, kinds = setting.pick(48, 2), setting.pick(100, 6), setting.pick(12, 2), 91
    width, heads = setting.pick(256, 16), setting.pick(8, 2)
    net = nn.Sequential(Mixer(width, heads), Mixer(width, heads), nn.Linear(width, kinds + 4))
    net = net.to(setting.device)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=setting.cuda)
    some = torch.randn(rows, asked, width, device=setting.device)
    labels = torch.randint(0, kinds, (rows, true), device=setting.device)
    boxes = torch.rand(rows, true, 4, device=setting.device)

    @torch.no_grad()
    def matched(scores, found):
        if mended:
            chance = scores.softmax(-1).gather(2, labels[:, None].expand(-1, asked, -1))
            costs = (torch.cdist(found, boxes, p=1) - chance).cpu().numpy()
        else:
            costs = [(torch.cdist(found[row], boxes[row], p=1)
                      - scores[row].softmax(-1)[:, labels[row]]).cpu().numpy()
                     for row in range(rows)]
        pairs = np.stack([linear_sum_assignment(cost) for cost in costs])
        return torch.from_numpy(pairs).to(setting.device).unbind(1)

    def step():
        optimiser.zero_grad()
        scores, found = net(some).split((kinds, 4), -1)
        found = found.sigmoid()
        mine, theirs = matched(scores, found)
        picked = found.gather(1, mine[..., None].expand(-1, -1, 4))
        aims = boxes.gather(1, theirs[..., None].expand(-1, -1, 4))
        chosen = scores.gather(1, mine[..., None].expand(-1, -1, kinds))
        loss = F.l1_loss(picked, aims)
        loss = loss + F.cross_entropy(chosen.flatten(0, 1), labels.gather(1, theirs).flatten())
        loss.backward()
        optimiser.step()

    return Running(step, rows)


@pair("norms_by_svd", **UNMARKED)
def norms_by_svd(setting, mended):
    """A network is kept smooth: each weight is divided by its largest singular value after a step.

    All singular values are worked out for it; mended, a turn of the power method.
    """
    width, rows = setting.pick(128, 8), setting.pick(16384, 4)
    net = fully(width, width, width, width, width).to(setting.device)
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-3, fused=setting.cuda)
    some, aims = (torch.randn(rows, width, device=setting.device) for _ in "ab")
    weights = [layer.weight for layer in net if isinstance(layer, nn.Linear)]
    kept = [F.normalize(torch.randn(width, device=setting.device), dim=0) for _ in weights]

    @torch.no_grad()
    def largest(place, weight):
        if not mended:
            return torch.linalg.matrix_norm(weight, 2)
        there = F.normalize(weight @ kept[place], dim=0)
        kept[place] = F.normalize(weight.T @ there, dim=0)
        return there @ (weight @ kept[place])

    def step():
        optimiser.zero_grad()
        F.mse_loss(net(some), aims).backward()
        optimiser.step()
        with torch.no_grad():
            for place, weight in enumerate(weights):
                weight.div_(largest(place, weight).clamp_min(1))

    return Running(step, rows)
