#include "collect/which_tool.h"

namespace gf {

namespace {

DoctorCheck running(const ToolFacts& facts) {
  DoctorCheck out{"is it used at all", "ok", {}, {}};
  if (facts.gpm)
    out.detail = "gpufathom monitor: GPU busy and SM active";
  else if (facts.pm_sampling)
    out.detail = "gpufathom monitor --source pm: GPU busy and SM active";
  else if (facts.nvidia_smi)
    out = {
        out.name, "warning", "nvidia-smi, or gpufathom monitor: power against its limit",
        "utilisation is only the share of time in which some kernel ran: one thread gives 100 %"};
  else
    out = {out.name, "warning", "gpufathom monitor: power against its limit", {}};
  return out;
}

DoctorCheck how_deep(const ToolFacts& facts) {
  if (facts.pm_sampling)
    return {"how deep is it used",
            "ok",
            "gpufathom record -- PROGRAM: issue slots, tensor and DRAM active, by the millisecond",
            {}};
  if (facts.gpm && !facts.mig)
    return {"how deep is it used", "warning",
            "gpufathom record -- PROGRAM: SM, tensor and DRAM active at 10 Hz; no issue slots",
            "hardware counters give the rest: see pm sampling above"};
  if (facts.gpm)
    return {"how deep is it used",
            "warning",
            "gpufathom record, or monitor: SM, tensor and DRAM active of each MIG instance",
            {}};
  return {"how deep is it used", "missing", "nothing here sees levels: power is the nearest hint",
          "hardware counters would: see pm sampling above"};
}

DoctorCheck why_idle(const ToolFacts& facts) {
  if (facts.kernels)
    return {"which kernels, why idle",
            "ok",
            "gpufathom record --kernels -- PROGRAM, then analyze: the idle causes, not the share",
            {}};
  return {"which kernels, why idle", "warning",
          "torch.profiler for a few steps, then gpufathom analyze of its trace",
          "its own cost is idle time too: +13 to +31 % were measured"};
}

DoctorCheck inside_a_kernel(const ToolFacts& facts) {
  if (facts.ncu)
    return {"inside one kernel",
            "ok",
            "ncu for a few launches (each is replayed: 0.4 s), then analyze --counters",
            {}};
  if (facts.pm_sampling && facts.kernels)
    return {"inside one kernel", "warning",
            "gpufathom record --kernels --rate 5000, then analyze: rates solved from samples",
            "ncu is not on the PATH: it counts what samples can only bound"};
  return {"inside one kernel", "missing", "ncu is not on the PATH", "install Nsight Compute"};
}

DoctorCheck joules(const ToolFacts& facts) {
  if (facts.pm_sampling)
    return {"where the energy goes",
            "ok",
            "gpufathom record --metrics energy -- PROGRAM, then energy",
            {}};
  return {"where the energy goes", "warning",
          "gpufathom record -- PROGRAM: joules of the whole GPU, not by component",
          "hardware counters tell components apart: see pm sampling above"};
}

}  // namespace

std::vector<DoctorCheck> which_tool(const ToolFacts& facts) {
  DoctorCheck line{"which line of code",
                   "ok",
                   "torch.profiler for a few steps, then gpufathom analyze of its trace",
                   {}};
  return {running(facts),  how_deep(facts),        why_idle(facts),
          std::move(line), inside_a_kernel(facts), joules(facts)};
}

}  // namespace gf
