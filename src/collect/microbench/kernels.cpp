#include "collect/microbench/kernels.h"

#include <fmt/format.h>

#include <algorithm>

namespace gf::microbench {

namespace {

// Every kernel is bench(data, sink, loops, bytes_per_warp, zero): `zero` is a runtime 0 that keeps the compiler from
// folding or hoisting what must happen in every loop; `sink` is written under a condition that never holds.
constexpr const char* kPrologue = R"(
  .reg .pred %p<8>;
  .reg .b32 %r<80>;
  .reg .b64 %d<64>;
  .reg .f32 %f<80>;
  .reg .f64 %q<80>;
  .reg .u32 %loop, %loops, %lane, %warp, %zero, %acc, %thread;
  .reg .u64 %base, %sink, %region;
  ld.param.u64 %base, [data];
  ld.param.u64 %sink, [sink];
  ld.param.u32 %loops, [loops];
  ld.param.u64 %region, [bytes_per_warp];
  ld.param.u32 %zero, [zero];
  mov.u32 %thread, %tid.x;
  and.b32 %lane, %thread, 31;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mad.lo.u32 %r0, %r0, %r1, %thread;
  shr.u32 %warp, %r0, 5;
  mul.wide.u32 %d0, %warp, 1;
  mad.lo.u64 %base, %d0, %region, %base;
  mov.u32 %loop, 0;
  mov.u32 %acc, 0;
)";

std::string target(const ChipTraits& chip) {
  return fmt::format(".version {}\n.target sm_{}{}\n.address_size 64\n", chip.compute >= 90 ? "8.0" : "7.1", chip.compute >= 90 ? 90 : 80,
                     chip.compute == 90 ? "a" : "");
}

/// setup; LOOP: body; end. The loop costs three instructions (add, compare, branch).
std::string kernel(const ChipTraits& chip, const std::string& setup, const std::string& body, const std::string& end, const std::string& globals = {}) {
  return target(chip) + globals +
         ".visible .entry bench(.param .u64 data, .param .u64 sink, .param .u32 loops, .param .u64 bytes_per_warp, .param .u32 zero)\n{" + std::string(kPrologue) + setup +
         "LOOP:\n" + body +
         "  add.u32 %loop, %loop, 1;\n  setp.lt.u32 %p0, %loop, %loops;\n  @%p0 bra LOOP;\n" + end + "  ret;\n}\n";
}

/// Adds `accesses` to every level that an access of this kind passes: a load from L2 was looked up in L1 first, one from
/// DRAM in both. Coefficients are therefore incremental, level by level.
void add_path(Counts& counts, Space space, bool writes, double accesses) {
  if (space == Space::none || space == Space::shared) return;
  if (!writes) counts["l1.load"] += accesses;  // stores go through L1 to L2: one feature
  if (space == Space::l1) return;
  counts[writes ? "l2.store" : "l2.load"] += accesses;
  if (space == Space::dram) counts[writes ? "dram.write" : "dram.read"] += accesses;
}

/// Writes %acc to the sink if it has a value it never has.
constexpr const char* kKeepAcc = "  setp.eq.u32 %p1, %acc, 0x5bd1e995;\n  @%p1 st.global.u32 [%sink], %acc;\n";

/// `divides`: how many integer divisions follow each load; the DIV cross-check of the thesis adds one.
Microbench chase(const ChipTraits& chip, Space space, const char* id, const char* feature, const char* cache, std::uint64_t bytes_per_warp, int divides = 0) {
  Microbench b;
  b.id = id;
  b.feature = feature;
  b.space = space;
  b.unroll = 32;
  b.chase = true;
  b.bytes_per_warp = bytes_per_warp;
  std::string body;
  for (int i = 0; i < b.unroll; ++i) {
    body += fmt::format("  ld.global.{}.u64 %chain, [%chain];\n", cache);
    for (int d = 0; d < divides; ++d) body += "  cvt.u32.u64 %r2, %chain;\n  or.b32 %r2, %r2, 1;\n  div.u32 %r3, %r4, %r2;\n  xor.b32 %r4, %r4, %r3;\n  add.u32 %r4, %r4, 0x9e3779b9;\n";
  }
  b.ptx = kernel(chip, "  .reg .u64 %chain;\n  mov.u32 %r4, %thread;\n  mul.wide.u32 %d1, %lane, 8;\n  add.u64 %chain, %base, %d1;\n", body,
                 "  cvt.u32.u64 %acc, %chain;\n  xor.b32 %acc, %acc, %r4;\n" + std::string(kKeepAcc));
  b.per_warp_loop = {{"inst", b.unroll + 3.0}};
  if (divides > 0) b.per_warp_loop["div"] = b.unroll * divides * 32.0;
  add_path(b.per_warp_loop, space, false, b.unroll * 8.0);  // 32 lanes x 8 bytes = 8 accesses of 32 bytes
  return b;
}

/// A chase in which every lane reads a cache line of its own: 32 lookups a request.
Microbench scattered(const ChipTraits& chip) {
  Microbench b = chase(chip, Space::l1, "l1_load_scattered", "l1.wavefront", "ca", 4096);
  const std::string from = "mul.wide.u32 %d1, %lane, 8;", to = "mul.wide.u32 %d1, %lane, 128;";
  b.ptx.replace(b.ptx.find(from), from.size(), to);
  b.fixed_threads = 512;  // 16 warps of 4 KiB stay in L1
  b.per_warp_loop["l1.load"] = b.unroll * 32.0;
  return b;
}

/// Independent 16-byte loads or stores of random data through a region, `unroll` x 512 bytes a loop.
Microbench stream(const ChipTraits& chip, Space space, const char* id, const char* feature, const char* cache, std::uint64_t bytes_per_warp, bool writes, bool zeros) {
  Microbench b;
  b.id = id;
  b.feature = feature;
  b.space = space;
  b.unroll = static_cast<int>(std::min<std::uint64_t>(8, bytes_per_warp / 512));
  b.writes = writes;
  b.zeros = zeros;
  b.bytes_per_warp = bytes_per_warp;
  const std::string setup = "  .reg .u64 %at, %mask, %off;\n  mul.wide.u32 %d1, %lane, 16;\n  add.u64 %base, %base, %d1;\n  sub.u64 %mask, %region, 1;\n  mov.u64 %off, 0;\n  mov.u64 %at, %base;\n"
                            "  mad.lo.u32 %r40, %r0, 0x9e3779b1, 0x3f8ccccd;\n  mul.lo.u32 %r41, %r40, 0x85ebca6b;\n  mul.lo.u32 %r42, %r41, 0xc2b2ae35;\n  mul.lo.u32 %r43, %r42, 0x27d4eb2f;\n" +
                            std::string(zeros ? "  mov.u32 %r40, 0;\n  mov.u32 %r41, 0;\n  mov.u32 %r42, 0;\n  mov.u32 %r43, 0;\n" : "");
  std::string body;
  for (int i = 0; i < b.unroll; ++i)
    body += writes ? fmt::format("  st.global.{}.v4.u32 [%at+{}], {{%r40, %r41, %r42, %r43}};\n", cache, i * 512)
                   : fmt::format("  ld.global.{}.v4.u32 {{%r{}, %r{}, %r{}, %r{}}}, [%at+{}];\n", cache, 4 + 4 * i, 5 + 4 * i, 6 + 4 * i, 7 + 4 * i, i * 512);
  if (!writes)
    for (int i = 0; i < b.unroll; ++i)
      for (int j = 0; j < 4; j += 2) body += fmt::format("  lop3.b32 %acc, %acc, %r{}, %r{}, 0x96;\n", 4 + 4 * i + j, 5 + 4 * i + j);
  // The next address depends on what was read (through a runtime zero), so that no load can leave the loop.
  body += "  and.b32 %r2, %acc, %zero;\n  cvt.u64.u32 %d2, %r2;\n";
  body += fmt::format("  add.u64 %off, %off, {};\n  and.b64 %off, %off, %mask;\n  add.u64 %at, %base, %off;\n  add.u64 %at, %at, %d2;\n", b.unroll * 512);
  if (writes && !zeros) body += "  mad.lo.u32 %r40, %r40, 0x9e3779b1, %loop;\n  xor.b32 %r41, %r41, %r40;\n  xor.b32 %r42, %r42, %r41;\n  xor.b32 %r43, %r43, %r42;\n";
  b.ptx = kernel(chip, setup, body, kKeepAcc);
  b.per_warp_loop = {{"inst", b.unroll + 3.0 + 8.0 + (writes ? 1.0 : 2.0 * b.unroll)}};
  add_path(b.per_warp_loop, space, writes, b.unroll * 16.0);
  b.per_warp_loop["pipe.alu"] = 32.0 * (writes ? 8.0 : 8.0 + 2.0 * b.unroll);
  return b;
}

Microbench shared_memory(const ChipTraits& chip, const char* id, bool writes, bool wide) {
  Microbench b;
  b.id = id;
  b.feature = writes ? "shared.store" : "shared.load";
  b.space = Space::shared;
  b.unroll = 32;
  b.writes = writes;
  b.shared_bytes = 0;  // 1024 threads x 16 bytes of static shared memory
  const char* globals = ".shared .align 16 .b8 cells[16384];\n";
  std::string setup = "  .reg .u32 %at, %word;\n  mov.u32 %r2, cells;\n";
  setup += wide ? "  shl.b32 %r3, %thread, 4;\n" : "  shl.b32 %r3, %thread, 2;\n";
  setup += "  add.u32 %at, %r2, %r3;\n";
  if (!writes && !wide) setup += "  st.shared.u32 [%at], %at;\n";  // each lane chases its own cell
  if (wide) setup += "  xor.b32 %r40, %thread, 0x3f8ccccd;\n  xor.b32 %r41, %r40, 0x2545f491;\n  xor.b32 %r42, %r41, 0x1b873593;\n  xor.b32 %r43, %r42, 0x9e3779b9;\n  st.shared.v4.u32 [%at], {%r40, %r41, %r42, %r43};\n";
  else setup += "  xor.b32 %word, %thread, 0x2545f491;\n";
  setup += "  bar.sync 0;\n";
  std::string body;
  double others = 0;
  for (int i = 0; i < b.unroll; ++i) {
    if (!wide)
      body += writes ? "  st.volatile.shared.u32 [%at], %word;\n  lop3.b32 %word, %word, %loop, 0x6a09e667, 0x96;\n" : "  ld.shared.u32 %at, [%at];\n";
    else
      body += fmt::format("  ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%at];\n  lop3.b32 %acc, %acc, %r4, %r5, 0x96;\n  lop3.b32 %r8, %acc, %r6, %r7, 0x96;\n  and.b32 %r8, %r8, %zero;\n  add.u32 %at, %at, %r8;\n");
    others += wide ? 4 : writes ? 1 : 0;
  }
  b.ptx = kernel(chip, setup, body, std::string(wide || writes ? "" : "  mov.u32 %acc, %at;\n") + kKeepAcc, globals);
  b.per_warp_loop = {{"inst", b.unroll + others + 3.0}, {b.feature, b.unroll * (wide ? 16.0 : 4.0)}};
  if (others > 0) b.per_warp_loop["pipe.alu"] = 32.0 * others;
  return b;
}

/// The outer product of eight operands a and eight b into 32 accumulators, as the inner loop of a matrix product does it:
/// operands differ from instruction to instruction, so that register reads and datapaths toggle as in real code. The second
/// half of the loop takes back what the first half added, so that values stay where they are. `text` has {0} accumulator,
/// {1} a (or its negative), {2} b; registers are `prefix`8.. .
Microbench compute(const ChipTraits& chip, const char* id, const char* feature, char prefix, std::string_view text, std::string_view init, std::string_view negate,
                   std::string_view keep, bool zeros = false) {
  Microbench b;
  b.id = id;
  b.feature = feature;
  b.zeros = zeros;
  constexpr int kA = 8, kB = 16, kNegative = 24, kAcc = 32, kAccumulators = 32;
  std::string setup, body, end;
  auto reg = [&](int n) { return fmt::format("%{}{}", prefix, n); };
  for (int i = 0; i < 16; ++i) setup += fmt::format(fmt::runtime(init), reg(kA + i), 0x9e3779b1u * static_cast<unsigned>(i + 1));
  for (int i = 0; i < 8; ++i) setup += fmt::format(fmt::runtime(negate), reg(kNegative + i), reg(kA + i));
  for (int i = 0; i < kAccumulators; ++i) setup += fmt::format(fmt::runtime(init), reg(kAcc + i), 0x85ebca6bu * static_cast<unsigned>(i + 1));
  for (int half : {kA, kNegative})
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j, ++b.unroll) body += fmt::format(fmt::runtime(text), reg(kAcc + (i * 8 + j) % kAccumulators), reg(half + i), reg(kB + j));
  --b.unroll;  // it began at one
  for (int i = 0; i < kAccumulators; ++i) end += fmt::format(fmt::runtime(keep), reg(kAcc + i));
  b.ptx = kernel(chip, setup, body, end + kKeepAcc);
  b.per_warp_loop = {{"inst", b.unroll + 3.0}, {feature, b.unroll * 32.0}};
  return b;
}

