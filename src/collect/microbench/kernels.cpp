#include "collect/microbench/kernels.h"

#include <fmt/format.h>

namespace gf::microbench {

namespace {

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

}  // namespace

std::string target(const ChipTraits& chip) {
  return fmt::format(".version {}\n.target sm_{}{}\n.address_size 64\n",
                     chip.compute >= 90 ? "8.0" : "7.1", chip.compute >= 90 ? 90 : 80,
                     chip.compute == 90 ? "a" : "");
}

std::string kernel(const ChipTraits& chip, const std::string& setup, const std::string& body,
                   const std::string& end, const std::string& globals) {
  return target(chip) + globals +
         ".visible .entry bench(.param .u64 data, .param .u64 sink, .param .u32 loops, .param .u64 "
         "bytes_per_warp, .param .u32 zero)\n{" +
         std::string(kPrologue) + setup + "LOOP:\n" + body +
         "  add.u32 %loop, %loop, 1;\n  setp.lt.u32 %p0, %loop, %loops;\n  @%p0 bra LOOP;\n" + end +
         "  ret;\n}\n";
}

namespace {

/// A kernel that walks over the words of an array, all threads in step: `parameter` is declared and
/// loaded by `load`; `body` fills word %i of the array at %base.
std::string filler(const ChipTraits& chip, std::string_view entry, std::string_view parameter,
                   std::string_view load, std::string_view body) {
  std::string ptx = target(chip);
  ptx.append(".visible .entry ")
      .append(entry)
      .append("(.param .u64 data, .param .u64 words, ")
      .append(parameter)
      .append(R"()
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .u64 %base, %words, %per, %i, %step, %a, %b;
  ld.param.u64 %base, [data];
  ld.param.u64 %words, [words];
)");
  ptx.append(load).append(R"(  mov.u32 %r0, %ctaid.x;
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
)");
  ptx.append(body).append(R"(  add.u64 %i, %i, %step;
  bra LOOP;
DONE:
  ret;
}
)");
  return ptx;
}

}  // namespace

std::string chain_filler_ptx(const ChipTraits& chip) {
  return filler(chip, "fill_chain", ".param .u64 words_per_warp",
                "  ld.param.u64 %per, [words_per_warp];\n", R"(  rem.u64 %a, %i, %per;
  sub.u64 %b, %i, %a;
  add.u64 %a, %a, 32;
  rem.u64 %a, %a, %per;
  add.u64 %a, %a, %b;
  shl.b64 %a, %a, 3;
  add.u64 %a, %a, %base;
  shl.b64 %b, %i, 3;
  add.u64 %b, %b, %base;
  st.global.u64 [%b], %a;
)");
}

std::string random_filler_ptx(const ChipTraits& chip) {
  return filler(chip, "fill_random", ".param .u32 seed", "  ld.param.u32 %r6, [seed];\n",
                R"(  mad.lo.u64 %a, %i, 0x9e3779b97f4a7c15, 0x632be59bd9b4e019;
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
)");
}

std::vector<Microbench> microbenches(const ChipTraits& chip) {
  std::vector<Microbench> all;
  for (auto* family : {memory_kernels, compute_kernels, tensor_kernels, copy_kernels})
    for (auto& bench : family(chip)) {
      const std::string entry = ".entry bench(";
      bench.ptx.replace(bench.ptx.find(entry), entry.size(), ".entry " + bench.entry() + "(");
      all.push_back(std::move(bench));
    }
  return all;
}

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

