"""Lightning as a script sets it up, without files and bars."""
import pytorch_lightning
from torch.utils.data import DataLoader

Module = pytorch_lightning.LightningModule


def trainer(setting, **how):
    return pytorch_lightning.Trainer(
        accelerator="gpu" if setting.cuda else "cpu", devices=1, precision="bf16-mixed",
        logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, **how,
    )


def loader(batch, steps):
    """The same batch, which is on the GPU already, again and again."""
    return DataLoader([batch] * steps, batch_size=None)