/// Eight chains of `text` ({0}: a register f), whose argument changes by an exclusive or before every use.
Microbench changing(const ChipTraits& chip, const char* id, const char* feature, std::string_view text, double instructions) {
  Microbench b;
  b.id = id;
  b.feature = feature;
  b.unroll = 64;
  std::string setup, body, end;
  for (int c = 0; c < 8; ++c) {
    setup += fmt::format("  mad.lo.u32 %r{0}, %thread, 0x9e3779b1, {1};\n  and.b32 %r{0}, %r{0}, 0x83ffffff;\n  or.b32 %r{0}, %r{0}, 0x3c000000;\n", c + 8, 77777u * static_cast<unsigned>(c + 1));
    end += fmt::format("  xor.b32 %acc, %acc, %r{};\n", c + 8);
  }
  for (int i = 0; i < b.unroll; ++i) body += fmt::format(fmt::runtime(text), i % 8 + 8, 0x005a3c5au + 0x1111u * static_cast<unsigned>(i / 8));
  b.ptx = kernel(chip, setup, body, end + kKeepAcc);
  b.per_warp_loop = {{"inst", instructions * b.unroll + 3.0}, {"pipe.alu", (instructions - 1) * b.unroll * 32.0}};
  b.per_warp_loop[feature] += b.unroll * 32.0;
  return b;
}

