#include "report/benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/files.h"
#include "core/nearest.h"
#include "core/version.h"

namespace gf {

namespace {

constexpr const char* kHead = R"PY(#!/usr/bin/env python3
"""Times {0} alone, with the inputs that it had in a captured program.

Written by gpufathom {1}. Tensors have the recorded shapes, types and strides, and random values;
integers are 0, so that they are valid indices. Needs PyTorch, and a GPU without --device cpu.
"""
import argparse
import ast
import json
import statistics
import time

import torch

CAPTURE = {2}
OPERATOR = "{0}"
CASES = [  # kernel_ns: kernel time of a call in the capture
)PY";

constexpr const char* kBody = R"PY(]
TYPES = {
    "float": torch.float32, "double": torch.float64,
    "c10::Half": torch.float16, "c10::BFloat16": torch.bfloat16,
    "long int": torch.int64, "long": torch.int64, "int": torch.int32,
    "short int": torch.int16, "short": torch.int16,
    "signed char": torch.int8, "unsigned char": torch.uint8, "bool": torch.bool,
    "c10::complex<float>": torch.complex64, "c10::complex<double>": torch.complex128,
}
for cpp, name in {"c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e5m2": "float8_e5m2"}.items():
    if hasattr(torch, name):
        TYPES[cpp] = getattr(torch, name)


def tensor(shape, dtype, strides, device):
    """A tensor that lies in memory as the recorded one did."""
    if len(strides) != len(shape):
        strides = [0] * len(shape)
        step = 1
        for i in reversed(range(len(shape))):
            strides[i] = step
            step *= max(shape[i], 1)
    length = 1 + sum((n - 1) * s for n, s in zip(shape, strides) if n > 0)
    if dtype.is_floating_point:
        memory = torch.randn(length, device=device).to(dtype)
    else:
        memory = torch.zeros(length, dtype=dtype, device=device)
    return torch.as_strided(memory, shape, strides)


def literal(text):
    if text in ("", "None"):
        return None
    if text.lstrip("+-") in ("inf", "nan"):
        return float(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def inputs(case, device):
    shapes, types = json.loads(case["shapes"]), json.loads(case["types"])
    strides = json.loads(case["strides"]) if case["strides"] else [[]] * len(shapes)
    arguments = json.loads(case["arguments"]) if case["arguments"] else [""] * len(shapes)
    usual = next((TYPES[t] for t in types if t in TYPES), torch.float32)
    values = []
    for shape, kind, stride, argument in zip(shapes, types, strides, arguments):
        if kind in TYPES:
            values.append(tensor(shape, TYPES[kind], stride, device))
        elif shape and isinstance(shape[0], list):  # a list of tensors
            steps = stride if len(stride) == len(shape) else [[]] * len(shape)
            values.append([tensor(one, usual, s, device) for one, s in zip(shape, steps)])
        else:
            values.append(literal(argument))
    while values and values[-1] is None:  # the operator's own defaults
        values.pop()
    return values


def seconds_a_call(call, device):
    """The median of five rounds of calls in a row, after a warm-up."""
    def wait():
        if device != "cpu":
            torch.cuda.synchronize()

    for _ in range(5):
        call()
    wait()
    rounds, count = [], 1
    while len(rounds) < 5:
        begin = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        taken = time.perf_counter() - begin
        if taken < 0.05 and count < 1 << 16:
            count *= 2
        else:
            rounds.append(taken / count)
    return statistics.median(rounds)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--device", default="cuda")
    device = options.parse_args().device
    space, name = OPERATOR.split("::")
    operator = getattr(getattr(torch.ops, space), name.split(".")[0], None)
    if operator is None:
        raise SystemExit(f"PyTorch {torch.__version__} has no {OPERATOR}: import the package that "
                         "defines it, above, or take the PyTorch of the capture")
    where = torch.cuda.get_device_name() if device != "cpu" else "CPU"
    print(f"{OPERATOR} of {CAPTURE} on {where}, PyTorch {torch.__version__}")
    print(f"{'calls':>7}  {'captured us':>12}  {'here us':>10}  inputs")
    for case in CASES:
        head = f"{case['calls']:7}  {case['kernel_ns'] / 1e3:12.2f}"
        try:
            values = inputs(case, device)
            with torch.no_grad():
                here = seconds_a_call(lambda: operator(*values), device)
            print(f"{head}  {here * 1e6:10.2f}  {case['shapes']}")
        except Exception as error:  # one set of inputs fails alone
            said = str(error).splitlines() or [type(error).__name__]
            print(f"{head}  {'failed':>10}  {case['shapes']}: {said[0]}")


if __name__ == "__main__":
    main()
)PY";

/// A Python literal of the text, in ASCII.
std::string python_text(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\')
      (out += '\\') += letter;
    else if (byte < 0x20 || byte >= 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += letter;
  }
  return out + '"';
}

bool is_name(std::string_view name) {
  return name.find("::") != name.npos && std::ranges::all_of(name, [](unsigned char letter) {
           return std::isalnum(letter) || letter == '_' || letter == ':' || letter == '.';
         });
}

struct Case {
  Text shapes{}, types{}, strides{}, arguments{};
  std::set<std::uint32_t> calls;
  Nanos ns = 0;
};

class Cases {
 public:
  Cases(const Context& context, std::string_view asked) : context_(context), asked_(asked) {
    for (const auto& kernel : context.kernels) {
      const auto op = call_around(kernel.activity);
      if (op == kNoRow) continue;
      const auto& ops = context.capture.host_ops;
      Case& one = cases_[{ops.shapes[op], ops.types[op], ops.strides[op], ops.values[op]}];
      one = {ops.shapes[op], ops.types[op],        ops.strides[op],
             ops.values[op], std::move(one.calls), one.ns + kernel.exclusive_ns};
      one.calls.insert(op);
      name_ = ops.name[op];
    }
  }
  bool empty() const { return cases_.empty(); }
  std::string_view name() const { return context_.capture.text(name_); }

