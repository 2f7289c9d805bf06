#include "analyze/runtime/rules.h"

namespace gf {

namespace {

using enum RuntimePhase;

// TensorFlow, eager and tf.function. The eager runtime names the Python side EagerExecute and
// EagerLocalExecute; the side that takes a node from the queue, EagerKernelExecute. In SYNC mode
// the second stands inside the first, in ASYNC mode it runs on the thread eager_async_executor.
constexpr PhaseRule kTensorFlow[] = {
    {Match::prefix, "EagerLocalExecute: ", enqueue,
     "tensorflow/core/common_runtime/eager/execute.cc", true, Unless::never, other,
     QueueSide::enters},
    {Match::exact, "EagerKernelExecute", dequeue, "tensorflow/core/common_runtime/eager/execute.cc",
     false, Unless::never, other, QueueSide::leaves},
    {Match::prefix, "EagerExecute", enqueue, "tensorflow/core/common_runtime/eager/execute.cc"},
    {Match::prefix, "TFE_Py_FastPathExecute", enqueue, "tensorflow/python/eager/pywrap_tfe_src.cc"},
    {Match::prefix, "TFE_Py_Execute", enqueue, "tensorflow/python/eager/pywrap_tfe_src.cc"},
    {Match::exact, "ValidateInputTypeAndPlacement", enqueue,
     "tensorflow/core/common_runtime/eager/execute.cc"},
    {Match::exact, "TFE_DeleteTensorHandle", enqueue, "tensorflow/c/eager/c_api.cc"},
    {Match::prefix, "EagerCopyToDevice", RuntimePhase::memcpy,
     "tensorflow/core/common_runtime/eager/tensor_handle.cc"},
    {Match::prefix, "KernelAndDevice", cpu_kernel,
     "tensorflow/core/common_runtime/eager/kernel_and_device.cc", false, Unless::hands_on, wait},
    {Match::exact, "FunctionRun", enqueue,
     "tensorflow/core/common_runtime/process_function_library_runtime.cc", false, Unless::never,
     other, QueueSide::none, "function"},
    {Match::prefix, "SessionRun", enqueue, "tensorflow/core/common_runtime/direct_session.cc"},
    {Match::prefix, "ExecutorState::", dequeue, "tensorflow/core/common_runtime/executor.cc"},
    {Match::prefix, "ExecutorDoneCallback", dequeue, "tensorflow/core/common_runtime/executor.cc"},
    {Match::prefix, "IteratorGetNext", wait, "tensorflow/core/kernels/data/iterator_ops.cc"},
    {Match::prefix, "Iterator::", wait, "tensorflow/core/framework/dataset.cc"},
    {Match::suffix, " WaitReady", wait, "tensorflow/core/common_runtime/eager/tensor_handle.cc"},
    {Match::typed, "", cpu_kernel,
     "tensorflow/core/framework/op_kernel.cc, tsl/profiler/lib/traceme_encode.h (TraceMeOp)", true,
     Unless::launches, launch},
};

// XLA and PJRT, below TensorFlow and JAX alike.
constexpr PhaseRule kXla[] = {
    {Match::prefix, "end: ", cpu_kernel, "xla/service/cpu/cpu_runtime.cc"},
    {Match::compiled, "", cpu_kernel, "xla/backends/cpu/runtime/thunk_executor.cc", true,
     Unless::launches, launch, QueueSide::none, "xla"},
    {Match::prefix, "CpuExecutable::", dequeue, "xla/service/cpu/cpu_executable.cc", false,
     Unless::never, other, QueueSide::none, "xla"},
    // Work that its operation gave to threads of a library, whose own time nobody wrote down.
    {Match::prefix, "ThunkExecutor::Execute (wait", wait,
     "xla/backends/cpu/runtime/thunk_executor.cc"},
    {Match::prefix, "ThunkExecutor::", dequeue, "xla/backends/cpu/runtime/thunk_executor.cc"},
    {Match::prefix, "BlockUntilReady", wait, "xla/pjrt"},
    {Match::prefix, "BlockHostUntilReady", wait, "xla/stream_executor/stream.cc"},
    {Match::prefix, "Wait for ", wait, "xla/pjrt/abstract_tracked_device_buffer.cc"},
    {Match::suffix, "::WaitFor", wait, "xla/pjrt/local_device_state.cc"},
    {Match::contains, "::Await", wait, "xla/pjrt"},
    {Match::prefix, "ComputeSemaphoreAcquire", wait, "xla/pjrt/local_device_state.cc"},
    {Match::contains, "CopyToDevice", RuntimePhase::memcpy,
     "xla/pjrt/pjrt_stream_executor_client.cc"},
    {Match::contains, "ToLiteral", RuntimePhase::memcpy, "xla/pjrt/pjrt_stream_executor_client.cc"},
    {Match::contains, "BufferFromHost", RuntimePhase::memcpy, "xla/pjrt"},
    {Match::contains, "Transfer", RuntimePhase::memcpy, "xla/pjrt"},
    {Match::contains, "D2H Dispatch", RuntimePhase::memcpy, "xla/pjrt"},
    {Match::contains, "H2D Dispatch", RuntimePhase::memcpy, "xla/pjrt"},
    {Match::prefix, "command_buffer", launch, "xla/backends/gpu/runtime/command_buffer_thunk.cc"},
    {Match::contains, "GpuExecutable::", dequeue, "xla/service/gpu/gpu_executable.cc", false,
     Unless::never, other, QueueSide::none, "xla"},
    {Match::prefix, "Thunks::", dequeue, "xla/service/gpu/gpu_executable.cc"},
    {Match::contains, ":XLA GPU module", dequeue, "xla/service/gpu/gpu_executable.cc"},
    {Match::contains, "LoadedExecutable::", dequeue, "xla/pjrt"},
    {Match::prefix, "PJRT_LoadedExecutable_Execute", dequeue,
     "xla/pjrt/c/pjrt_c_api_wrapper_impl.cc"},
};

// JAX: the Python side is the call of a jitted function; all below it is PJRT.
constexpr PhaseRule kJax[] = {
    {Match::prefix, "PjitFunction(", enqueue, "jaxlib/pjit.cc", true, Unless::never, other,
     QueueSide::none, "jit"},
    {Match::prefix, "PmapFunction(", enqueue, "jaxlib/pmap_lib.cc", true},
    {Match::exact, "ParseArguments", enqueue, "jaxlib/pjit.cc"},
    {Match::prefix, "PythonRefManager::", enqueue, "xla/python/python_ref_manager.cc"},
};

// PyTorch. Eager operations run on the thread that calls them: there is no queue of the framework's
// own, except the autograd engine's ready queue, whose takers name themselves evaluate_function.
// Operations that only rearrange what a tensor says of its memory, or allocate, compute nothing:
// they are the framework's own cost, like the dispatch of those that launch.
constexpr PhaseRule kPyTorch[] = {
    {Match::prefix, "autograd::engine::evaluate_function: ", dequeue,
     "torch/csrc/autograd/engine.cpp", true},
    {Match::prefix, "enumerate(DataLoader)", wait, "torch/utils/data/dataloader.py"},
    {Match::prefix, "aten::_local_scalar_dense", wait, "aten/src/ATen/native/cuda/CUDAScalar.cu",
     true},
    {Match::prefix, "aten::item", wait, "aten/src/ATen/native/Scalar.cpp", true},
    {Match::prefix, "aten::empty", enqueue, "aten/src/ATen/native/TensorFactories.cpp", true},
    {Match::prefix, "aten::view", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::reshape", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::as_strided", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::transpose", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::exact, "aten::t", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::permute", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::expand", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::slice", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::select", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::squeeze", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::unsqueeze", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::detach", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "detach", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::resize_", enqueue, "aten/src/ATen/native/Resize.cpp", true},
    {Match::prefix, "aten::set_", enqueue, "aten/src/ATen/native/TensorShape.cpp", true},
    {Match::prefix, "aten::is_", enqueue, "aten/src/ATen/native", true},
    {Match::prefix, "aten::to", enqueue, "aten/src/ATen/native/TensorConversions.cpp", true},
    {Match::prefix, "aten::result_type", enqueue, "aten/src/ATen/native/TypeProperties.cpp", true},
    {Match::prefix, "aten::", cpu_kernel, "aten/src/ATen/native", true, Unless::nested, enqueue,
     QueueSide::none, "eager"},
    {Match::prefix, "Torch-Compiled Region", enqueue, "torch/_dynamo/eval_frame.py", true,
     Unless::never, other, QueueSide::none, "compile"},
    {Match::prefix, "TorchDynamo Cache Lookup", enqueue, "torch/csrc/dynamo/eval_frame.c", true},
    {Match::prefix, "## Call CompiledFxGraph", enqueue, "torch/_inductor/output_code.py", true,
     Unless::never, other, QueueSide::none, "compile"},
    {Match::prefix, "triton_", enqueue, "torch/_inductor/runtime/triton_heuristics.py", true},
    {Match::contains, "Backward", enqueue, "torch/csrc/autograd/generated", true},
    {Match::contains, "::", enqueue, "torch/csrc, extensions", true},
};

/// The operation's type as people know it: without the rule's prefix,
/// "autograd::engine::evaluate_function: " and the like.
std::string_view operation_type(const Capture& capture, std::uint32_t row, const PhaseRule& rule) {
  const auto name = capture.text(capture.host_ops.name[row]),
             type = capture.text(capture.host_ops.op_type[row]);
  if (rule.match == Match::compiled) {  // fusion.12 and fusion.13 are two of one type
    const auto digits = type.find_last_not_of("0123456789");
    if (digits != type.npos && digits + 1 < type.size() && type[digits] == '.' && digits > 0)
      return type.substr(0, digits);
    return type;
  }
  if (!type.empty()) return type;
  if (rule.match == Match::prefix && name.size() > rule.text.size() &&
      (rule.text.ends_with(' ') || rule.text.ends_with('('))) {
    auto rest = name.substr(rule.text.size());
    if (rule.text.ends_with('(') && rest.ends_with(')')) rest.remove_suffix(1);
    return rest;
  }
  return name;
}

}  // namespace

std::vector<const PhaseRule*> phase_rules(std::string_view framework) {
  std::vector<const PhaseRule*> rules;
  auto take = [&](std::span<const PhaseRule> table) {
    for (const auto& rule : table) rules.push_back(&rule);
  };
  const bool all = framework != "pytorch" && framework != "tensorflow" && framework != "jax";
  if (all || framework == "tensorflow") take(kTensorFlow);
  if (all || framework == "jax") take(kJax);
  if (framework != "pytorch") take(kXla);
  if (all || framework == "pytorch") take(kPyTorch);
  return rules;
}

RuleLookup::RuleLookup(const Capture& capture)
    : capture_(capture),
      rules_(phase_rules(capture.framework)),
      by_name_(capture.strings.size()),
      by_type_(capture.strings.size()) {}

RuleLookup::Found RuleLookup::of(std::uint32_t row) {
  const auto& ops = capture_.host_ops;
  if (ops.kind[row] == HostKind::python)
    return {};  // Python's own frames are the program, not the framework
  const auto name = static_cast<std::uint32_t>(ops.name[row]),
             type = static_cast<std::uint32_t>(ops.op_type[row]);
  Known& known = type == 0 ? by_name_[name] : by_type_[type];
  if (known.name != name) known = {name, find(row)};
  return known.found;
}

RuleLookup::Found RuleLookup::find(std::uint32_t row) {
  const auto name = capture_.text(capture_.host_ops.name[row]);
  const auto rule = matching(name, capture_.text(capture_.host_ops.op_type[row]));
  if (rule == kNoRule) return {};
  const auto [at, fresh] = type_numbers_.try_emplace(
      rules_[rule]->operation ? operation_type(capture_, row, *rules_[rule]) : name,
      static_cast<std::uint32_t>(types_.size()));
  if (fresh) types_.push_back(at->first);
  return {rule, at->second};
}

std::uint16_t RuleLookup::matching(std::string_view name, std::string_view type) const {
  auto matches = [&](const PhaseRule& rule) {
    switch (rule.match) {
      case Match::exact:
        return name == rule.text;
      case Match::prefix:
        return name.starts_with(rule.text);
      case Match::suffix:
        return name.ends_with(rule.text);
      case Match::contains:
        return name.find(rule.text) != name.npos;
      case Match::typed:
        return !type.empty() && name.size() > type.size() && name.ends_with(type) &&
               name[name.size() - type.size() - 1] == ':';
      case Match::compiled:
        return !type.empty() && name == type;
    }
    return false;
  };
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (matches(*rules_[i])) return static_cast<std::uint16_t>(i);
  return kNoRule;
}

bool hands_on(std::string_view name) { return name == "FunctionRun"; }

}  // namespace gf
