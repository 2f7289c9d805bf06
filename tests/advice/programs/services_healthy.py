"""Services, training and simulations with nothing to mend."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from libraries_text import SERVED, SHAPES, TRAINED
from services_decoding import Decoder, bfloat, graphed
from services_serving import Mixer
from services_training import UNMARKED, Shared, accelerator
from setting import Running, program


@program("many_decoded_in_graph", **SERVED)
def many_decoded_in_graph(setting):
    """A decoder of wide layers writes for 256 requests at once, in one CUDA graph."""
    width, heads, rows = setting.pick(4096, 32), setting.pick(32, 2), setting.pick(256, 2)
    model = Decoder(setting, setting.pick(32000, 50), width, heads, setting.pick(4, 1), rows,
                    setting.pick(512, 8))
    tokens = torch.zeros(rows, 1, dtype=torch.long, device=setting.device)
    place = torch.zeros(1, dtype=torch.long, device=setting.device)
    run = graphed(setting, lambda: tokens.copy_(model(tokens, place).argmax(-1)))

    def step():
        for _ in range(4):
            run()
        return tokens

    return Running(step, 4 * rows)


@program("latents_sampled", **SERVED | SHAPES)
def latents_sampled(setting):
    """A diffusion transformer takes four steps for sixteen pictures, guidance in one pass."""
    width, heads = setting.pick(1536, 32), setting.pick(24, 2)
    net = bfloat(setting, nn.Sequential(*(Mixer(width, heads) for _ in range(setting.pick(8, 1)))))
    rows, length = setting.pick(16, 1), setting.pick(1024, 8)
    latents = torch.randn(rows, length, width, device=setting.device, dtype=torch.bfloat16)
    spread = [14.0, 6.0, 2.0, 0.5, 0.0]

    @torch.no_grad()
    def step():
        states = latents
        for now, then in zip(spread, spread[1:]):
            with_text, without = net(states.repeat(2, 1, 1) / (now**2 + 1) ** 0.5).chunk(2)
            states = torch.add(states, torch.lerp(without, with_text, 4.0), alpha=then - now)
        return states

    return Running(step, rows)


@program("timm_trained", **UNMARKED)
def timm_trained(setting):
    """timm's ViT-B trained in mixed precision on 128 pictures by a plain loop."""
    import timm

    model = timm.create_model("vit_base_patch16_224", depth=setting.pick(12, 1), num_classes=100)
    model = model.to(setting.device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=setting.cuda)
    rows = setting.pick(128, 1)
    pictures = torch.randn(rows, 3, 224, 224, device=setting.device)
    labels = torch.randint(0, 100, (rows,), device=setting.device)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            loss = F.cross_entropy(model(pictures), labels)
        loss.backward()
        optimiser.step()

    return Running(step, rows)


@program("accelerate_accumulates", **UNMARKED)
def accelerate_accumulates(setting):
    """accelerate trains wide layers in BF16, an optimiser's step for each two batches."""
    run = accelerator()
    width, rows = setting.pick(4096, 16), setting.pick(8192, 4)
    model = nn.Sequential(*(Shared(width) for _ in range(setting.pick(3, 1)))).to(setting.device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=setting.cuda)
    model, optimiser = run.prepare(model, optimiser)
    some = torch.randn(rows, width, device=setting.device)

    def step():
        for last in (False, True):
            run.backward(F.mse_loss(model(some), some) / 2)
            if last:
                optimiser.step()
                optimiser.zero_grad()

    return Running(step, 2 * rows)


@program("compiled_blocks", **TRAINED)
def compiled_blocks(setting):
    """Wide blocks trained in BF16 as torch.compile makes them, without a graph break."""
    width, rows = setting.pick(2048, 16), setting.pick(16384, 4)
    blocks = nn.ModuleList(Shared(width) for _ in range(setting.pick(4, 1)))
    blocks = blocks.to(setting.device, torch.bfloat16)
    optimiser = torch.optim.AdamW(blocks.parameters(), lr=1e-5, fused=setting.cuda)
    some = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)

    def loss(states):
        for block in blocks:
            states = block(states)
        return states.float().pow(2).mean()

    torch._dynamo.reset()
    compiled = torch.compile(loss, backend="inductor" if setting.cuda else "eager")

    def step():
        optimiser.zero_grad()
        compiled(some).backward()
        optimiser.step()

    return Running(step, rows)


