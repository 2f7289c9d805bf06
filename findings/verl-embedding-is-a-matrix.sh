#!/usr/bin/env bash
# Guess: the FLOPs behind verl's MFU are those of the model's matrices, and the peak is that of the card, or unknown.
# So it is: the embedding counts as a second output layer (it is a look-up): 7 % more for Llama 3.1 8B, 23 % for Qwen 2.5
# 0.5B, 54 % for Gemma 3 270M. For Qwen3-VL the width of its heads is not read from the configuration (80 for 128), so
# that its text has 0.96 of the truth, and the merger of image tokens counts for each of the 4 that it merges: 1.15. The
# peak is that of the first name in the table that is a part of the card's: an RTX A4000 is an A40 (150 TFLOP/s for 77), an
# H100 PCIe an SXM. Of a card without a row (L4, RTX 4090, B300) the peak is infinite and the MFU 0.
# Why: reinforcement learning is tried on small models, whose MFU looks best where the embedding is largest.
# Versions: verl 0.9.1 (its counter without the rest of the package), transformers 5.5.4, torch 2.13.0.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q transformers==5.5.4 torch==2.13.0 numpy==2.4.6
"$tmp/venv/bin/pip" install -q --no-deps verl==0.9.1
cd "$tmp"
HF_HUB_OFFLINE=1 HF_HOME="$tmp" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, sys, types, torch, transformers
folder = importlib.metadata.distribution("verl").locate_file("verl")
for name, path in ("verl", folder), ("verl.utils", folder / "utils"):  # Their __init__ needs Ray.
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(path)]
from verl.utils.flops_counter import FlopsCounter, get_device_flops
print("verl", importlib.metadata.version("verl"))
torch.cuda.get_device_name = lambda: "NVIDIA H100 80GB HBM3"
TOKENS = 4096
NAMES = "hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads head_dim vocab_size".split()


def true_flops(hidden, inner, layers, heads, keys, of_head, words, local=0, window=TOKENS):
    matrices = layers * (2 * hidden * heads * of_head + 2 * hidden * keys * of_head + 3 * hidden * inner) + hidden * words
    # Six FLOPs a token and weight; of the attention's two products the causal half, three times, in local layers a band.
    pairs = (layers - local) * TOKENS**2 / 2 + local * (TOKENS * window - window**2 / 2)
    return 6 * TOKENS * matrices + 12 * heads * of_head * pairs


for title, family, numbers, more, *band in (("Llama 3.1 8B", "Llama", (4096, 14336, 32, 32, 8, 128, 128256), {}),
                                            ("Llama 3.2 3B", "Llama", (3072, 8192, 28, 24, 8, 128, 128256), {}),
                                            ("Qwen 3 1.7B", "Qwen3", (2048, 6144, 28, 16, 8, 128, 151936), {}),
                                            ("Qwen 2.5 0.5B", "Qwen2", (896, 4864, 24, 14, 2, 64, 151936), {}),
                                            ("Gemma 3 270M", "Gemma3Text", (640, 2048, 18, 4, 1, 256, 262144), {"sliding_window": 512}, 15, 512)):
    config = getattr(transformers, family + "Config")(**dict(zip(NAMES, numbers)), tie_word_embeddings=True, **more)
    shown = FlopsCounter(config).estimate_flops([TOKENS], 1.0)[0]
    print(f"{title}: {shown:.1f} TFLOP, {shown * 1e12 / true_flops(*numbers, *band):.2f} of the true ones")
text = dict(zip(NAMES, (2560, 9728, 36, 32, 8, 128, 151936)))
vision = dict(hidden_size=1024, intermediate_size=4096, depth=24, num_heads=16, patch_size=16, temporal_patch_size=2, in_channels=3, spatial_merge_size=2,
              out_hidden_size=2560, deepstack_visual_indexes=[5, 11, 17])
counter = FlopsCounter(transformers.Qwen3VLConfig(text_config=text, vision_config=vision))
without = counter.estimate_flops([TOKENS], 1.0)[0]
image = counter.estimate_flops([TOKENS], 1.0, images_seqlens=[TOKENS])[0] - without
merger = (4 * 1024) ** 2 + 4 * 1024 * 2560  # For each four patches, and for each of the three layers that go deep.
true_image = 6 * TOKENS * (1024 * 3 * 2 * 16**2 + 24 * (4 * 1024**2 + 2 * 1024 * 4096)) + 6 * TOKENS / 4 * 4 * merger + 12 * 24 * 1024 * TOKENS**2
print(f"Qwen3-VL 4B: text {without * 1e12 / true_flops(*text.values()):.2f}, an image of {TOKENS} patches {image * 1e12 / true_image:.2f} of the true ones")
print("TFLOP/s:", {card: get_device_flops("T", card) for card in (
    "NVIDIA RTX A4000", "NVIDIA A40", "NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3", "NVIDIA L4", "NVIDIA GeForce RTX 4090", "NVIDIA B300 SXM6 AC")})
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
verl 0.9.1
Llama 3.1 8B: 210.5 TFLOP, 1.07 of the true ones
Llama 3.2 3B: 97.3 TFLOP, 1.11 of the true ones
Qwen 3 1.7B: 55.7 TFLOP, 1.16 of the true ones
Qwen 2.5 0.5B: 17.6 TFLOP, 1.23 of the true ones
Gemma 3 270M: 11.2 TFLOP, 1.54 of the true ones
Qwen3-VL 4B: text 0.96, an image of 4096 patches 1.15 of the true ones
TFLOP/s: {'NVIDIA RTX A4000': 149.7, 'NVIDIA A40': 149.7, 'NVIDIA H100 PCIe': 989.0, 'NVIDIA H100 80GB HBM3': 989.0, 'NVIDIA L4': inf, 'NVIDIA GeForce RTX 4090': inf, 'NVIDIA B300 SXM6 AC': inf}
END
