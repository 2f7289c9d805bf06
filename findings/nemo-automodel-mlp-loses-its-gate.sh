#!/usr/bin/env bash
# Guess: the FLOPs behind NeMo Automodel's MFU are those of the model's matrices, whatever family its configuration is of,
# and a family without a formula has none, or says so.
# So it is: a family that is not in its table gets a formula with two matrices in the MLP, not the three of a gated one,
# heads as wide as the model allows, and every second layer a mixture of experts. The numbers of Llama 3.1 8B are
# 1.00 of the truth as LlamaConfig and 0.77 as MistralConfig; Phi 4 has 0.76, Gemma 2 0.75, OLMoE 0.62, Qwen1.5 MoE
# 0.89. Mixtral, Qwen 2 and 3 are right.
# Why: MFU is a quarter too low for one model and right for the next, so that a good run looks like a slow one.
# Versions: nemo-automodel 0.7.0, transformers 5.18.0 (without torch).
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q transformers==5.18.0
"$tmp/venv/bin/pip" install -q --no-deps nemo-automodel==0.7.0
cd "$tmp"
HF_HUB_OFFLINE=1 HF_HOME="$tmp" "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, transformers
from nemo_automodel.components.utils.flops_utils import get_flops_formula_for_hf_config
print("nemo-automodel", importlib.metadata.version("nemo-automodel"), "transformers", transformers.__version__)
TOKENS = 4096
NAMES = "hidden_size intermediate_size num_hidden_layers num_attention_heads num_key_value_heads vocab_size".split()
LLAMA = 4096, 14336, 32, 32, 8, 128256
# Family, the numbers of NAMES, what else the configuration has, and the width of the MLPs that one token meets.
MODELS = {"Llama 3.1 8B": ("Llama", LLAMA, {}, 14336), "the same as Mistral": ("Mistral", LLAMA, {}, 14336), "the same as OLMo 2": ("Olmo2", LLAMA, {}, 14336),
          "Mistral 7B": ("Mistral", (4096, 14336, 32, 32, 8, 32768), {}, 14336), "Phi 4": ("Phi3", (5120, 17920, 40, 40, 10, 100352), {}, 17920),
          "SmolLM3 3B": ("SmolLM3", (2048, 11008, 36, 16, 4, 128256), {}, 11008), "Gemma 2 9B": ("Gemma2", (3584, 14336, 42, 16, 8, 256000), {"head_dim": 256}, 14336),
          "Qwen 2.5 7B": ("Qwen2", (3584, 18944, 28, 28, 4, 152064), {}, 18944), "Qwen 3 8B": ("Qwen3", (4096, 12288, 36, 32, 8, 151936), {"head_dim": 128}, 12288),
          "Mixtral 8x7B": ("Mixtral", (4096, 14336, 32, 32, 8, 32000), {"num_experts_per_tok": 2}, 2 * 14336),
          "OLMoE 1B-7B": ("Olmoe", (2048, 1024, 16, 16, 16, 50304), {"num_experts_per_tok": 8}, 8 * 1024),
          "Qwen1.5 MoE A2.7B": ("Qwen2Moe", (2048, 5632, 24, 16, 16, 151936), {"num_experts_per_tok": 4, "moe_intermediate_size": 1408,
                                                                             "shared_expert_intermediate_size": 5632}, 4 * 1408 + 5632)}
for title, (family, numbers, more, width) in MODELS.items():
    config = getattr(transformers, family + "Config")(**dict(zip(NAMES, numbers)), pad_token_id=0, bos_token_id=1, eos_token_id=2, **more)
    hidden, _, layers, heads, keys, words = numbers
    of_head = more.get("head_dim", hidden // heads)
    matrices = layers * (2 * hidden * heads * of_head + 2 * hidden * keys * of_head + 3 * hidden * width) + hidden * words
    # Six FLOPs a token and weight; of the attention's two products the causal half, three times.
    true = TOKENS * (6 * matrices + 6 * layers * heads * of_head * TOKENS)
    formula = get_flops_formula_for_hf_config(config)
    print(f"{title}: {formula.__name__}, {formula(config, gbs=1, seq_len=TOKENS) / true:.2f} of the true {true / 1e12:.0f} TFLOP")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
nemo-automodel 0.7.0 transformers 5.18.0
Llama 3.1 8B: llama2_flops, 1.00 of the true 198 TFLOP
the same as Mistral: transformer_flops, 0.77 of the true 198 TFLOP
the same as OLMo 2: transformer_flops, 0.77 of the true 198 TFLOP
Mistral 7B: transformer_flops, 0.75 of the true 188 TFLOP
Phi 4: transformer_flops, 0.76 of the true 368 TFLOP
SmolLM3 3B: transformer_flops, 0.76 of the true 83 TFLOP
Gemma 2 9B: transformer_flops, 0.75 of the true 244 TFLOP
Qwen 2.5 7B: qwen3_flops, 1.00 of the true 184 TFLOP
Qwen 3 8B: qwen3_flops, 1.00 of the true 201 TFLOP
Mixtral 8x7B: mixtral_flops, 1.00 of the true 326 TFLOP
OLMoE 1B-7B: transformer_flops, 0.62 of the true 32 TFLOP
Qwen1.5 MoE A2.7B: transformer_flops, 0.89 of the true 63 TFLOP
END