/// Resident warps that sleep: the power of active SMs without instructions or memory traffic to speak of.
Microbench spin(const ChipTraits& chip) {
  Microbench b;
  b.id = "spin";
  b.feature = "active";
  b.unroll = 1;
  b.ptx = kernel(chip, "", "  nanosleep.u32 20000;\n", kKeepAcc);
  b.per_warp_loop = {{"inst", 4.0}};
  return b;
}

std::vector<Microbench> compute_classes(const ChipTraits& chip) {
  const std::string seed = "  mad.lo.u32 %r2, %thread, 0x9e3779b1, {1};\n  shr.u32 %r3, %r2, 15;\n  xor.b32 %r2, %r2, %r3;\n  mul.lo.u32 %r2, %r2, 0x85ebca6b;\n";
  const std::string unit = seed + "  and.b32 %r2, %r2, 0x807fffff;\n  or.b32 %r2, %r2, 0x3f000000;\n";  // +-[0.5, 1)
  const std::string f32 = unit + "  mov.b32 {0}, %r2;\n", f64 = unit + "  mov.b32 %f1, %r2;\n  cvt.f64.f32 {0}, %f1;\n  mul.f64 {0}, {0}, 0d3FF0000000A7C5AC;\n";
  const std::string f16 = seed + "  and.b32 %r2, %r2, 0x83ff83ff;\n  or.b32 {0}, %r2, 0x38003800;\n", i32 = seed + "  mov.b32 {0}, %r2;\n";
  const char* keep_f = "  mov.b32 %r2, {0};\n  xor.b32 %acc, %acc, %r2;\n";
  const char* keep_q = "  cvt.rn.f32.f64 %f1, {0};\n  mov.b32 %r2, %f1;\n  xor.b32 %acc, %acc, %r2;\n";
  const char* keep_r = "  xor.b32 %acc, %acc, {0};\n";
  std::vector<Microbench> all{
      compute(chip, "fma_fp32", "pipe.fma", 'f', "  fma.rn.f32 {0}, {1}, {2}, {0};\n", f32, "  neg.f32 {0}, {1};\n", keep_f),
      compute(chip, "fma_fp32_zeros", "pipe.fma", 'f', "  fma.rn.f32 {0}, {1}, {2}, {0};\n", "  mov.b32 {0}, %zero; // {1}\n", "  mov.f32 {0}, {1};\n", keep_f, true),
      compute(chip, "fma_fp16", "pipe.fma", 'r', "  fma.rn.f16x2 {0}, {1}, {2}, {0};\n", f16, "  xor.b32 {0}, {1}, 0x80008000;\n", keep_r),
      compute(chip, "fma_fp64", "pipe.fp64", 'q', "  fma.rn.f64 {0}, {1}, {2}, {0};\n", f64, "  neg.f64 {0}, {1};\n", keep_q),
      compute(chip, "int_mad", "pipe.fma", 'r', "  mad.lo.u32 {0}, {1}, {2}, {0};\n", i32, "  neg.s32 {0}, {1};\n", keep_r),
      compute(chip, "int_logic", "pipe.alu", 'r', "  lop3.b32 {0}, {0}, {1}, {2}, 0x96;\n", i32, "  not.b32 {0}, {1};\n", keep_r),
      changing(chip, "special", "pipe.xu", "  mov.b32 %f8, %r{0};\n  ex2.approx.ftz.f32 %f9, %f8;\n  mov.b32 %r2, %f9;\n  xor.b32 %r{0}, %r2, {1};\n", 2),
      changing(chip, "convert", "pipe.alu", "  mov.b32 %f8, %r{0};\n  cvt.rn.bf16x2.f32 %r2, %f8, %f8;\n  xor.b32 %r{0}, %r2, {1};\n", 2),
  };
  for (auto& b : all)
    if (b.feature == "pipe.fp64") b.fixed_threads = 512;  // a hundred registers a thread
  return all;
}

