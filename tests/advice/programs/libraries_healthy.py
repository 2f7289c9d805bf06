"""Programs of libraries with nothing to mend."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from setting import Running, program
from libraries_text import SERVED, SHAPES, TRAINED, bfloat


@program("llama_trained", **TRAINED | SHAPES)
def llama_trained(setting):
    """transformers' Llama in BF16 with its own loss, large batches and a fused optimiser."""
    from transformers import LlamaConfig, LlamaForCausalLM

    width, words = setting.pick(2048, 32), setting.pick(16000, 100)
    config = LlamaConfig(
        vocab_size=words, hidden_size=width, intermediate_size=4 * width,
        num_hidden_layers=setting.pick(4, 1), num_attention_heads=setting.pick(16, 2),
        num_key_value_heads=setting.pick(16, 2),
    )
    model = LlamaForCausalLM(config).to(setting.device, torch.bfloat16)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=setting.cuda)
    rows, length = setting.pick(8, 2), setting.pick(1024, 16)
    tokens = torch.randint(0, words, (rows, length), device=setting.device)

    def step():
        optimiser.zero_grad()
        model(input_ids=tokens, labels=tokens, use_cache=False).loss.backward()
        optimiser.step()

    return Running(step, rows)


@program("vit_large_pictures", **SERVED)
def vit_large_pictures(setting):
    """torchvision's ViT-L in BF16 on many pictures, no training."""
    from torchvision.models import VisionTransformer

    width = setting.pick(1024, 32)
    model = bfloat(setting, VisionTransformer(
        224, setting.pick(16, 56), setting.pick(12, 1), setting.pick(16, 2), width, 4 * width
    ))
    rows = setting.pick(128, 2)
    pictures = torch.randn(rows, 3, 224, 224, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return model(pictures)

    return Running(step, rows)


@program("resnet_mixed", **TRAINED)
def resnet_mixed(setting):
    """torchvision's ResNet-50 trained in mixed precision, channels last, 256 pictures."""
    from torchvision.models import resnet50

    model = resnet50(weights=None).to(setting.device, memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=setting.cuda)
    rows, side = setting.pick(256, 2), setting.pick(224, 64)
    pictures = torch.randn(rows, 3, side, side, device=setting.device)
    pictures = pictures.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (rows,), device=setting.device)

    def step():
        optimiser.zero_grad()
        with setting.autocast():
            loss = F.cross_entropy(model(pictures), labels)
        loss.backward()
        optimiser.step()

    return Running(step, rows)


