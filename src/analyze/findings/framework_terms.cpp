#include "analyze/findings/framework_terms.h"

#include <algorithm>
#include <array>

namespace gf {

namespace {

constexpr std::string_view kPinned =
    "Use pinned host memory and asynchronous copies, so that they overlap with kernels.";

constexpr std::array kTerms{
    FrameworkTerms{
        .framework = "",
        .captures_graphs = true,
        .synchronizing = "an explicit synchronize, a value or loss that is fetched or printed; in "
                         "PyTorch .item() and .cpu()",
        .launch_less = "fuse operations, or use a larger batch.",
        .next_input = "Load and copy the next batch while the step runs.",
        .pinned = kPinned,
        .fuse = "Fuse adjacent kernels.",
        .fuse_tiny = "",
        .attention = "",
        .one_batch = "",
        .in_place = "",
        .nhwc = "NHWC",
        .allow_tf32 = "Allow TF32 or use mixed precision",
        .mixed_precision = "mixed precision",
    },
    FrameworkTerms{
        .framework = "pytorch",
        .captures_graphs = true,
        .synchronizing = ".item(), .cpu(), printing a loss, explicit synchronize",
        .launch_less = "fuse operations, or use a larger batch.",
        .next_input = "Prepare and copy the next batch while the step runs (a data loader with "
                      "workers, pinned memory and non_blocking copies).",
        .pinned = "Use pinned host memory (pin_memory=True) and non_blocking copies, so that they "
                  "overlap with kernels.",
        .fuse = "torch.compile fuses adjacent kernels.",
        .fuse_tiny = " (torch.compile, foreach or fused optimizers) or batch the work",
        .attention = " (torch.nn.functional.scaled_dot_product_attention)",
        .one_batch = " (one tensor with a dimension more, torch.bmm, torch.vmap)",
        .in_place = "",
        .nhwc = "memory_format=torch.channels_last",
        .allow_tf32 = "Allow TF32 (torch.backends.cuda.matmul.allow_tf32 and "
                      "torch.backends.cudnn.allow_tf32) or use torch.autocast in BF16",
        .mixed_precision = "torch.autocast",
    },
    FrameworkTerms{
        .framework = "jax",
        .captures_graphs = false,
        .synchronizing = "block_until_ready, jax.device_get, float() or np.asarray() of an array, "
                         "printing a loss",
        .launch_less = "put the whole step into one jax.jit, run several steps in one call "
                       "(jax.lax.scan), or use a larger batch.",
        .next_input = "Load the next batch and copy it (jax.device_put) while the step runs.",
        .pinned = "Call jax.device_put before the step needs the data, so that copies overlap with "
                  "kernels.",
        .fuse = "Put adjacent operations into one jax.jit, which fuses them.",
        .fuse_tiny = "",
        .attention = " (jax.nn.dot_product_attention with implementation=\"cudnn\")",
        .one_batch = " (jax.vmap)",
        .in_place = " (donate buffers: jax.jit with donate_argnums)",
        .nhwc = "NHWC",
        .allow_tf32 = "Allow TF32 (jax.default_matmul_precision(\"tensorfloat32\"), no "
                      "precision=HIGHEST) or use BF16",
        .mixed_precision = "mixed precision",
    },
    FrameworkTerms{
        .framework = "tensorflow",
        .captures_graphs = false,
        .synchronizing = ".numpy(), printing a loss, a metric's result() at every step",
        .launch_less = "put the whole step into one tf.function (jit_compile=True fuses it), or "
                       "use a larger batch.",
        .next_input = "Prepare and copy the next batch while the step runs (tf.data with "
                      "prefetch).",
        .pinned = kPinned,
        .fuse = "tf.function with jit_compile=True fuses adjacent kernels.",
        .fuse_tiny = " (tf.function with jit_compile=True)",
        .attention = "",
        .one_batch = " (tf.vectorized_map)",
        .in_place = "",
        .nhwc = "NHWC",
        .allow_tf32 = "Allow TF32 (tf.config.experimental.enable_tensor_float_32_execution) or "
                      "use tf.keras.mixed_precision",
        .mixed_precision = "tf.keras.mixed_precision",
    },
};

}  // namespace

const FrameworkTerms& terms_of_framework(std::string_view framework) {
  const auto known = std::ranges::find(kTerms, framework, &FrameworkTerms::framework);
  return known == kTerms.end() ? kTerms.front() : *known;
}

}  // namespace gf