@program("frames_beside_products", **SERVED)
def frames_beside_products(setting):
    """Frames arrive on one stream from pinned memory while another multiplies and convolves."""
    from torchvision.models import resnet50

    net = bfloat(setting, resnet50(weights=None)).to(memory_format=torch.channels_last)
    rows, side = setting.pick(128, 1), setting.pick(320, 32)
    frames = torch.randint(0, 255, (rows, 3, side, side), dtype=torch.uint8)
    frames = frames.pin_memory() if setting.cuda else frames
    places = [torch.empty_like(frames, device=setting.device) for _ in "ab"]
    beside, turn = setting.stream(), [0]

    @torch.no_grad()
    def step():
        turn[0] += 1
        if beside:
            torch.cuda.current_stream().wait_stream(beside)
            read = torch.cuda.Event()
            read.record()  # the network of the turn before has read what is overwritten now
            beside.wait_event(read)
        with setting.on(beside):
            places[turn[0] % 2].copy_(frames, non_blocking=True)
        pictures = places[(turn[0] + 1) % 2].contiguous(memory_format=torch.channels_last)
        return net(pictures.to(torch.bfloat16).div_(255)).argmax(1)

    return Running(step, rows)


@program("waves_by_triton", **SERVED)
def waves_by_triton(setting):
    """Sixteen turns of a wave on a large plane by a Triton kernel, in one CUDA graph."""
    if not setting.cuda:
        raise RuntimeError("a kernel of one's own needs a GPU")
    import services_triton

    wide, block = 16384, 1024
    now, before, after = (torch.randn(wide, wide, device=setting.device) for _ in range(3))

    def turns():
        one, two, three = now, before, after
        for _ in range(3):
            services_triton.wave[(wide * (wide - 2) // block,)](one, two, three, WIDE=wide,
                                                                BLOCK=block)
            one, two, three = three, one, two
        return one

    run = graphed(setting, turns)
    return Running(run, wide * wide)


@program("policy_of_many_games", **SERVED | SHAPES)
def policy_of_many_games(setting):
    """PPO's update on 65536 moments in BF16, without checks of distributions."""
    width, rows = setting.pick(2048, 16), setting.pick(65536, 8)
    net = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                        nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 17))
    net = net.to(setting.device, torch.bfloat16)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=setting.cuda)
    seen = torch.randn(rows, 256, device=setting.device, dtype=torch.bfloat16)
    moves = torch.randint(0, 16, (rows,), device=setting.device)
    gain, old = torch.randn(2, rows, device=setting.device)

    def step():
        optimiser.zero_grad()
        found = net(seen).float()
        chance = -F.cross_entropy(found[:, :16], moves, reduction="none")
        ratio = (chance - old.clamp(-3, -2)).exp()
        policy = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        (F.mse_loss(found[:, 16], gain) - policy).backward()
        optimiser.step()

    return Running(step, rows)


@program("corpus_searched", **SERVED)
def corpus_searched(setting):
    """Many queries against a corpus in BF16, piece by piece, and the best of each piece."""
    width, pieces = setting.pick(1024, 16), setting.pick(8, 2)
    corpus = torch.randn(pieces, setting.pick(65536, 32), width, device=setting.device,
                         dtype=torch.bfloat16)
    queries = torch.randn(setting.pick(4096, 4), width, device=setting.device, dtype=torch.bfloat16)
    answers = torch.empty(len(queries), dtype=torch.bfloat16)
    answers = answers.pin_memory() if setting.cuda else answers

    @torch.no_grad()
    def step():
        best = [(queries @ piece.T).amax(1) for piece in corpus]
        answers.copy_(torch.stack(best).amax(0), non_blocking=True)

    return Running(step, len(queries))
