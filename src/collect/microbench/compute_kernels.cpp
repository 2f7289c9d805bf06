#include <fmt/format.h>

#include "collect/microbench/ptx.h"

namespace gf::microbench {

namespace {

/// The outer product of eight operands a and eight b into 32 accumulators, as the inner loop of a
/// matrix product does it: operands differ from instruction to instruction, so that register reads
/// and datapaths toggle as in real code. The second half of the loop takes back what the first half
/// added, so that values stay where they are. `text` has {0} accumulator, {1} a (or its negative),
/// {2} b, in so many `instructions`; registers are `prefix`8.. . With fewer `lanes` than a warp
/// has, the same instructions do less: what an instruction costs stands apart from what its
/// operation costs.
Microbench compute(const ChipTraits& chip, const char* id, const char* feature, char prefix,
                   std::string_view text, std::string_view init, std::string_view negate,
                   std::string_view keep, bool zeros = false, int instructions = 1,
                   int lanes = 32) {
  Microbench bench;
  bench.id = id;
  bench.feature = feature;
  bench.zeros = zeros;
  constexpr int kA = 8, kB = 16, kNegative = 24, kAcc = 32, kAccumulators = 32;
  std::string setup, body, end;
  auto reg = [&](int count) { return fmt::format("%{}{}", prefix, count); };
  for (int i = 0; i < 16; ++i)
    setup +=
        fmt::format(fmt::runtime(init), reg(kA + i), 0x9e3779b1u * static_cast<unsigned>(i + 1));
  for (int i = 0; i < 8; ++i)
    setup += fmt::format(fmt::runtime(negate), reg(kNegative + i), reg(kA + i));
  for (int i = 0; i < kAccumulators; ++i)
    setup +=
        fmt::format(fmt::runtime(init), reg(kAcc + i), 0x85ebca6bu * static_cast<unsigned>(i + 1));
  if (lanes < 32) setup += fmt::format("  setp.ge.u32 %p5, %lane, {};\n  @%p5 ret;\n", lanes);
  for (int half : {kA, kNegative})
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j, ++bench.unroll)
        body += fmt::format(fmt::runtime(text), reg(kAcc + (i * 8 + j) % kAccumulators),
                            reg(half + i), reg(kB + j));
  --bench.unroll;  // it began at one
  for (int i = 0; i < kAccumulators; ++i) end += fmt::format(fmt::runtime(keep), reg(kAcc + i));
  bench.ptx = kernel(chip, setup, body, end + kKeepAcc);
  bench.per_warp_loop = {{"inst", bench.unroll * instructions + 3.0},
                         {feature, bench.unroll * static_cast<double>(lanes)}};
  return bench;
}

/// Eight chains of `text` ({0}: a register f), whose argument changes by an exclusive or before
/// every use.
Microbench changing(const ChipTraits& chip, const char* id, const char* feature,
                    std::string_view text, double instructions) {
  Microbench bench;
  bench.id = id;
  bench.feature = feature;
  bench.unroll = 64;
  std::string setup, body, end;
  for (int chain = 0; chain < 8; ++chain) {
    setup += fmt::format(
        "  mad.lo.u32 %r{0}, %thread, 0x9e3779b1, {1};\n  and.b32 %r{0}, %r{0}, 0x83ffffff;\n  "
        "or.b32 %r{0}, %r{0}, 0x3c000000;\n",
        chain + 8, 77777u * static_cast<unsigned>(chain + 1));
    end += fmt::format("  xor.b32 %acc, %acc, %r{};\n", chain + 8);
  }
  for (int i = 0; i < bench.unroll; ++i)
    body += fmt::format(fmt::runtime(text), i % 8 + 8,
                        0x005a3c5au + 0x1111u * static_cast<unsigned>(i / 8));
  bench.ptx = kernel(chip, setup, body, end + kKeepAcc);
  bench.per_warp_loop = {{"inst", instructions * bench.unroll + 3.0},
                         {"pipe.alu", (instructions - 1) * bench.unroll * 32.0}};
  bench.per_warp_loop[feature] += bench.unroll * 32.0;
  return bench;
}

/// Resident warps that sleep: the power of active SMs without instructions or memory traffic to
/// speak of.
Microbench spin(const ChipTraits& chip) {
  Microbench bench;
  bench.id = "spin";
  bench.feature = "active";
  bench.unroll = 1;
  bench.ptx = kernel(chip, "", "  nanosleep.u32 20000;\n", kKeepAcc);
  bench.per_warp_loop = {{"inst", 4.0}};
  return bench;
}

}  // namespace

