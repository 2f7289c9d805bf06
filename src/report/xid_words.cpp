#include "report/xid_words.h"

namespace gf {

namespace {

struct Xid {
  std::int64_t code;
  std::string_view words;
};
// From NVIDIA's list "XID Errors" (docs.nvidia.com/deploy/xid-errors).
constexpr Xid kXids[] = {
    {13, "a program's kernel failed"},
    {31, "a program touched memory that is not its own"},
    {43, "a program's work was stopped"},
    {45, "work was ended early, as a program was killed"},
    {48, "memory error that cannot be corrected"},
    {62, "the GPU's own controller halted"},
    {63, "a row of memory will be replaced"},
    {64, "a row of memory could not be replaced"},
    {74, "NVLink error"},
    {79, "the GPU fell off the bus"},
    {92, "many memory errors that were corrected"},
    {94, "memory error, one program was ended"},
    {95, "memory error, every program is touched: reset the GPU"},
    {109, "switching between programs took too long"},
    {119, "the GPU's system processor does not answer"},
    {120, "the GPU's system processor failed"},
    {140, "memory error that was not recovered from"},
};

}  // namespace

std::string_view xid_words(std::int64_t code) {
  for (const auto& xid : kXids)
    if (xid.code == code) return xid.words;
  return {};
}

}  // namespace gf
