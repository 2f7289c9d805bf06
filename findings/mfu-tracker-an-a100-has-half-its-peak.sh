#!/usr/bin/env bash
# Guess: mfu-tracker's peak, which it derives "from first principles", is the dense one of the data sheet, and its FLOPs are
# those of the step, whatever layers it has and whatever is frozen.
# So it is: its operations a clock are an A100's TF32 taken for FP16: 156 TFLOP/s for 312; an A10 has half, an L40S and L4
# twice, an RTX 4090 four times the peak of the data sheet. T4, V100, H100 and B200 are right. A step is three times the
# forward pass in eval mode, without gradients: torch's own encoder layers then have 0 FLOPs (they take a fused path that the
# counter does not know), and fine-tuning by LoRA counts gradients of frozen weights: 1.49 of what runs.
# Why: 200 TFLOP/s of an A100 are an MFU of 128 %, and 80 % of what an RTX 4090 can do is 20 %.
# Versions: mfu-tracker 0.3.0, torch 2.13.0 (CPU). The cards' properties are stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6
"$tmp/venv/bin/pip" install -q --no-deps mfu-tracker==0.3.0
cd "$tmp"
"$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import importlib.metadata, types, torch, mfu_tracker
from mfu_tracker.flops import profile_flops
from mfu_tracker.gpu import get_gpu_spec
from mfu_tracker.tracker import compute_mfu
from torch.utils.flop_counter import FlopCounterMode
print("mfu-tracker", importlib.metadata.version("mfu-tracker"))
# Capability, SMs, boost clock, and the dense FP16 peak of the data sheet with FP32 accumulation, TFLOP/s.
CARDS = {"T4": ((7, 5), 40, 1590, 65), "V100-SXM2": ((7, 0), 80, 1530, 125), "A100-SXM4-80GB": ((8, 0), 108, 1410, 312), "A10": ((8, 6), 72, 1695, 125),
         "L4": ((8, 9), 58, 2040, 121), "L40S": ((8, 9), 142, 2520, 362), "GeForce RTX 4090": ((8, 9), 128, 2520, 165), "H100 80GB HBM3": ((9, 0), 132, 1980, 989),
         "B200": ((10, 0), 148, 1965, 2250)}
for name, (capability, sms, clock, peak) in CARDS.items():
    torch.cuda.get_device_properties = lambda device: types.SimpleNamespace(
        name="NVIDIA " + name, major=capability[0], minor=capability[1], multi_processor_count=sms, clock_rate=clock * 1000, memory_clock_rate=10**6, memory_bus_width=1024)
    spec = get_gpu_spec()
    print(f"{name}: {spec.peak_tflops('bf16' if capability >= (8, 0) else 'fp16'):.0f} TFLOP/s, data sheet {peak}; at 80 % of it the MFU is "
          f"{compute_mfu(int(0.8 * peak * 1e12), 1.0, spec=spec):.2f}")


def counted(model, x):
    with FlopCounterMode(display=False) as counter:
        model(x).sum().backward()
    return counter.get_total_flops()


class Lora(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.base, self.a, self.b = (torch.nn.Linear(*size, bias=False) for size in ((1024, 1024), (1024, 8), (8, 1024)))
        self.base.weight.requires_grad = False

    def forward(self, x):
        return self.base(x) + self.b(self.a(x))


torch.manual_seed(0)
layers = {"8 linear layers": [torch.nn.Linear(1024, 1024) for _ in range(8)], "8 linear layers, LoRA of rank 8": [Lora() for _ in range(8)],
          "torch.nn.TransformerEncoderLayer": [torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)]}
for title, parts in layers.items():
    x = torch.randn(2, 16, 64 if "Encoder" in title else 1024, requires_grad=True)
    shown = profile_flops(torch.nn.Sequential(*parts), (x,))
    print(f"{title}: {shown} FLOPs, counted in a step {counted(torch.nn.Sequential(*parts), x)}")
PY
cat "$tmp/seen"
diff "$tmp/seen" - <<'END'
mfu-tracker 0.3.0
T4: 65 TFLOP/s, data sheet 65; at 80 % of it the MFU is 0.80
V100-SXM2: 125 TFLOP/s, data sheet 125; at 80 % of it the MFU is 0.80
A100-SXM4-80GB: 156 TFLOP/s, data sheet 312; at 80 % of it the MFU is 1.60
A10: 62 TFLOP/s, data sheet 125; at 80 % of it the MFU is 1.60
L4: 242 TFLOP/s, data sheet 121; at 80 % of it the MFU is 0.40
L40S: 733 TFLOP/s, data sheet 362; at 80 % of it the MFU is 0.40
GeForce RTX 4090: 661 TFLOP/s, data sheet 165; at 80 % of it the MFU is 0.20
H100 80GB HBM3: 1004 TFLOP/s, data sheet 989; at 80 % of it the MFU is 0.79
B200: 2233 TFLOP/s, data sheet 2250; at 80 % of it the MFU is 0.81
8 linear layers: 1610612736 FLOPs, counted in a step 1610612736
8 linear layers, LoRA of rank 8: 1635778560 FLOPs, counted in a step 1098907648
torch.nn.TransformerEncoderLayer: 0 FLOPs, counted in a step 6684672
END
