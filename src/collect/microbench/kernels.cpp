#include "collect/microbench/kernels.h"

#include <fmt/format.h>

#include "collect/microbench/ptx.h"
#include "core/when.h"

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
                     when(chip.compute == 90, "a"));
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

}  // namespace gf::microbench