/// mma.sync: one warp, registers only.
Microbench mma(const ChipTraits& chip, const char* id, const char* feature, const char* shape, const char* types, int a_regs, int b_regs, double flop, std::uint32_t bits, bool zeros) {
  Microbench b;
  b.id = id;
  b.feature = feature;
  b.zeros = zeros;
  constexpr int kChains = 4, kRepeat = 8;
  b.unroll = kChains * kRepeat;
  std::string setup = "  mad.lo.u32 %r2, %warp, 33, %lane;\n";
  for (int i = 0; i < a_regs + b_regs; ++i)
    setup += zeros ? fmt::format("  mov.u32 %r{}, %zero;\n", 8 + i)
                   : fmt::format("  mad.lo.u32 %r{0}, %r2, 0x9e3779b1, {1};\n  and.b32 %r{0}, %r{0}, {2};\n  or.b32 %r{0}, %r{0}, {3};\n", 8 + i, 77777 * (i + 1),
                                 bits == 16 ? "0x83ff83ff" : bits == 8 ? "0x8f8f8f8f" : "0x83ffffff", bits == 16 ? "0x3c003c00" : bits == 8 ? "0x30303030" : "0x3c000000");
  for (int c = 0; c < kChains * 4; ++c) setup += fmt::format("  mov.f32 %f{}, 0f00000000;\n", 8 + c);
  std::string body, end;
  for (int r = 0; r < kRepeat; ++r)
    for (int c = 0; c < kChains; ++c) {
      std::string a, bb;
      for (int i = 0; i < a_regs; ++i) a += fmt::format("{}%r{}", i ? ", " : "", 8 + i);
      for (int i = 0; i < b_regs; ++i) bb += fmt::format("{}%r{}", i ? ", " : "", 8 + a_regs + i);
      const int f = 8 + 4 * c;
      body += fmt::format("  mma.sync.aligned.{0}.row.col.f32.{1}.f32 {{%f{2}, %f{3}, %f{4}, %f{5}}}, {{{6}}}, {{{7}}}, {{%f{2}, %f{3}, %f{4}, %f{5}}};\n", shape, types, f, f + 1, f + 2,
                          f + 3, a, bb);
    }
  for (int c = 0; c < kChains * 4; ++c) end += fmt::format("  mov.b32 %r2, %f{};\n  xor.b32 %acc, %acc, %r2;\n", 8 + c);
  b.ptx = kernel(chip, setup, body, end + kKeepAcc);
  b.per_warp_loop = {{"inst", b.unroll + 3.0}, {feature, b.unroll * flop}};
  return b;
}

