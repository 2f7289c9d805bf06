#include <fmt/format.h>

#include "collect/microbench/ptx.h"
#include "core/when.h"

namespace gf::microbench {

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
  return {"0x83ffffff", "0x3c000000"};
}

/// mma.sync: one warp, registers only. Four sets of each operand take turns, as the tiles of a
/// matrix product do: with the same operands again and again the datapaths would hardly toggle.
Microbench mma(const ChipTraits& chip, const char* id, const char* feature, const char* shape,
               const char* types, int a_regs, int b_regs, double flop, std::uint32_t bits,
               bool zeros) {
  Microbench bench;
  bench.id = id;
  bench.feature = feature;
  bench.zeros = zeros;
  constexpr int kChains = 4, kRepeat = 8, kSets = 4;
  bench.unroll = kChains * kRepeat;
  const RandomBits random = random_bits(bits);
  std::string setup = "  mad.lo.u32 %r2, %warp, 33, %lane;\n";
  for (int i = 0; i < kSets * (a_regs + b_regs); ++i) {
    if (zeros) {
      setup += fmt::format("  mov.u32 %r{}, %zero;\n", 8 + i);
    } else {
      setup += fmt::format(
          "  mad.lo.u32 %r{0}, %r2, 0x9e3779b1, {1};\n  and.b32 %r{0}, %r{0}, "
          "{2};\n  or.b32 %r{0}, %r{0}, {3};\n",
          8 + i, 77777 * (i + 1), random.keep, random.set);
    }
  }
  for (int chain = 0; chain < kChains * 4; ++chain)
    setup += fmt::format("  mov.f32 %f{}, 0f00000000;\n", 8 + chain);
  std::string body, end;
  for (int register_index = 0; register_index < kRepeat; ++register_index)
    for (int chain = 0; chain < kChains; ++chain) {
      std::string operands, bb;
      for (int i = 0; i < a_regs; ++i)
        operands +=
            fmt::format("{}%r{}", when(i > 0, ", "), 8 + register_index % kSets * a_regs + i);
      for (int i = 0; i < b_regs; ++i)
        bb += fmt::format("{}%r{}", when(i > 0, ", "),
                          8 + kSets * a_regs + chain % kSets * b_regs + i);
      const int first = 8 + 4 * chain;
      body += fmt::format(
          "  mma.sync.aligned.{0}.row.col.f32.{1}.f32 {{%f{2}, %f{3}, %f{4}, %f{5}}}, {{{6}}}, "
          "{{{7}}}, {{%f{2}, %f{3}, %f{4}, %f{5}}};\n",
          shape, types, first, first + 1, first + 2, first + 3, operands, bb);
    }
  for (int chain = 0; chain < kChains * 4; ++chain)
    end += fmt::format("  mov.b32 %r2, %f{};\n  xor.b32 %acc, %acc, %r2;\n", 8 + chain);
  bench.ptx = kernel(chip, setup, body, end + kKeepAcc);
  bench.per_warp_loop = {{"inst", bench.unroll + 3.0}, {feature, bench.unroll * flop}};
  return bench;
}

/// What a wgmma microbenchmark multiplies, and what else it does.
struct Wgmma {
  const char* id;
  const char* feature;
  int k;  // depth of one operation; two operand elements of 16, or four of 8, or one of 32 bits a
          // word
  const char* types;   // "bf16.bf16"
  const char* majors;  // ", 0, 0" where the instruction takes them
  std::uint32_t bits;  // of an element
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
      "  .reg .u64 %da<4>, %db<4>;\n  .reg .u32 %cell;\n  .reg .f32 %c<128>;\n  mov.u32 %r2, "
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
      random.keep, random.set, when(wgmma.zeros, "  mov.u32 %r5, 0;\n"), 4 * kTileA / 16);
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
    setup += fmt::format("  mov.f32 %c{}, 0f00000000;\n", i);
    regs += fmt::format("{}%c{}", when(i > 0, ", "), i);
    end += fmt::format("  mov.b32 %r9, %c{};\n  xor.b32 %acc, %acc, %r9;\n", i);
  }
  std::string body = "  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < bench.unroll; ++i)
    body += fmt::format(
        "  wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{} {{{}}}, %da{}, %db{}, 1, 1, 1{};\n",
        wgmma.n, wgmma.k, wgmma.types, regs, i % 4, i % 4, wgmma.majors);
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
  if (chip.compute >= 80) {
    all.push_back(mma(chip, "mma_bf16", "tensor.bf16.mma", "m16n8k16", "bf16.bf16", 4, 2,
                      2.0 * 16 * 8 * 16, 16, false));
    all.push_back(mma(chip, "mma_fp16", "tensor.fp16.mma", "m16n8k16", "f16.f16", 4, 2,
                      2.0 * 16 * 8 * 16, 16, false));
    all.push_back(mma(chip, "mma_tf32", "tensor.tf32.mma", "m16n8k8", "tf32.tf32", 4, 2,
                      2.0 * 16 * 8 * 8, 32, false));
    all.push_back(mma(chip, "mma_bf16_zeros", "tensor.bf16.mma", "m16n8k16", "bf16.bf16", 4, 2,
                      2.0 * 16 * 8 * 16, 16, true));
  }
  if (chip.compute == 90) {
    for (const Wgmma& shape :
         {Wgmma{"wgmma_bf16", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 0, 0", 16},
          Wgmma{"wgmma_bf16_narrow", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 0, 0", 16, false, 64},
          Wgmma{"wgmma_bf16_l2", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 0, 0", 16, false, 128,
                true},
          Wgmma{"wgmma_fp16", "tensor.fp16.wgmma", 16, "f16.f16", ", 0, 0", 16},
          Wgmma{"wgmma_tf32", "tensor.tf32.wgmma", 8, "tf32.tf32", "", 32},
          Wgmma{"wgmma_tf32_narrow", "tensor.tf32.wgmma", 8, "tf32.tf32", "", 32, false, 64},
          Wgmma{"wgmma_fp8", "tensor.fp8", 32, "e4m3.e4m3", "", 8},
          Wgmma{"wgmma_bf16_zeros", "tensor.bf16.wgmma", 16, "bf16.bf16", ", 0, 0", 16, true}})
      all.push_back(wgmma(chip, shape));
  }
  return all;
}

}  // namespace gf::microbench
