// Which tool and which metric to take for which question on the machine at hand; docs/which-tool.md
// has the figures behind it.
#pragma once

#include <string>
#include <vector>

#include "collect/doctor.h"

namespace gf {

/// What an examination found.
struct ToolFacts {
  bool pm_sampling = false, gpm = false, mig = false;  // on some GPU
  bool kernels = false;                                // record --kernels works
  bool nvidia_smi = false, ncu = false;                // on the PATH
};

/// One a question: the name is the question, the detail the command and what to read of it.
std::vector<DoctorCheck> which_tool(const ToolFacts& facts);

}  // namespace gf
