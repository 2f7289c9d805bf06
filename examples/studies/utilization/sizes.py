"""The three models' sizes, for both frameworks, and the batches of the study."""

SIZES = {
    "resnet50": {"image": 224, "width": 64, "blocks": (3, 4, 6, 3), "classes": 1000},
    "bert": {"layers": 12, "width": 768, "heads": 12, "tokens": 128, "words": 30522},
    "dlrm": {"tables": 26, "rows": 100_000, "width": 64, "bottom": (512, 256),
             "top": (1024, 1024, 512, 256)},
}
# The same model with sparse gradients, as MLPerf trains it; its rows are a model of their own.
SIZES["dlrm_sparse"] = SIZES["dlrm"]
# For a machine without a GPU: whether everything runs.
TINY = {
    "resnet50": {"image": 16, "width": 4, "blocks": (1, 1, 1, 1), "classes": 10},
    "bert": {"layers": 1, "width": 16, "heads": 2, "tokens": 8, "words": 50},
    "dlrm": {"tables": 4, "rows": 100, "width": 8, "bottom": (16,), "top": (16,)},
}
TINY["dlrm_sparse"] = TINY["dlrm"]
TINY_BATCHES = {"resnet50": (2, 4), "bert": (2, 4), "dlrm": (6, 12), "dlrm_sparse": (6, 12)}
# The batches whose kernels are looked at one by one, the one in the middle first.
COUNTED = {"resnet50": (256, 32, 1024), "bert": (128, 16, 512), "dlrm": (16384, 1024, 262144),
           "dlrm_sparse": (16384, 1024, 262144)}
CHOSEN = {model: batches[0] for model, batches in COUNTED.items()}
# The grid, by what is asked of it first; the largest last, since compilers need memory, too.
GRID = {
    "resnet50": (256, 64, 1024, 16, 512, 128, 32, 2048),
    "bert": (128, 16, 512, 4, 64, 256, 32, 8, 1024),
    "dlrm_sparse": (16384, 1024, 262144, 1048576, 65536, 4096, 2097152, 524288,
                    131072, 32768, 8192, 2048, 4194304),
}
GRID["dlrm"] = GRID["dlrm_sparse"]