namespace {

/// Masks that make a word of random bits one or more ordinary numbers: what is kept of it, and what
/// of the exponents is set.
struct RandomBits {
  const char* keep;
  const char* set;
};
RandomBits random_bits(std::uint32_t element_bits) {
  if (element_bits == 16) return {"0x83ff83ff", "0x3c003c00"};
  if (element_bits == 8) return {"0x8f8f8f8f", "0x30303030"};
  if (element_bits == 0) return {"0xffffffff", "0"};  // integers
  return {"0x83ffffff", "0x3c000000"};
}

/// The types of a product: how its operands and sums lie in registers.
struct Arithmetic {
  char operand, sum;     // letters of the registers: r (32 bits), f (FP32), q (FP64)
  const char* sum_type;  // of the instruction
  std::uint32_t bits;    // of an element
};
constexpr Arithmetic kFloat16{'r', 'f', "f32", 16}, kTf32{'r', 'f', "f32", 32},
    kInt8{'r', 'r', "s32", 0}, kFloat64{'q', 'q', "f64", 64};

/// mma.sync: one warp, registers only.
struct Mma {
  const char* id;
  const char* feature;
  const char* shape;  // "m16n8k16"
  const char* types;  // "bf16.bf16"
  int a_regs, b_regs, sums;
  double flop;
  Arithmetic arithmetic;
  bool zeros = false;
};

/// "{%r8, %r9}".
std::string registers(char letter, int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{} %{}{}", i > 0 ? "," : "", letter, first + i);
  return "{" + text + "}";
}

/// A register of an operand: random bits of its type, or zeros.
std::string fill_operand(const Mma& mma, int number) {
  const RandomBits random = random_bits(mma.arithmetic.bits);
  const bool wide = mma.arithmetic.operand == 'q';
  const int at = 8 + number, word = wide ? 3 : at;
  if (mma.zeros) return fmt::format("  mov.u32 %r{}, %zero;\n", at);
  std::string setup = fmt::format(
      "  mad.lo.u32 %r{0}, %r2, 0x9e3779b1, {1};\n  and.b32 %r{0}, %r{0}, {2};\n  or.b32 %r{0}, "
      "%r{0}, {3};\n",
      word, 77777 * (number + 1), random.keep, random.set);
  if (wide)  // times a number of all 53 bits
    setup += fmt::format(
        "  mov.b32 %f1, %r3;\n  cvt.f64.f32 %q{0}, %f1;\n  mul.f64 %q{0}, %q{0}, "
        "0d3FF0000000A7C5AC;\n",
        at);
  return setup;
}

/// Four sets of each operand take turns, as the tiles of a matrix product do: with the same
/// operands again and again the datapaths would hardly toggle. Those of FP64 are twice as wide: two
/// sets.
Microbench product(const ChipTraits& chip, const Mma& mma) {
  Microbench bench;
  bench.id = mma.id;
  bench.feature = mma.feature;
  bench.zeros = mma.zeros;
  constexpr int kChains = 4, kRepeat = 8;
  const char operand = mma.arithmetic.operand, sum = mma.arithmetic.sum;
  const bool wide = operand == 'q';
  const int sets = wide ? 2 : 4;
  if (wide) bench.fixed_threads = 256;  // whatever registers the driver gives them
  bench.unroll = kChains * kRepeat;
  std::string setup = "  mad.lo.u32 %r2, %warp, 33, %lane;\n";
  const int operands = sets * (mma.a_regs + mma.b_regs);
  for (int i = 0; i < operands; ++i) setup += fill_operand(mma, i);
  const int sums = operand == sum ? 8 + operands : 8;  // behind the operands, if of their kind
  for (int i = 0; i < kChains * mma.sums; ++i)
    setup += fmt::format("  mov.b{} %{}{}, {};\n", wide ? 64 : 32, sum, sums + i,
                         wide         ? "0d0000000000000000"
                         : sum == 'f' ? "0f00000000"
                                      : "0");
  std::string body, end;
  for (int repeat = 0; repeat < kRepeat; ++repeat)
    for (int chain = 0; chain < kChains; ++chain) {
      const auto to = registers(sum, sums + mma.sums * chain, mma.sums);
      body += fmt::format(
          "  mma.sync.aligned.{0}.row.col.{1}.{2}.{1} {3}, {4}, {5}, {3};\n", mma.shape,
          mma.arithmetic.sum_type, mma.types, to,
          registers(operand, 8 + repeat % sets * mma.a_regs, mma.a_regs),
          registers(operand, 8 + sets * mma.a_regs + chain % sets * mma.b_regs, mma.b_regs));
    }
  for (int i = 0; i < kChains * mma.sums; ++i)
    end += wide ? fmt::format(
                      "  cvt.rn.f32.f64 %f1, %q{};\n  mov.b32 %r2, %f1;\n  xor.b32 %acc, "
                      "%acc, %r2;\n",
                      sums + i)
                : fmt::format("  mov.b32 %r2, %{}{};\n  xor.b32 %acc, %acc, %r2;\n", sum, sums + i);
  bench.ptx = kernel(chip, setup, body, end + kKeepAcc);
  bench.per_warp_loop = {{"inst", bench.unroll + 3.0}, {mma.feature, bench.unroll * mma.flop}};
  return bench;
}

/// The product and the other work of a wgmma microbenchmark.
struct Wgmma {
  const char* id;
  const char* feature;
  int k;  // depth of one operation; two operand elements of 16, or four of 8, or one of 32 bits a
          // word
  const char* types;   // "bf16.bf16"
  const char* more;    // signs and majors, where the instruction takes them
  std::uint32_t bits;  // of an element; 0: integers
  bool zeros = false;
  int n = 256;      // columns: narrow tiles read more shared memory an operation
  bool l2 = false;  // reads from L2 go on beside the products: hungrier, so that the clock falls
                    // further under the cap
};

constexpr int kTileA = 2048;  // bytes of a tile of the first operand: 64 rows of 32
constexpr int kL2Reads = 8;   // of a loop that reads from L2 beside its products

/// Fills the tiles with random bits of the element type (or zeros), then describes them: start
/// address, leading and stride byte offsets in units of 16 bytes, no swizzle (PTX ISA, "Matrix
/// descriptor").
std::string fill_tiles(const Wgmma& wgmma) {
  const RandomBits random = random_bits(wgmma.bits);
  std::string setup = fmt::format(
      "  .reg .u64 %da<4>, %db<4>;\n  .reg .u32 %cell;\n  .reg .{} %c<128>;\n  mov.u32 %r2, "
      "tiles;\n  shl.b32 %r3, %thread, 2;\n  add.u32 %cell, %r2, %r3;\n  mov.u32 %r4, 0;\n"
      "FILL:\n  mad.lo.u32 %r5, %cell, 0x9e3779b1, %warp;\n  shr.u32 %r6, %r5, 15;\n  xor.b32 %r5, "
      "%r5, %r6;\n  mul.lo.u32 %r5, %r5, 0x85ebca6b;\n  and.b32 %r5, %r5, {};\n  or.b32 %r5, %r5, "
      "{};\n{}"
      "  st.shared.u32 [%cell], %r5;\n  add.u32 %cell, %cell, 512;\n  add.u32 %r4, %r4, 1;\n  "
      "setp.lt.u32 %p2, %r4, 80;\n  @%p2 bra FILL;\n"
      "  fence.proxy.async;\n  bar.sync 0;\n"
      "  and.b32 %r7, %r2, 0x3ffff;\n  shr.u32 %r7, %r7, 4;\n  cvt.u64.u32 %da0, %r7;\n  mov.u64 "
      "%d3, 0x0000000800080000;\n  or.b64 %da0, %da0, %d3;\n"
      "  add.u64 %db0, %da0, {};\n",
      wgmma.bits > 0 ? "f32" : "s32", random.keep, random.set,
      wgmma.zeros ? "  mov.u32 %r5, 0;\n" : "", 4 * kTileA / 16);
  for (int i = 1; i < 4; ++i)
    setup += fmt::format("  add.u64 %da{0}, %da0, {1};\n  add.u64 %db{0}, %db0, {2};\n", i,
                         i * kTileA / 16, i * wgmma.n * 32 / 16);
  return setup;
}

/// The next address depends on what was read (through a runtime zero).
std::string read_l2() {
  std::string body;
  for (int i = 0; i < kL2Reads; ++i)
    body += fmt::format(
        "  ld.global.cg.v4.u32 {{%r40, %r41, %r42, %r43}}, [%at+{}];\n  lop3.b32 %acc, %acc, "
        "%r40, %r41, 0x96;\n  lop3.b32 %acc, %acc, %r42, %r43, 0x96;\n",
        i * 512);
  return body +
         "  and.b32 %r2, %acc, %zero;\n  cvt.u64.u32 %d2, %r2;\n  add.u64 %at, %base, %d2;\n";
}

void count_l2_reads(Microbench& bench) {
  bench.space = Space::l2;
  bench.bytes_per_warp = kL2Reads * 512;
  bench.per_warp_loop["inst"] += 3.0 * kL2Reads + 3;
  bench.per_warp_loop["l1.load"] = bench.per_warp_loop["l2.load"] = kL2Reads * 16.0;
  bench.per_warp_loop["l2.request"] = kL2Reads * 4.0;
}

/// wgmma m64nNk*: one warpgroup, both operands from shared memory without swizzle. 64 x N outputs.
/// Four tiles of each operand take turns.
Microbench wgmma(const ChipTraits& chip, const Wgmma& wgmma) {
  Microbench bench;
  bench.id = wgmma.id;
  bench.feature = wgmma.feature;
  bench.zeros = wgmma.zeros;
  bench.unroll = 8;
  bench.fixed_threads = 128;
  const int tile_b = wgmma.n * 32, accumulators = wgmma.n / 2;
  const char* globals = ".shared .align 1024 .b8 tiles[40960];\n";
  std::string setup = fill_tiles(wgmma), regs, end;
  for (int i = 0; i < accumulators; ++i) {
    setup += fmt::format("  mov.b32 %c{}, {};\n", i, wgmma.bits > 0 ? "0f00000000" : "0");
    regs += fmt::format("{}%c{}", i > 0 ? ", " : "", i);
    end += fmt::format("  mov.b32 %r9, %c{};\n  xor.b32 %acc, %acc, %r9;\n", i);
  }
  std::string body = "  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < bench.unroll; ++i)
    body += fmt::format(
        "  wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{} {{{}}}, %da{}, %db{}, 1{};\n", wgmma.n,
        wgmma.k, wgmma.bits > 0 ? "f32" : "s32", wgmma.types, regs, i % 4, i % 4, wgmma.more);
  body += "  wgmma.commit_group.sync.aligned;\n";
  // A warpgroup of four warps shares one operation: a warp's share is a quarter.
  bench.per_warp_loop = {{"inst", bench.unroll + 6.0},
                         {wgmma.feature, bench.unroll * 2.0 * 64 * wgmma.n * wgmma.k / 4},
                         {"shared.load", bench.unroll * (kTileA + tile_b) / 32.0 / 4}};
  if (wgmma.l2) {
    setup +=
        "  .reg .u64 %at;\n  mul.wide.u32 %d1, %lane, 16;\n  add.u64 %base, %base, %d1;\n  mov.u64 "
        "%at, %base;\n";
    body += read_l2();
    count_l2_reads(bench);
  }
  body += "  wgmma.wait_group.sync.aligned 0;\n";
  bench.ptx = kernel(chip, setup, body, end + kKeepAcc, globals);
  return bench;
}

}  // namespace