/// wgmma m64n256k*: one warpgroup, both operands from shared memory without swizzle. 64 x 256 outputs.
Microbench wgmma(const ChipTraits& chip, const char* id, const char* feature, int k, const char* type, const char* majors, bool zeros, std::uint32_t bits) {
  Microbench b;
  b.id = id;
  b.feature = feature;
  b.zeros = zeros;
  b.unroll = 8;
  b.fixed_threads = 128;
  const char* globals = ".shared .align 1024 .b8 tiles[40960];\n";
  // Fill the tiles with random bits of the element type (or zeros), then describe them: start address, leading and
  // stride byte offsets in units of 16 bytes, no swizzle (PTX ISA, "Matrix descriptor").
  std::string setup = fmt::format(
      "  .reg .u64 %da, %db;\n  .reg .u32 %cell;\n  .reg .f32 %c<128>;\n  mov.u32 %r2, tiles;\n  shl.b32 %r3, %thread, 2;\n  add.u32 %cell, %r2, %r3;\n  mov.u32 %r4, 0;\n"
      "FILL:\n  mad.lo.u32 %r5, %cell, 0x9e3779b1, %warp;\n  shr.u32 %r6, %r5, 15;\n  xor.b32 %r5, %r5, %r6;\n  mul.lo.u32 %r5, %r5, 0x85ebca6b;\n  and.b32 %r5, %r5, {};\n  or.b32 %r5, %r5, {};\n{}"
      "  st.shared.u32 [%cell], %r5;\n  add.u32 %cell, %cell, 512;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p2, %r4, 80;\n  @%p2 bra FILL;\n"
      "  fence.proxy.async;\n  bar.sync 0;\n"
      "  and.b32 %r7, %r2, 0x3ffff;\n  shr.u32 %r7, %r7, 4;\n  cvt.u64.u32 %da, %r7;\n  mov.u64 %d3, 0x0000000800080000;\n  or.b64 %da, %da, %d3;\n"
      "  add.u32 %r8, %r2, 8192;\n  and.b32 %r8, %r8, 0x3ffff;\n  shr.u32 %r8, %r8, 4;\n  cvt.u64.u32 %db, %r8;\n  or.b64 %db, %db, %d3;\n",
      bits == 16 ? "0x83ff83ff" : bits == 8 ? "0x8f8f8f8f" : "0x83ffffff", bits == 16 ? "0x3c003c00" : bits == 8 ? "0x30303030" : "0x3c000000", zeros ? "  mov.u32 %r5, 0;\n" : "");
  std::string regs;
  for (int i = 0; i < 128; ++i) {
    setup += fmt::format("  mov.f32 %c{}, 0f00000000;\n", i);
    regs += fmt::format("{}%c{}", i ? ", " : "", i);
  }
  std::string body = "  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < b.unroll; ++i)
    body += fmt::format("  wgmma.mma_async.sync.aligned.m64n256k{}.f32.{} {{{}}}, %da, %db, 1, 1, 1{};\n", k, type, regs, majors);
  body += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  std::string end;
  for (int i = 0; i < 128; ++i) end += fmt::format("  mov.b32 %r9, %c{};\n  xor.b32 %acc, %acc, %r9;\n", i);
  b.ptx = kernel(chip, setup, body, end + kKeepAcc, globals);
  // A warpgroup of four warps shares one operation: a warp's share is a quarter.
  b.per_warp_loop = {{"inst", b.unroll + 6.0}, {feature, b.unroll * 2.0 * 64 * 256 * k / 4}};
  return b;
}

