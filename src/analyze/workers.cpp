#include "analyze/workers.h"

#include <algorithm>

#include "core/machine.h"

namespace gf {

unsigned workers_for(const Context& context, std::size_t rows) {
  const unsigned most = worker_threads(context.options.threads);
  return static_cast<unsigned>(
      std::clamp<std::size_t>(rows / context.options.rows_a_thread, 1, most));
}

}  // namespace gf
