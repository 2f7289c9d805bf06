#include "collect/nvml/open.h"

#include <fmt/format.h>

#include "collect/watched_call.h"

namespace gf {

Error no_answer(Nanos limit, const std::string& what) {
  return {fmt::format("the NVIDIA driver has not answered for {} s, asked for {}",
                      limit / kNsPerSecond, what),
          {},
          -1,
          "does nvidia-smi answer? see dmesg for Xid errors"};
}

Result<std::shared_ptr<Nvml>> open_nvml(int wake_fd) {
  constexpr Nanos kPatience = 30 * kNsPerSecond;
  using Opened = Result<std::shared_ptr<Nvml>>;
  WatchedThread thread;
  const auto answer = std::make_shared<std::optional<Opened>>();
  const auto end = thread.run(
      [answer] {
        auto nvml = Nvml::open();
        if (nvml)
          answer->emplace(std::make_shared<Nvml>(std::move(*nvml)));
        else
          answer->emplace(tl::unexpected(nvml.error()));
      },
      kPatience, wake_fd);
  if (end == CallEnd::returned) return std::move(**answer);
  if (end == CallEnd::interrupted) return fail("interrupted before the NVIDIA driver answered");
  return tl::unexpected(no_answer(kPatience, "its GPUs"));
}

}  // namespace gf