/// Bulk copies (TMA) of 8 KiB from global to shared memory by one thread of each block; the others wait.
Microbench tma(const ChipTraits& chip, Space space, const char* id, std::uint64_t bytes_per_warp) {
  Microbench b;
  b.id = id;
  b.feature = "tma.load";
  b.space = space;
  b.unroll = 4;
  b.fixed_threads = 32;
  b.bytes_per_warp = bytes_per_warp;
  constexpr int kBytes = 8192;
  const char* globals = ".shared .align 128 .b8 landing[32768];\n.shared .align 8 .b64 barrier;\n";
  const std::string setup =
      "  .reg .u32 %bar, %dst, %parity;\n  .reg .u64 %off, %mask, %at;\n  mov.u32 %bar, barrier;\n  mov.u32 %dst, landing;\n  mov.u32 %parity, 0;\n  mov.u64 %off, 0;\n  sub.u64 %mask, %region, 1;\n"
      "  setp.eq.u32 %p3, %lane, 0;\n  @%p3 mbarrier.init.shared.b64 [%bar], 1;\n  fence.proxy.async;\n  bar.sync 0;\n";
  std::string body = fmt::format("  @%p3 mbarrier.arrive.expect_tx.shared.b64 %d5, [%bar], {};\n", kBytes * b.unroll);
  for (int i = 0; i < b.unroll; ++i)
    body += fmt::format("  add.u64 %at, %base, %off;\n  add.u32 %r5, %dst, {};\n  @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%at], {}, [%bar];\n"
                        "  add.u64 %off, %off, {};\n  and.b64 %off, %off, %mask;\n", i * kBytes, kBytes, kBytes);
  body += "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p4, [%bar], %parity;\n  @!%p4 bra WAIT;\n  xor.b32 %parity, %parity, 1;\n";
  b.ptx = kernel(chip, setup, body, kKeepAcc, globals);
  b.per_warp_loop = {{"tma.load", b.unroll * kBytes / 32.0}, {"l2.load", b.unroll * kBytes / 32.0}, {"inst", b.unroll * 5.0 + 10.0}};
  if (space == Space::dram) b.per_warp_loop["dram.read"] = b.unroll * kBytes / 32.0;
  return b;
}

}  // namespace