@program("speech_features", **SERVED)
def speech_features(setting):
    """transformers' HuBERT in BF16 on half a minute of sound, sixteen at once."""
    from transformers import HubertConfig, HubertModel

    width = setting.pick(1024, 32)
    config = HubertConfig(
        hidden_size=width, intermediate_size=4 * width, num_hidden_layers=setting.pick(8, 1),
        num_attention_heads=setting.pick(16, 2), apply_spec_augment=False,
        num_conv_pos_embedding_groups=16, num_conv_pos_embeddings=setting.pick(128, 16),
    )
    model = bfloat(setting, HubertModel(config))
    rows, samples = setting.pick(16, 1), setting.pick(160_000, 8000)
    sound = torch.randn(rows, samples, device=setting.device, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        return model(sound).last_hidden_state

    return Running(step, rows)


@program("nodes_of_large_graph", **TRAINED | SHAPES)
def nodes_of_large_graph(setting):
    """GraphSAGE of PyTorch Geometric on a whole graph of two million edges."""
    from torch_geometric.nn import SAGEConv

    nodes, edges = setting.pick(200_000, 50), setting.pick(2_000_000, 200)
    width = setting.pick(256, 8)
    convs = nn.ModuleList(SAGEConv(width, width) for _ in range(2)).to(setting.device)
    optimiser = torch.optim.Adam(convs.parameters(), lr=1e-3, fused=setting.cuda)
    state = torch.randn(nodes, width, device=setting.device)
    graph = torch.randint(0, nodes, (2, edges), device=setting.device)
    aim = torch.randint(0, width, (nodes,), device=setting.device)

    def step():
        optimiser.zero_grad()
        hidden = F.relu(convs[0](state, graph))
        F.cross_entropy(convs[1](hidden, graph), aim).backward()
        optimiser.step()

    return Running(step, nodes)


@program("lightning_transformer", measured=20, active=1, marks=False, repeats=4, shapes=False)
def lightning_transformer(setting):
    """Lightning fits an encoder for ten large batches: one pass."""
    import logging

    import libraries_lightning

    width, length, rows = setting.pick(1024, 32), setting.pick(512, 8), setting.pick(32, 2)

    class Masked(libraries_lightning.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(
                width, max(width // 64, 2), 4 * width, dropout=0.0, batch_first=True,
                norm_first=True,
            )
            self.net = nn.TransformerEncoder(layer, setting.pick(4, 1), enable_nested_tensor=False)
            self.head = nn.Linear(width, width)

        def training_step(self, batch, index):
            return F.mse_loss(self.head(self.net(batch)), batch)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-4, fused=setting.cuda)

    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    batch = torch.randn(rows, length, width, device=setting.device)
    model, steps = Masked(), setting.pick(6, 2)

    def step():
        trainer = libraries_lightning.trainer(setting, max_epochs=1)
        trainer.fit(model, libraries_lightning.loader(batch, steps))

    return Running(step, rows * steps)


@program("process_of_many_points", **SERVED)
def process_of_many_points(setting):
    """GPyTorch's marginal likelihood of six thousand points by Cholesky, and its gradients."""
    import gpytorch

    count = setting.pick(6000, 20)
    kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=8))
    kernel = kernel.to(setting.device)
    inputs = torch.rand(count, 8, device=setting.device)
    values = torch.randn(count, device=setting.device)
    noise = 0.1 * torch.eye(count, device=setting.device)

    def step():
        kernel.zero_grad()
        factor = torch.linalg.cholesky_ex(kernel(inputs).to_dense() + noise)[0]
        half = torch.linalg.solve_triangular(factor, values[:, None], upper=False)
        ((half**2).sum() / 2 + factor.diagonal().log().sum()).backward()

    return Running(step, count)


@program("triton_norm_in_place", **SERVED)
def triton_norm_in_place(setting):
    """A Triton norm over rows at the speed of the memory, beside wide products."""
    if not setting.cuda:
        raise RuntimeError("a kernel of one's own needs a GPU")
    import libraries_triton

    rows, width = 32768, 4096
    states = torch.randn(rows, width, device=setting.device, dtype=torch.bfloat16)
    weight = torch.ones(width, device=setting.device, dtype=torch.bfloat16)
    mixes = torch.randn(3, width, width, device=setting.device, dtype=torch.bfloat16) / 64
    out = torch.empty_like(states)

    def step():
        found = states
        for mix in mixes:
            libraries_triton.row_norm[(rows,)](
                found, weight, out, width, *found.stride(), BLOCK=4096
            )
            found = out @ mix
        return found

    return Running(step, rows)


@program("pairs_ranked", **SERVED | SHAPES)
def pairs_ranked(setting):
    """transformers' BERT ranks pairs of texts: copies go beside the kernels, pinned."""
    from transformers import BertConfig, BertModel

    width = setting.pick(1024, 32)
    model = bfloat(setting, BertModel(BertConfig(
        vocab_size=30000, hidden_size=width, intermediate_size=4 * width,
        num_hidden_layers=setting.pick(8, 1), num_attention_heads=setting.pick(16, 2),
    )))
    head = bfloat(setting, nn.Linear(width, 1))
    rows, length = setting.pick(256, 2), setting.pick(256, 16)
    hosts = [torch.randint(0, 30000, (rows, length)) for _ in range(2)]
    answers = [torch.empty(rows, 1) for _ in hosts]
    if setting.cuda:
        hosts = [host.pin_memory() for host in hosts]
        answers = [answer.pin_memory() for answer in answers]
    turn = [0]

    @torch.no_grad()
    def step():
        turn[0] += 1
        tokens = hosts[turn[0] % 2].to(setting.device, non_blocking=True)
        found = head(model(input_ids=tokens).pooler_output).float()
        answers[turn[0] % 2].copy_(found, non_blocking=True)

    return Running(step, rows)