std::vector<Microbench> compute_kernels(const ChipTraits& chip) {
  const std::string seed =
      "  mad.lo.u32 %r2, %thread, 0x9e3779b1, {1};\n  shr.u32 %r3, %r2, 15;\n  xor.b32 %r2, %r2, "
      "%r3;\n  mul.lo.u32 %r2, %r2, 0x85ebca6b;\n";
  const std::string unit =
      seed + "  and.b32 %r2, %r2, 0x807fffff;\n  or.b32 %r2, %r2, 0x3f000000;\n";  // +-[0.5, 1)
  const std::string
      f32 = unit + "  mov.b32 {0}, %r2;\n",
      f64 =
          unit +
          "  mov.b32 %f1, %r2;\n  cvt.f64.f32 {0}, %f1;\n  mul.f64 {0}, {0}, 0d3FF0000000A7C5AC;\n";
  const std::string f16 =
                        seed + "  and.b32 %r2, %r2, 0x83ff83ff;\n  or.b32 {0}, %r2, 0x38003800;\n",
                    i32 = seed + "  mov.b32 {0}, %r2;\n";
  const char* keep_f = "  mov.b32 %r2, {0};\n  xor.b32 %acc, %acc, %r2;\n";
  const char* keep_q =
      "  cvt.rn.f32.f64 %f1, {0};\n  mov.b32 %r2, %f1;\n  xor.b32 %acc, %acc, %r2;\n";
  const char* keep_r = "  xor.b32 %acc, %acc, {0};\n";
  std::vector<Microbench> all{
      compute(chip, "fma_fp32", "pipe.fma", 'f', "  fma.rn.f32 {0}, {1}, {2}, {0};\n", f32,
              "  neg.f32 {0}, {1};\n", keep_f),
      compute(chip, "fma_fp32_zeros", "pipe.fma", 'f', "  fma.rn.f32 {0}, {1}, {2}, {0};\n",
              "  mov.b32 {0}, %zero; // {1}\n", "  mov.f32 {0}, {1};\n", keep_f, true),
      compute(chip, "fma_fp32_quarter", "pipe.fma", 'f', "  fma.rn.f32 {0}, {1}, {2}, {0};\n", f32,
              "  neg.f32 {0}, {1};\n", keep_f, false, 1, 8),
      compute(chip, "fma_fp16", "pipe.fp16", 'r', "  fma.rn.f16x2 {0}, {1}, {2}, {0};\n", f16,
              "  xor.b32 {0}, {1}, 0x80008000;\n", keep_r),
      compute(chip, "fma_fp64", "pipe.fp64", 'q', "  fma.rn.f64 {0}, {1}, {2}, {0};\n", f64,
              "  neg.f64 {0}, {1};\n", keep_q),
      compute(chip, "int_mad", "pipe.fma", 'r', "  mad.lo.u32 {0}, {1}, {2}, {0};\n", i32,
              "  neg.s32 {0}, {1};\n", keep_r),
      compute(chip, "add_fp32", "pipe.fma", 'f', "  add.rn.f32 {0}, {0}, {1}; // {2}\n", f32,
              "  neg.f32 {0}, {1};\n", keep_f),
      compute(chip, "int_add", "pipe.alu", 'r',
              "  add.u32 {0}, {0}, {1};\n  xor.b32 {0}, {0}, {2};\n", i32, "  not.b32 {0}, {1};\n",
              keep_r, false, 2),
      compute(chip, "int_shift", "pipe.alu", 'r', "  shf.l.wrap.b32 {0}, {0}, {1}, {2};\n", i32,
              "  not.b32 {0}, {1};\n", keep_r),
      compute(chip, "int_logic", "pipe.alu", 'r', "  lop3.b32 {0}, {0}, {1}, {2}, 0x96;\n", i32,
              "  not.b32 {0}, {1};\n", keep_r),
      compute(chip, "int_logic_quarter", "pipe.alu", 'r', "  lop3.b32 {0}, {0}, {1}, {2}, 0x96;\n",
              i32, "  not.b32 {0}, {1};\n", keep_r, false, 1, 8),
      changing(chip, "special", "pipe.xu",
               "  mov.b32 %f8, %r{0};\n  ex2.approx.ftz.f32 %f9, %f8;\n  mov.b32 %r2, %f9;\n  "
               "xor.b32 %r{0}, %r2, {1};\n",
               2),
      changing(
          chip, "convert", "pipe.alu",
          "  mov.b32 %f8, %r{0};\n  cvt.rn.bf16x2.f32 %r2, %f8, %f8;\n  xor.b32 %r{0}, %r2, {1};\n",
          2),
  };
  for (auto& bench : all)
    if (bench.id == "int_add")
      bench.per_warp_loop["pipe.fma"] =
          bench.unroll * 32.0;  // the compiler adds on the multiply-add pipe (IMAD.IADD)
  for (auto& bench : all)
    if (bench.feature == "pipe.fp64") bench.fixed_threads = 512;  // a hundred registers a thread
  all.push_back(spin(chip));
  return all;
}

}  // namespace gf::microbench
