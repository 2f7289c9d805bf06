#include <fmt/format.h>

#include <algorithm>

#include "collect/microbench/kernels.h"

namespace gf::microbench {

namespace {

// Bytes a warp walks through. With 32 or 64 warps on each of 132 SMs: 64 to 128 KiB an SM stay in
// L1, 9 to 17 MB stay in one partition of L2 (half of it), 35 MB in both together but not in one,
// and gigabytes stay nowhere.
constexpr std::uint64_t kL1 = 2048, kL2 = 2048, kL2Far = 8192, kDram = 1 << 20, kTmaL2 = 32768;

/// Adds `accesses` to every level that an access of this kind passes: a load from L2 was looked up
/// in L1 first, one from DRAM in both. Coefficients are therefore incremental, level by level. L2
/// is asked for a cache line's accesses at once.
void add_path(Counts& counts, Space space, bool writes, double accesses,
              double accesses_a_request = 4) {
  if (space == Space::none || space == Space::shared) return;
  if (!writes) counts["l1.load"] += accesses;  // stores go through L1 to L2: one feature
  if (space == Space::l1) return;
  counts[writes ? "l2.store" : "l2.load"] += accesses;
  counts[writes ? "l2.store_request" : "l2.request"] += accesses / accesses_a_request;
  if (space == Space::dram) counts[writes ? "dram.write" : "dram.read"] += accesses;
}

/// `divides`: how many integer divisions follow each load; the DIV cross-check of the thesis adds
/// one.
Microbench chase(const ChipTraits& chip, Space space, const char* id, const char* feature,
                 const char* cache, std::uint64_t bytes_per_warp, int divides = 0) {
  Microbench bench;
  bench.id = id;
  bench.feature = feature;
  bench.space = space;
  bench.unroll = 32;
  bench.chase = bench.addresses = true;
  bench.bytes_per_warp = bytes_per_warp;
  std::string body;
  for (int i = 0; i < bench.unroll; ++i) {
    body += fmt::format("  ld.global.{}.u64 %chain, [%chain];\n", cache);
    // The division waits for the load, but divides the same numbers at every level.
    for (int digit = 0; digit < divides; ++digit)
      body +=
          "  cvt.u32.u64 %r2, %chain;\n  and.b32 %r2, %r2, %zero;\n  or.b32 %r2, %r2, %r5;\n  "
          "div.u32 %r3, %r4, %r2;\n  xor.b32 %r4, %r4, %r3;\n  add.u32 %r4, %r4, 0x9e3779b9;\n";
  }
  bench.ptx = kernel(
      chip,
      "  .reg .u64 %chain;\n  mad.lo.u32 %r4, %thread, 0x85ebca6b, 77777;\n  shr.u32 %r5, %r4, "
      "9;\n  or.b32 %r5, %r5, 1;\n  mul.wide.u32 %d1, %lane, 8;\n  add.u64 %chain, %base, %d1;\n",
      body, "  cvt.u32.u64 %acc, %chain;\n  xor.b32 %acc, %acc, %r4;\n" + std::string(kKeepAcc));
  bench.per_warp_loop = {{"inst", bench.unroll + 3.0}};
  if (divides > 0) bench.per_warp_loop["div"] = bench.unroll * divides * 32.0;
  add_path(bench.per_warp_loop, space, false,
           bench.unroll * 8.0);  // 32 lanes x 8 bytes = 8 accesses of 32 bytes
  return bench;
}

/// A chase in which every lane reads a cache line of its own: 32 lookups an instruction in L1, or
/// as many reads of DRAM.
Microbench scattered(const ChipTraits& chip, Space space, const char* id, const char* feature,
                     const char* cache) {
  Microbench bench = chase(chip, space, id, feature, cache, space == Space::dram ? kDram : 4096);
  const std::string from = "mul.wide.u32 %d1, %lane, 8;",
                    to = fmt::format("mul.wide.u32 %d1, %lane, {};", bench.bytes_per_warp / 32);
  bench.ptx.replace(bench.ptx.find(from), from.size(), to);
  bench.fixed_threads = 512;  // 16 warps of 4 KiB stay in L1
  bench.addresses = false;    // a quarter of what it moves, at most
  bench.per_warp_loop["l1.load"] = bench.unroll * 32.0;
  if (space == Space::dram)
    bench.per_warp_loop["l2.load"] = bench.per_warp_loop["l2.request"] = bench.unroll * 32.0;
  if (space == Space::dram)
    bench.per_warp_loop["dram.read"] = bench.unroll * 64.0;  // DRAM gives 64 bytes at least
  return bench;
}

/// Independent 16-byte loads or stores of random data through a region, `unroll` x 512 bytes a
/// loop. Scattered: every lane stays in a cache line of its own, whose four accesses take turns, so
/// that every access to L2 is a request of its own.
Microbench stream(const ChipTraits& chip, Space space, const char* id, const char* feature,
                  const char* cache, std::uint64_t bytes_per_warp, bool writes, bool zeros,
                  bool scattered = false) {
  Microbench bench;
  bench.id = id;
  bench.feature = feature;
  bench.space = space;
  bench.unroll = scattered ? 4 : static_cast<int>(std::min<std::uint64_t>(8, bytes_per_warp / 512));
  const int lane_bytes = scattered ? 128 : 16, step = scattered ? 32 : 512;
  bench.writes = writes;
  bench.zeros = zeros;
  bench.bytes_per_warp = bytes_per_warp;
  const std::string setup =
      "  .reg .u64 %at, %mask, %off;\n" +
      fmt::format("  mul.wide.u32 %d1, %lane, {};\n", lane_bytes) +
      "  add.u64 %base, %base, %d1;\n  sub.u64 %mask, %region, 1;\n  mov.u64 %off, 0;\n  mov.u64 "
      "%at, %base;\n"
      "  mad.lo.u32 %r40, %r0, 0x9e3779b1, 0x3f8ccccd;\n  mul.lo.u32 %r41, %r40, 0x85ebca6b;\n  "
      "mul.lo.u32 %r42, %r41, 0xc2b2ae35;\n  mul.lo.u32 %r43, %r42, 0x27d4eb2f;\n" +
      std::string(
          zeros ? "  mov.u32 %r40, 0;\n  mov.u32 %r41, 0;\n  mov.u32 %r42, 0;\n  mov.u32 %r43, 0;\n"
                : "");
  std::string body;
  for (int i = 0; i < bench.unroll; ++i) {
    if (writes) {
      body += fmt::format("  st.global.{}.v4.u32 [%at+{}], {{%r40, %r41, %r42, %r43}};\n", cache,
                          i * step);
    } else {
      body += fmt::format("  ld.global.{}.v4.u32 {{%r{}, %r{}, %r{}, %r{}}}, [%at+{}];\n", cache,
                          4 + 4 * i, 5 + 4 * i, 6 + 4 * i, 7 + 4 * i, i * step);
    }
  }
  if (!writes)
    for (int i = 0; i < bench.unroll; ++i)
      for (int j = 0; j < 4; j += 2)
        body +=
            fmt::format("  lop3.b32 %acc, %acc, %r{}, %r{}, 0x96;\n", 4 + 4 * i + j, 5 + 4 * i + j);
  // The next address depends on what was read (through a runtime zero), so that no load can leave
  // the loop.
  body += "  and.b32 %r2, %acc, %zero;\n  cvt.u64.u32 %d2, %r2;\n";
  body += fmt::format(
      "  add.u64 %off, %off, {};\n  and.b64 %off, %off, %mask;\n  add.u64 %at, %base, %off;\n  "
      "add.u64 %at, %at, %d2;\n",
      scattered ? bytes_per_warp : static_cast<std::uint64_t>(bench.unroll) * 512);
  if (writes && !zeros)
    body +=
        "  mad.lo.u32 %r40, %r40, 0x9e3779b1, %loop;\n  xor.b32 %r41, %r41, %r40;\n  xor.b32 %r42, "
        "%r42, %r41;\n  xor.b32 %r43, %r43, %r42;\n";
  bench.ptx = kernel(chip, setup, body, kKeepAcc);
  bench.per_warp_loop = {{"inst", bench.unroll + 3.0 + 8.0 + (writes ? 1.0 : 2.0 * bench.unroll)}};
  add_path(bench.per_warp_loop, space, writes, bench.unroll * (scattered ? 32.0 : 16.0),
           scattered ? 1 : 4);
  bench.per_warp_loop["pipe.alu"] = 32.0 * (writes ? 8.0 : 8.0 + 2.0 * bench.unroll);
  return bench;
}

/// Additions in L2, whose result nobody waits for: a word a lane, a cache line a warp. Scattered:
/// an access of its own a lane. What is added changes its sign from loop to loop, so that sums stay
/// where they are.
Microbench reductions(const ChipTraits& chip, const char* id, const char* type,
                      bool scattered = false) {
  Microbench bench;
  bench.id = id;
  bench.feature = "l2.atomic";
  bench.space = Space::l2;
  bench.writes = true;
  bench.unroll = 8;
  bench.bytes_per_warp = scattered ? 8192 : 1024;
  const int lane_bytes = scattered ? 32 : 4, step = 32 * lane_bytes;
  std::string body;
  for (int i = 0; i < bench.unroll; ++i)
    body += fmt::format("  red.global.add.{0} [%at+{1}], %{2};\n", type, i * step,
                        type[0] == 'f' ? "f2" : "r40");
  body += type[0] == 'f' ? "  neg.f32 %f2, %f2;\n" : "  neg.s32 %r40, %r40;\n";
  bench.ptx = kernel(chip,
                     fmt::format("  .reg .u64 %at;\n  mul.wide.u32 %d1, %lane, {};\n  add.u64 %at, "
                                 "%base, %d1;\n  mad.lo.u32 %r40, %r0, 0x9e3779b1, 0x85ebca6b;\n  "
                                 "and.b32 %r41, %r40, 0x83ffffff;\n  or.b32 %r41, %r41, "
                                 "0x3c000000;\n  mov.b32 %f2, %r41;\n",
                                 lane_bytes),
                     body, kKeepAcc);
  bench.per_warp_loop = {{"inst", bench.unroll + 4.0},
                         {"l2.atomic", bench.unroll * (scattered ? 32.0 : 4.0)}};
  return bench;
}

Microbench shared_memory(const ChipTraits& chip, const char* id, bool writes, bool wide) {
  Microbench bench;
  bench.id = id;
  bench.feature = writes ? "shared.store" : "shared.load";
  bench.space = Space::shared;
  bench.unroll = 32;
  bench.writes = writes;
  bench.addresses = !writes && !wide;
  bench.shared_bytes = 0;  // 1024 threads x 16 bytes of static shared memory
  const char* globals = ".shared .align 16 .b8 cells[16384];\n";
  std::string setup = "  .reg .u32 %at, %word;\n  mov.u32 %r2, cells;\n";
  if (wide) {
    setup += "  shl.b32 %r3, %thread, 4;\n";
  } else {
    setup += "  shl.b32 %r3, %thread, 2;\n";
  }
  setup += "  add.u32 %at, %r2, %r3;\n";
  if (!writes && !wide) setup += "  st.shared.u32 [%at], %at;\n";  // each lane chases its own cell
  if (wide)
    setup +=
        "  xor.b32 %r40, %thread, 0x3f8ccccd;\n  xor.b32 %r41, %r40, 0x2545f491;\n  xor.b32 %r42, "
        "%r41, 0x1b873593;\n  xor.b32 %r43, %r42, 0x9e3779b9;\n  st.shared.v4.u32 [%at], {%r40, "
        "%r41, %r42, %r43};\n";
  else
    setup += "  xor.b32 %word, %thread, 0x2545f491;\n";
  setup += "  bar.sync 0;\n";
  std::string body;
  double others = 0;
  for (int i = 0; i < bench.unroll; ++i) {
    if (!wide) {
      if (writes) {
        body +=
            "  st.volatile.shared.u32 [%at], %word;\n  lop3.b32 %word, %word, %loop, "
            "0x6a09e667, 0x96;\n";
      } else {
        body += "  ld.shared.u32 %at, [%at];\n";
      }
    } else
      body += fmt::format(
          "  ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%at];\n  lop3.b32 %acc, %acc, %r4, %r5, "
          "0x96;\n  lop3.b32 %r8, %acc, %r6, %r7, 0x96;\n  and.b32 %r8, %r8, %zero;\n  add.u32 "
          "%at, %at, %r8;\n");
    if (wide) {
      others += 4;
    } else if (writes)
      others += 1;
  }
  bench.ptx =
      kernel(chip, setup, body,
             std::string(!(wide || writes) ? "  mov.u32 %acc, %at;\n" : "") + kKeepAcc, globals);
  bench.per_warp_loop = {{"inst", bench.unroll + others + 3.0},
                         {bench.feature, bench.unroll * (wide ? 16.0 : 4.0)}};
  if (others > 0) bench.per_warp_loop["pipe.alu"] = 32.0 * others;
  return bench;
}

/// Bulk copies (TMA) of 8 KiB from global to shared memory by one thread of each block; the others
/// wait. Shared: two blocks of a cluster copy half each, for both of them (multicast), so that L2
/// is read once for two deliveries.
Microbench tma(const ChipTraits& chip, Space space, const char* id, std::uint64_t bytes_per_warp,
               bool shared = false) {
  Microbench bench;
  bench.id = id;
  bench.feature = "tma.load";
  bench.space = space;
  bench.unroll = shared ? 2 : 4;
  bench.fixed_threads = 32;
  bench.bytes_per_warp = bytes_per_warp;
  constexpr int kBytes = 8192, kLanding = 4 * kBytes;
  const char* globals = ".shared .align 128 .b8 landing[32768];\n.shared .align 8 .b64 barrier;\n";
  const std::string setup =
      "  .reg .u32 %bar, %dst, %parity;\n  .reg .u64 %off, %mask, %at;\n  .reg .b16 %both;\n  "
      "mov.u32 %bar, barrier;\n  mov.u32 %dst, landing;\n  mov.u32 %parity, 0;\n  mov.u64 %off, "
      "0;\n  sub.u64 %mask, %region, 1;\n"
      "  setp.eq.u32 %p3, %lane, 0;\n  @%p3 mbarrier.init.shared.b64 [%bar], 1;\n  "
      "fence.proxy.async;\n  bar.sync 0;\n" +
      std::string(shared ? "  mov.b16 %both, 3;\n  mov.u32 %r6, %cluster_ctarank;\n  mad.lo.u32 "
                           "%dst, %r6, 16384, %dst;\n  fence.mbarrier_init.release.cluster;\n  "
                           "barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n"
                         : "");
  std::string body =
      fmt::format("  @%p3 mbarrier.arrive.expect_tx.shared.b64 %d5, [%bar], {};\n", kLanding);
  for (int i = 0; i < bench.unroll; ++i)
    body += fmt::format(
        "  add.u64 %at, %base, %off;\n  add.u32 %r5, %dst, {};\n  @%p3 "
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{} [%r5], [%at], {}, "
        "[%bar]{};\n"
        "  add.u64 %off, %off, {};\n  and.b64 %off, %off, %mask;\n",
        i * kBytes, shared ? ".multicast::cluster" : "", kBytes, shared ? ", %both" : "", kBytes);
  body +=
      "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p4, [%bar], %parity;\n  @!%p4 bra WAIT;\n  "
      "xor.b32 %parity, %parity, 1;\n";
  // A block must not end while the other still copies to it.
  bench.ptx = kernel(
      chip, setup, body,
      (shared ? "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n" : "") +
          std::string(kKeepAcc),
      globals);
  if (shared)
    bench.ptx.replace(bench.ptx.find(")\n{"), 3,
                      ")\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{");
  bench.per_warp_loop = {{"tma.load", kLanding / 32.0},
                         {"l2.load", bench.unroll * kBytes / 32.0},
                         {"l2.request", bench.unroll * kBytes / 128.0},
                         {"inst", bench.unroll * 5.0 + 10.0}};
  if (space == Space::dram) bench.per_warp_loop["dram.read"] = bench.unroll * kBytes / 32.0;
  return bench;
}

}  // namespace

std::vector<Microbench> memory_kernels(const ChipTraits& chip) {
  return {
      shared_memory(chip, "shared_load", false, false),
      shared_memory(chip, "shared_load_wide", false, true),
      shared_memory(chip, "shared_store", true, false),
      chase(chip, Space::l1, "l1_load", "l1.load", "ca", 1024),
      chase(chip, Space::l2, "l2_load", "l2.load", "cg", kL2),
      chase(chip, Space::dram, "dram_load", "dram.read", "cg", kDram),
      chase(chip, Space::l1, "l1_load_div", "div", "ca", 1024, 1),
      chase(chip, Space::l2, "l2_load_div", "div", "cg", kL2, 1),
      chase(chip, Space::dram, "dram_load_div", "div", "cg", kDram, 1),
      scattered(chip, Space::l1, "l1_load_scattered", "l1.wavefront", "ca"),
      scattered(chip, Space::dram, "dram_load_scattered", "l2.request", "cg"),
      stream(chip, Space::l1, "l1_load_wide", "l1.load", "ca", kL1, false, false),
      stream(chip, Space::l2, "l2_load_wide", "l2.load", "cg", kL2, false, false),
      stream(chip, Space::l2, "l2_load_far", "l2.load", "cg", kL2Far, false, false),
      stream(chip, Space::l2, "l2_load_scattered", "l2.load", "cg", 4096, false, false, true),
      stream(chip, Space::l2, "l2_store_scattered", "l2.store", "cg", 4096, true, false, true),
      stream(chip, Space::l2, "l2_load_wide_zeros", "l2.load", "cg", kL2, false, true),
      stream(chip, Space::dram, "dram_load_wide", "dram.read", "cg", kDram, false, false),
      stream(chip, Space::dram, "dram_load_zeros", "dram.read", "cg", kDram, false, true),
      stream(chip, Space::l2, "l2_store_wide", "l2.store", "cg", kL2, true, false),
      stream(chip, Space::dram, "dram_store_wide", "dram.write", "cg", kDram, true, false),
      stream(chip, Space::dram, "dram_store_zeros", "dram.write", "cg", kDram, true, true),
      reductions(chip, "l2_add_fp32", "f32"),
      reductions(chip, "l2_add_int", "s32"),
      reductions(chip, "l2_add_scattered", "f32", true),
  };
}

std::vector<Microbench> copy_kernels(const ChipTraits& chip) {
  if (chip.compute != 90) return {};
  return {tma(chip, Space::l2, "l2_tma_load", kTmaL2),
          tma(chip, Space::l2, "l2_tma_multicast", kTmaL2, true),
          tma(chip, Space::dram, "dram_tma_load", kDram)};
}

}  // namespace gf::microbench
