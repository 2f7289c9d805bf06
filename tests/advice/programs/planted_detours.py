"""Programs whose planted fault is a detour: waits for, copies to and work on the host."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from healthy import fused_adamw
from models import LanguageModel, language_loss
from planted_host import image_trainer, text_trainer
from setting import Running, pair


def stack_of_layers(setting, width=2048, layers=6, type=torch.bfloat16):
    width = setting.pick(width, 16)
    with torch.device(setting.device):
        parts = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.GELU())]
    return nn.Sequential(*parts).to(setting.device, type), width


@pair("boolean_masks")
def boolean_masks(setting, mended):
    """The same mask picks the valid tokens in every layer; mended, a weight of 0 or 1."""
    model, width = stack_of_layers(setting, 1024)
    rows = setting.pick(16384, 32)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    valid = torch.rand(rows, device=setting.device) < 0.8
    weight = valid.to(torch.bfloat16).unsqueeze(1)
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        state, loss = hidden, 0
        for layer in model:
            state = layer(state)
            picked = state * weight if mended else state[valid]
            loss = loss + picked.float().square().mean()
        loss.backward()
        optimiser.step()

    return Running(step, rows)


@pair("masked_targets", marks=False)
def masked_targets(setting, mended):
    """Ignored targets are cut out with a boolean index; mended, ignore_index does it."""
    model, tokens, optimiser = text_trainer(setting, layers=2, batch=4)
    targets = torch.where(torch.rand(tokens.shape, device=tokens.device) < 0.3, -100, tokens)

    def step():
        optimiser.zero_grad(set_to_none=True)
        logits = model(tokens).flatten(0, 1)
        flat = targets.flatten()
        if mended:
            loss = F.cross_entropy(logits, flat, ignore_index=-100)
        else:
            loss = F.cross_entropy(logits[flat != -100], flat[flat != -100])
        loss.backward()
        optimiser.step()

    return Running(step, tokens.shape[0])


@pair("cpu_sort")
def cpu_sort(setting, mended):
    """Scores go to the processor to be sorted there; mended, the GPU sorts them."""
    model, width = stack_of_layers(setting)
    rows = setting.pick(1024, 8)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        scores = model(hidden).float()
        place = scores if mended else scores.cpu()
        order = torch.argsort(place, dim=1)[:, :8]
        return scores.gather(1, order.to(setting.device))

    return Running(step, rows)


@pair("cpu_sampling", shapes=False, marks=False)
def cpu_sampling(setting, mended):
    """The next token is drawn on the processor from copied logits; mended, on the GPU."""
    words, length = setting.pick(32768, 64), setting.pick(256, 8)
    model = LanguageModel(setting.pick(1024, 32), 2, setting.pick(16, 2), words, length)
    model = model.to(setting.device, torch.bfloat16)
    tokens = torch.randint(0, words, (setting.pick(32, 2), length), device=setting.device)

    @torch.no_grad()
    def step():
        logits = model(tokens)[:, -1].float()
        logits = logits if mended else logits.cpu()
        chosen = torch.multinomial(torch.softmax(logits / 0.8, -1), 1)
        tokens[:, -1:] = chosen.to(setting.device)

    return Running(step, tokens.shape[0])


@pair("numpy_postprocessing", stacks=True, shapes=False)
def numpy_postprocessing(setting, mended):
    """Detections are filtered in NumPy; mended, on the GPU."""
    model, width = stack_of_layers(setting)
    rows = setting.pick(2048, 8)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        boxes = model(hidden).float()
        if mended:
            return boxes.topk(8, dim=1).values.mean(1)
        array = boxes.cpu().numpy()
        best = np.partition(array, -8, axis=1)[:, -8:].mean(1)
        return torch.from_numpy(best).to(setting.device)

    return Running(step, rows)


@pair("cpu_optimizer", active=3)
def cpu_optimizer(setting, mended):
    """Gradients go down, Adam runs on the processor, weights go up; mended, all on the GPU."""
    model, width = stack_of_layers(setting, 1024, 4, torch.float32)
    inputs = torch.randn(setting.pick(4096, 8), width, device=setting.device)
    if mended:
        held = list(model.parameters())
        optimiser = fused_adamw(model, setting)
    else:
        held = [nn.Parameter(parameter.detach().cpu()) for parameter in model.parameters()]
        optimiser = torch.optim.AdamW(held, lr=1e-4)

    def step():
        model.zero_grad(set_to_none=True)
        with setting.autocast():
            loss = model(inputs).square().mean()
        loss.backward()
        if not mended:
            for mine, theirs in zip(held, model.parameters()):
                mine.grad = theirs.grad.cpu()
        optimiser.step()
        if not mended:
            with torch.no_grad():
                for mine, theirs in zip(held, model.parameters()):
                    theirs.copy_(mine)

    return Running(step, inputs.shape[0])


@pair("scalar_copies")
def scalar_copies(setting, mended):
    """Labels are made one by one on the GPU and stacked; mended, copied as one tensor."""
    train = image_trainer(setting)
    batch, side = setting.pick(128, 4), setting.pick(96, 16)
    images = torch.rand(batch, 3, side, side, device=setting.device)
    numbers = [index % 8 for index in range(batch)]

    def step():
        if mended:
            labels = torch.tensor(numbers, device=setting.device)
        else:
            each = [torch.tensor(number, device=setting.device) for number in numbers]
            labels = torch.stack(each)
        train(images, labels)

    return Running(step, batch)


@pair("small_copies", marks=False)
def small_copies(setting, mended):
    """Sixty features are copied to the GPU one by one; mended, as one tensor."""
    model, width = stack_of_layers(setting, 1920, 3)
    features = [torch.randn(1024, width // 60 or 1).bfloat16() for _ in range(60)]
    together = torch.cat(features, 1)
    together = together.pin_memory() if setting.cuda else together

    def step():
        if mended:
            inputs = together.to(setting.device, non_blocking=True)
        else:
            inputs = torch.cat([feature.to(setting.device) for feature in features], 1)
        model(F.pad(inputs, (0, width - inputs.shape[1]))).square().mean().backward()

    return Running(step, 1024)


@pair("mask_on_cpu", active=3)
def mask_on_cpu(setting, mended):
    """Each layer makes its causal mask on the processor and copies it; mended, it is made once."""
    length, heads = setting.pick(2048, 16), 8
    shape = (2, heads, length, 64)
    query = torch.randn(shape, device=setting.device, dtype=torch.bfloat16)

    def mask():
        allowed = torch.ones(length, length).tril()
        return torch.where(allowed > 0, 0.0, float("-inf")).bfloat16().to(setting.device)

    kept = mask()

    @torch.no_grad()
    def step():
        state = query
        for _ in range(6):
            here = kept if mended else mask()
            state = F.scaled_dot_product_attention(state, state, state, attn_mask=here)

    return Running(step, shape[0])


@pair("nan_checks")
def nan_checks(setting, mended):
    """Every gradient is asked for NaN by the host; mended, the GPU keeps one answer."""
    model, tokens, optimiser = text_trainer(setting, layers=4, batch=2)
    found = torch.zeros((), device=setting.device)

    def step():
        optimiser.zero_grad(set_to_none=True)
        language_loss(model, tokens).backward()
        gradients = [parameter.grad for parameter in model.parameters()]
        if mended:
            found.add_(torch.stack(torch._foreach_norm(gradients)).isnan().any())
        elif any(torch.isnan(gradient).any() for gradient in gradients):
            raise ValueError("NaN")
        optimiser.step()

    return Running(step, tokens.shape[0])


@pair("iterated_tensor", shapes=False)
def iterated_tensor(setting, mended):
    """Python iterates over a tensor of the GPU; mended, over a list fetched in one copy."""
    model, width = stack_of_layers(setting)
    rows = setting.pick(8192, 64)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        answer = model(hidden).argmax(1)[:64]
        numbers = answer.tolist() if mended else answer
        return sum(int(number) for number in numbers)

    return Running(step, rows)


@pair("loss_item", marks=False)
def loss_item(setting, mended):
    """The loss of every micro-batch is fetched; mended, one sum at the end of the step."""
    model, width = stack_of_layers(setting, 512, 3)
    parts = torch.randn(24, setting.pick(256, 4), width, device=setting.device).bfloat16()
    optimiser = fused_adamw(model, setting)

    def step():
        optimiser.zero_grad(set_to_none=True)
        total = 0
        for part in parts:
            loss = model(part).square().mean()
            loss.backward()
            total = total + (loss.detach() if mended else loss.item())
        optimiser.step()
        return float(total)

    return Running(step, parts.shape[0] * parts.shape[1])


@pair("device_synchronize", stacks=True)
def device_synchronize(setting, mended):
    """A timer waits for the GPU after each layer; mended, none does."""
    model, width = stack_of_layers(setting, 1024, 12)
    rows = setting.pick(2048, 8)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        state = hidden
        for layer in model:
            state = layer(state)
            if not mended:
                setting.synchronise()

    return Running(step, rows)


@pair("expert_loop")
def expert_loop(setting, mended):
    """Each expert finds its tokens with nonzero; mended, one sort and fixed shares."""
    width, experts = setting.pick(512, 16), 16
    rows = setting.pick(8192, 64)
    weights = torch.randn(experts, width, width, device=setting.device).bfloat16()
    hidden = torch.randn(rows, width, device=setting.device).bfloat16()
    gate = torch.arange(rows, device=setting.device) % experts

    @torch.no_grad()
    def step():
        if mended:
            order = torch.argsort(gate, stable=True)
            mixed = torch.bmm(hidden[order].view(experts, -1, width), weights)
            return torch.empty_like(hidden).index_copy_(0, order, mixed.view(rows, width))
        out = torch.zeros_like(hidden)
        for expert in range(experts):
            rows_of = torch.nonzero(gate == expert).squeeze(1)
            out[rows_of] = hidden[rows_of] @ weights[expert]
        return out

    return Running(step, rows)


@pair("unique_in_step", marks=False)
def unique_in_step(setting, mended):
    """Rows are made unique before the lookup; mended, they are looked up as they are."""
    rows = setting.pick(200_000, 100)
    model, width = stack_of_layers(setting, 128, 3)
    table = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    asked = torch.randint(0, rows, (setting.pick(65536, 32),), device=setting.device)

    @torch.no_grad()
    def step():
        for _ in range(8):
            if mended:
                found = table[asked]
            else:
                unique, back = torch.unique(asked, return_inverse=True)
                found = table[unique][back]
            model(found)

    return Running(step, asked.shape[0] * 8)


@pair("activation_offload", active=3)
def activation_offload(setting, mended):
    """Tensors for the backward pass are kept in host memory; mended, it stays on the GPU."""
    model, width = stack_of_layers(setting, 2048, 6)
    rows = setting.pick(16384, 8)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    def step():
        model.zero_grad(set_to_none=True)
        if mended:
            loss = model(hidden).square().mean()
        else:
            with torch.autograd.graph.save_on_cpu(pin_memory=setting.cuda):
                loss = model(hidden).square().mean()
        loss.backward()

    return Running(step, rows)


@pair("pageable_results", shapes=False)
def pageable_results(setting, mended):
    """All features are copied down for a log of their mean; mended, the mean is."""
    model, width = stack_of_layers(setting)
    rows = setting.pick(16384, 8)
    hidden = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    log = []

    @torch.no_grad()
    def step():
        features = model(hidden)
        log[:] = [features.mean().cpu()] if mended else [features.cpu()]

    return Running(step, rows)
