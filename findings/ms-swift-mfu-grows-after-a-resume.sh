#!/usr/bin/env bash
# Guess: the MFU that ms-swift logs (callback perf_log) is FLOPs over the time of training, also after training is resumed from a
# checkpoint, and a slow loader lowers it.
# So it is: it divides all FLOPs since the first step ever by the time since the resume: a run at an MFU of 0.5 that stops
# at step 90 and goes on to 100 logs 5.0 at the end, and at its first step 45.5. The time is that from the beginning to the
# end of steps: the wait for the next batch, evaluation and checkpoints are left out, so that a loader that takes 9 times
# as long as the step leaves 0.5 where 0.05 is true.
# Why: the longer a run before its last stop, the better it looks, and starving GPUs do not show.
# Versions: ms-swift 4.6.0, transformers 5.18.0, torch 2.13.0 (CPU). The clock is stood in for.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q torch==2.13.0 numpy==2.4.6 transformers==5.18.0 accelerate==1.15.0 modelscope==1.40.2 datasets==5.2.0 json_repair==0.64.6
"$tmp/venv/bin/pip" install -q --no-deps ms-swift==4.6.0
cd "$tmp"
HOME="$tmp" HF_HUB_OFFLINE=1 HF_HOME="$tmp" MODELSCOPE_CACHE="$tmp" DEVICE_TFLOPS=2 "$tmp/venv/bin/python" - >"$tmp/seen" 2>"$tmp/err" <<'PY' || { tail -n 5 "$tmp/err"; exit 1; }
import types, torch
from swift.callbacks import perf_log
from swift.version import __version__
from transformers import Trainer, TrainerCallback, TrainingArguments
STEP, FLOPS, now = 0.01, 1e10, 0.0  # A step does 1 TFLOP/s, the device is said to do 2.
perf_log.time = types.SimpleNamespace(time=lambda: now)


class Model(torch.nn.Module):
    dtype, main_input_name = torch.float32, "x"

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def num_parameters(self, exclude_embeddings):
        return FLOPS / 6 / 4  # Trainer takes six FLOPs for each of them and each element of x.

    def forward(self, x, labels):
        global now
        now += STEP
        return {"loss": (self.layer(x).squeeze(-1) - labels).square().mean()}


class Data(torch.utils.data.Dataset):
    def __init__(self, wait):
        self.wait = wait

    def __len__(self):
        return 100

    def __getitem__(self, index):
        global now
        now += self.wait
        return {"x": torch.ones(4), "labels": torch.tensor(1.0)}


class Seen(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **_):
        if "MFU" in logs:
            seen[state.global_step] = logs["MFU"]


def train(title, wait=0.0, checkpoint=None, folder="out"):
    global seen
    seen = {}
    arguments = TrainingArguments(output_dir=folder, max_steps=100, per_device_train_batch_size=1, save_steps=90, logging_steps=1, report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=Model(), args=arguments, train_dataset=Data(wait), callbacks=[])
    for callback in perf_log.PerfMetricsLogCallback(arguments, trainer), Seen():
        trainer.add_callback(callback)
    trainer.callback_handler.callbacks[-2].on_init_end(arguments, trainer.state, trainer.control, model=trainer.model)
    start = now
    trainer.train(resume_from_checkpoint=checkpoint)
    steps = sorted(seen)
    true = FLOPS * (steps[-1] - steps[0] + 1) / (now - start) / 2e12
    print(f"{title}:", ", ".join(f"MFU at step {step} {seen[step]:.2f}" for step in (steps[0], steps[-1])), f"true {true:.2f}")


print("ms-swift", __version__)
train("100 steps")
train("from the checkpoint of step 90", checkpoint="out/checkpoint-90")
train("a loader of 90 ms a batch", wait=0.09, folder="slow")
PY
grep -v '^{' "$tmp/seen" >"$tmp/lines"
cat "$tmp/lines"
diff "$tmp/lines" - <<'END'
ms-swift 4.6.0
100 steps: MFU at step 1 0.50, MFU at step 100 0.50 true 0.50
from the checkpoint of step 90: MFU at step 91 45.50, MFU at step 100 5.00 true 0.50
a loader of 90 ms a batch: MFU at step 1 0.50, MFU at step 100 0.50 true 0.05
END
