"""A tiny training run with a callback of gpufathom: training.py huggingface|lightning FOLDER. Where
FAKE_DRIVER is set, the model launches kernels on it, as a GPU's would."""

import csv
import ctypes
import os
import shutil
import sys

import torch

framework, folder = sys.argv[1:]
STEPS = 6
driver = ctypes.CDLL(os.environ["FAKE_DRIVER"]) if "FAKE_DRIVER" in os.environ else None
if driver:
    driver.cuInit(0)
kernel = [ctypes.c_char_p(b"work"), 132, 1, 1, 128, 1, 1, 0, None, None, None]
torch.manual_seed(0)


class Profiler:
    """Stands for torch.profiler where there is no GPU: a trace of one that had."""

    def start(self):
        self.steps = 0

    def step(self):
        self.steps += 1

    def stop(self):
        print("profiled steps:", self.steps)

    def export_chrome_trace(self, path):
        shutil.copy(os.environ["TRACE"], path)


if "TRACE" in os.environ:
    torch.profiler.profile = Profiler


class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def forward(self, x, y):
        if driver:
            driver.cuLaunchKernel(*kernel)
        return {"loss": torch.nn.functional.mse_loss(self.layer(x), y)}


data = [{"x": torch.randn(8), "y": torch.randn(1)} for _ in range(4 * STEPS)]
if framework == "huggingface":
    import transformers

    from gpufathom.huggingface import GpufathomCallback

    callback = GpufathomCallback(profile_steps=2, after=3, page=os.path.join(folder, "page.html"))
    arguments = transformers.TrainingArguments(
        folder,
        max_steps=STEPS,
        per_device_train_batch_size=4,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        logging_strategy="no",
    )
    trainer = transformers.Trainer(Tiny(), arguments, train_dataset=data, callbacks=[callback])
    trainer.train()
    print(
        "logged:",
        [
            row["gpufathom/gpu.busy"]
            for row in trainer.state.log_history
            if "gpufathom/gpu.busy" in row
        ],
    )
else:
    import lightning.pytorch as pl

    from gpufathom.lightning import GpufathomCallback

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = Tiny()

        def training_step(self, batch):
            return self.net(**batch)["loss"]

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    callback = GpufathomCallback(profile_steps=2, after=3, page=os.path.join(folder, "page.html"))
    logs = pl.loggers.CSVLogger(folder, version="logs")
    trainer = pl.Trainer(
        max_steps=STEPS,
        accelerator="cpu",
        callbacks=[callback],
        logger=logs,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
    )
    trainer.fit(Module(), torch.utils.data.DataLoader(data, batch_size=4))
    with open(os.path.join(logs.log_dir, "metrics.csv")) as file:
        rows = list(csv.DictReader(file))
    print(
        "logged:",
        [float(row["gpufathom/gpu.busy"]) for row in rows if row.get("gpufathom/gpu.busy")],
    )
if callback.capture:
    print("busy:", callback.capture.levels()[0].value)