std::string chain_filler_ptx(const ChipTraits& chip) {
  return target(chip) + R"(.visible .entry fill_chain(.param .u64 data, .param .u64 words, .param .u64 words_per_warp)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .u64 %base, %words, %per, %i, %step, %a, %b;
  ld.param.u64 %base, [data];
  ld.param.u64 %words, [words];
  ld.param.u64 %per, [words_per_warp];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.wide.u32 %i, %r0, %r1, 0;
  cvt.u64.u32 %a, %r2;
  add.u64 %i, %i, %a;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %step, %r3, %r1;
LOOP:
  setp.ge.u64 %p0, %i, %words;
  @%p0 bra DONE;
  rem.u64 %a, %i, %per;
  sub.u64 %b, %i, %a;
  add.u64 %a, %a, 32;
  rem.u64 %a, %a, %per;
  add.u64 %a, %a, %b;
  shl.b64 %a, %a, 3;
  add.u64 %a, %a, %base;
  shl.b64 %b, %i, 3;
  add.u64 %b, %b, %base;
  st.global.u64 [%b], %a;
  add.u64 %i, %i, %step;
  bra LOOP;
DONE:
  ret;
}
)";
}

std::string random_filler_ptx(const ChipTraits& chip) {
  return target(chip) + R"(.visible .entry fill_random(.param .u64 data, .param .u64 words, .param .u32 seed)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .u64 %base, %words, %i, %step, %a, %b;
  ld.param.u64 %base, [data];
  ld.param.u64 %words, [words];
  ld.param.u32 %r6, [seed];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.wide.u32 %i, %r0, %r1, 0;
  cvt.u64.u32 %a, %r2;
  add.u64 %i, %i, %a;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %step, %r3, %r1;
LOOP:
  setp.ge.u64 %p0, %i, %words;
  @%p0 bra DONE;
  mad.lo.u64 %a, %i, 0x9e3779b97f4a7c15, 0x632be59bd9b4e019;
  shr.u64 %b, %a, 29;
  xor.b64 %a, %a, %b;
  mul.lo.u64 %a, %a, 0xbf58476d1ce4e5b9;
  shr.u64 %a, %a, 32;
  cvt.u32.u64 %r4, %a;
  xor.b32 %r4, %r4, %r6;
  and.b32 %r4, %r4, 0x83ffffff;
  or.b32 %r4, %r4, 0x3c000000;
  shl.b64 %b, %i, 2;
  add.u64 %b, %b, %base;
  st.global.u32 [%b], %r4;
  add.u64 %i, %i, %step;
  bra LOOP;
DONE:
  ret;
}
)";
}