std::vector<Microbench> tensor_kernels(const ChipTraits& chip) {
  std::vector<Microbench> all;
  constexpr double kK16 = 2.0 * 16 * 8 * 16;
  if (chip.compute >= 80)
    for (const Mma& shape :
         {Mma{"mma_bf16", "tensor.bf16.mma", "m16n8k16", "bf16.bf16", 4, 2, 4, kK16, kFloat16},
          Mma{"mma_fp16", "tensor.fp16.mma", "m16n8k16", "f16.f16", 4, 2, 4, kK16, kFloat16},
          Mma{"mma_tf32", "tensor.tf32.mma", "m16n8k8", "tf32.tf32", 4, 2, 4, kK16 / 2, kTf32},
          Mma{"mma_int8", "tensor.int8.mma", "m16n8k32", "s8.s8", 4, 2, 4, 2 * kK16, kInt8},
          Mma{"mma_fp64_small", "tensor.fp64", "m8n8k4", "f64.f64", 1, 1, 2, 512, kFloat64},
          Mma{"mma_bf16_zeros", "tensor.bf16.mma", "m16n8k16", "bf16.bf16", 4, 2, 4, kK16, kFloat16,
              true}})
      all.push_back(product(chip, shape));
  if (chip.compute == 90) {
    all.push_back(
        product(chip, {"mma_fp64", "tensor.fp64", "m16n8k16", "f64.f64", 8, 4, 4, kK16, kFloat64}));
    for (const Wgmma& shape :
         {Wgmma{"wgmma_bf16", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 1, 1, 0, 0", 16},
          Wgmma{"wgmma_bf16_narrow", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 1, 1, 0, 0", 16,
                false, 64},
          Wgmma{"wgmma_bf16_l2", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 1, 1, 0, 0", 16, false,
                128, true},
          Wgmma{"wgmma_fp16", "tensor.fp16.wgmma", 16, "f16.f16", ", 1, 1, 0, 0", 16},
          Wgmma{"wgmma_tf32", "tensor.tf32.wgmma", 8, "tf32.tf32", ", 1, 1", 32},
          Wgmma{"wgmma_tf32_narrow", "tensor.tf32.wgmma", 8, "tf32.tf32", ", 1, 1", 32, false, 64},
          Wgmma{"wgmma_fp8", "tensor.fp8", 32, "e4m3.e4m3", ", 1, 1", 8},
          Wgmma{"wgmma_int8", "tensor.int8.wgmma", 32, "s8.s8", "", 0},
          Wgmma{"wgmma_bf16_zeros", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 1, 1, 0, 0", 16,
                true}})
      all.push_back(wgmma(chip, shape));
  }
  return all;
}

}  // namespace gf::microbench
