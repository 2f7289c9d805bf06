#include "import/kineto/fields.h"
#include "import/kineto/rows.h"

namespace gf::kineto {

namespace {

// Names without underscores are those of 2021.
constexpr std::pair<std::string_view, Category> kNames[] = {
    {"cpu_op", Category::cpu_op},
    {"ac2g",
     Category::ignored},  // launch arrows: args.correlation says the same, and more reliably
    {"cuda_runtime", Category::runtime},
    {"kernel", Category::kernel},
    {"python_function", Category::python_function},
    {"cuda_driver", Category::runtime},
    {"fwdbwd", Category::flow},
    {"gpu_memcpy", Category::memcpy},
    {"gpu_memset", Category::memset},
    {"user_annotation", Category::user_annotation},
    {"gpu_user_annotation", Category::gpu_annotation},
    {"cuda_profiler_range", Category::profiled_range},
    {"cpu_instant_event", Category::instant},
    {"hardware_counters", Category::counters},
    {"cuda_sync", Category::sync},
    {"cuda_event", Category::sync},
    {"overhead", Category::overhead},
    {"Operator", Category::cpu_op},
    {"async", Category::ignored},
    {"forward_backward", Category::flow},
    {"Runtime", Category::runtime},
    {"Kernel", Category::kernel},
    {"Memcpy", Category::memcpy},
    {"Memset", Category::memset},
    {"Trace", Category::ignored},  // the profiler's own span over everything
    {"external_correlation", Category::ignored},
    {"xpu_runtime", Category::runtime},
    {"xpu_driver", Category::runtime},
    {"hip_runtime", Category::runtime},
    {"mtia_runtime", Category::runtime},
    {"glow_runtime", Category::runtime},
    {"privateuse1_runtime", Category::runtime},
    {"privateuse1_driver", Category::runtime},
};

constexpr KeyTable kCategories(kNames, Category::other_host);

}  // namespace

Category category_of(std::string_view cat) { return kCategories.find(cat); }

}  // namespace gf::kineto