std::vector<Microbench> microbenches(const ChipTraits& chip) {
  // Bytes a warp walks through. With 32 or 64 warps on each of 132 SMs: 64 to 128 KiB an SM stay in L1, 9 to 17 MB stay in
  // one partition of L2 (half of it), and gigabytes stay nowhere.
  constexpr std::uint64_t kL1 = 2048, kL2 = 2048, kDram = 1 << 20, kTmaL2 = 16384;
  std::vector<Microbench> all{
      shared_memory(chip, "shared_load", false, false),
      shared_memory(chip, "shared_load_wide", false, true),
      shared_memory(chip, "shared_store", true, false),
      chase(chip, Space::l1, "l1_load", "l1.load", "ca", 1024),
      chase(chip, Space::l2, "l2_load", "l2.load", "cg", kL2),
      chase(chip, Space::dram, "dram_load", "dram.read", "cg", kDram),
      chase(chip, Space::l1, "l1_load_div", "div", "ca", 1024, 1),
      chase(chip, Space::l2, "l2_load_div", "div", "cg", kL2, 1),
      chase(chip, Space::dram, "dram_load_div", "div", "cg", kDram, 1),
      scattered(chip),
      stream(chip, Space::l1, "l1_load_wide", "l1.load", "ca", kL1, false, false),
      stream(chip, Space::l2, "l2_load_wide", "l2.load", "cg", kL2, false, false),
      stream(chip, Space::dram, "dram_load_wide", "dram.read", "cg", kDram, false, false),
      stream(chip, Space::dram, "dram_load_zeros", "dram.read", "cg", kDram, false, true),
      stream(chip, Space::l2, "l2_store_wide", "l2.store", "cg", kL2, true, false),
      stream(chip, Space::dram, "dram_store_wide", "dram.write", "cg", kDram, true, false),
      stream(chip, Space::dram, "dram_store_zeros", "dram.write", "cg", kDram, true, true),
  };
  for (auto& b : compute_classes(chip)) all.push_back(std::move(b));
  all.push_back(spin(chip));
  if (chip.compute >= 80) {
    all.push_back(mma(chip, "mma_bf16", "tensor.bf16.mma", "m16n8k16", "bf16.bf16", 4, 2, 2.0 * 16 * 8 * 16, 16, false));
    all.push_back(mma(chip, "mma_fp16", "tensor.fp16.mma", "m16n8k16", "f16.f16", 4, 2, 2.0 * 16 * 8 * 16, 16, false));
    all.push_back(mma(chip, "mma_tf32", "tensor.tf32.mma", "m16n8k8", "tf32.tf32", 4, 2, 2.0 * 16 * 8 * 8, 32, false));
    all.push_back(mma(chip, "mma_bf16_zeros", "tensor.bf16.mma", "m16n8k16", "bf16.bf16", 4, 2, 2.0 * 16 * 8 * 16, 16, true));
  }
  if (chip.compute == 90) {
    all.push_back(wgmma(chip, "wgmma_bf16", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 0, 0", false, 16));
    all.push_back(wgmma(chip, "wgmma_fp16", "tensor.fp16.wgmma", 16, "f16.f16", ", 0, 0", false, 16));
    all.push_back(wgmma(chip, "wgmma_tf32", "tensor.tf32.wgmma", 8, "tf32.tf32", "", false, 32));
    all.push_back(wgmma(chip, "wgmma_fp8", "tensor.fp8", 32, "e4m3.e4m3", "", false, 8));
    all.push_back(wgmma(chip, "wgmma_bf16_zeros", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 0, 0", true, 16));
    all.push_back(tma(chip, Space::l2, "l2_tma_load", kTmaL2));
    all.push_back(tma(chip, Space::dram, "dram_tma_load", kDram));
  }
  return all;
}

}  // namespace gf::microbench