  /// Those with recorded inputs, most time first.
  std::vector<Case> longest(std::size_t most) const {
    std::vector<Case> all;
    for (const auto& [key, one] : cases_)
      if (!context_.capture.text(one.shapes).empty() && !context_.capture.text(one.types).empty())
        all.push_back(one);
    std::ranges::stable_sort(all, std::greater<>(), &Case::ns);
    if (most > 0 && all.size() > most) all.resize(most);
    return all;
  }

  /// Operators that launched kernels, for a suggestion.
  std::vector<std::string> operators() const {
    std::set<std::string> names;
    for (const auto& kernel : context_.kernels)
      if (const auto op = context_.attribution.op[kernel.activity]; op != kNoRow)
        names.emplace(context_.capture.text(context_.capture.host_ops.name[op]));
    return {names.begin(), names.end()};
  }

 private:
  /// The innermost operation of that name around a launch.
  std::uint32_t call_around(std::uint32_t activity) const {
    const auto& parents = context_.attribution.op_parent;
    auto op = context_.attribution.op[activity];
    while (op != kNoRow && !is_asked(context_.capture.host_ops.name[op]))
      op = op < parents.size() ? parents[op] : kNoRow;
    return op;
  }
  bool is_asked(Text name) const {
    const auto text = context_.capture.text(name);
    if (text == asked_) return true;
    return asked_.find(':') == asked_.npos && text.ends_with(asked_) && is_name(text) &&
           text.substr(0, text.size() - asked_.size()).ends_with("::");
  }

  const Context& context_;
  std::string_view asked_;
  Text name_{};
  std::map<std::tuple<Text, Text, Text, Text>, Case> cases_;
};

}  // namespace

Result<std::string> operator_benchmark(const Context& context, std::string_view asked,
                                       std::size_t most) {
  const Capture& capture = context.capture;
  if (capture.framework != "pytorch" && !capture.framework.empty())
    return fail(fmt::format("is of {}: the script calls operators of PyTorch", capture.framework),
                capture.path, -1, "give a capture of a PyTorch program");
  const Cases found(context, asked);
  if (found.empty())
    return fail(fmt::format("no operator {} launched a kernel in the window{}", asked,
                            did_you_mean(asked, found.operators())),
                capture.path, -1, "gpufathom work FILE lists the operators");
  if (!is_name(found.name()))
    return fail(fmt::format("{} is no operator that can be called by its name", found.name()),
                capture.path, -1, "name one of torch.ops, such as aten::mm");
  const auto cases = found.longest(most);
  if (cases.empty())
    return fail(fmt::format("the inputs of {} were not recorded", found.name()), capture.path, -1,
                "record with torch.profiler.profile(record_shapes=True)");
  std::string script =
      fmt::format(kHead, found.name(), kVersion, python_text(file_name(capture.path)));
  for (const auto& one : cases)
    script += fmt::format(
        "    {{\"shapes\": {}, \"types\": {},\n     \"strides\": {},\n     \"arguments\": {},\n"
        "     \"calls\": {}, \"kernel_ns\": {}}},\n",
        python_text(capture.text(one.shapes)), python_text(capture.text(one.types)),
        python_text(capture.text(one.strides)), python_text(capture.text(one.arguments)),
        one.calls.size(), one.ns / static_cast<Nanos>(one.calls.size()));
  return script + kBody;
}

}  // namespace gf
