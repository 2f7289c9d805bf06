// NVTX ranges and marks of the program. The program's NVTX calls InitializeInjectionNvtx2 of the
// library that NVTX_INJECTION64_PATH names, before its first range.
#include <nvtx3/nvToolsExt.h>

#include <cstring>
#include <string>

#include "collect/inject/agent/ranges.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

std::uint32_t kept_text(const char* text) { return Writer::instance().text(text ? text : ""); }

/// A text of wide characters as UTF-8; what is no character becomes U+FFFD.
std::uint32_t kept_text(const wchar_t* wide) {
  char bytes[4096];
  std::size_t size = 0;
  for (; wide && *wide != L'\0' && size + 4 < sizeof bytes; ++wide) {
    auto code = static_cast<std::uint32_t>(*wide);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    auto put = [&](std::uint32_t byte) { bytes[size++] = static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6);
      put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
      put(0x80 | (code >> 6 & 0x3f));
      put(0x80 | (code & 0x3f));
    }
  }
  return Writer::instance().text({bytes, size});
}

/// While nobody records, names are not looked up.
template <class Character>
std::uint32_t text(const Character* name) {
  return recorded() ? kept_text(name) : 0;
}

std::uint32_t name_of(const nvtxEventAttributes_t* left) {
  if (!left) return 0;
  switch (left->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return text(left->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return text(left->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED: {
      const auto id = reinterpret_cast<std::uintptr_t>(left->message.registered);
      if (Writer::instance().knows(id)) return static_cast<std::uint32_t>(id);
      return 0;
    }
    default:
      return 0;
  }
}

std::uint64_t number_of(nvtxDomainHandle_t domain) {
  return reinterpret_cast<std::uintptr_t>(domain);
}

// The functions as NVTX types them; the default domain is number 0.
void NVTX_API mark_ex(const nvtxEventAttributes_t* left) { mark(name_of(left)); }
void NVTX_API mark_a(const char* name) { mark(text(name)); }
void NVTX_API mark_w(const wchar_t* name) { mark(text(name)); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* left) {
  return start_range(name_of(left));
}
nvtxRangeId_t NVTX_API start_a(const char* name) { return start_range(text(name)); }
nvtxRangeId_t NVTX_API start_w(const wchar_t* name) { return start_range(text(name)); }
void NVTX_API end(nvtxRangeId_t id) { end_range(id); }
int NVTX_API push_ex(const nvtxEventAttributes_t* left) { return push_range(0, name_of(left)); }
int NVTX_API push_a(const char* name) { return push_range(0, text(name)); }
int NVTX_API push_w(const wchar_t* name) { return push_range(0, text(name)); }
int NVTX_API pop() { return pop_range(0); }
void NVTX_API domain_mark_ex(nvtxDomainHandle_t, const nvtxEventAttributes_t* left) {
  mark(name_of(left));
}
nvtxRangeId_t NVTX_API domain_start_ex(nvtxDomainHandle_t, const nvtxEventAttributes_t* left) {
  return start_range(name_of(left));
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end_range(id); }
int NVTX_API domain_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* left) {
  return push_range(number_of(domain), name_of(left));
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop_range(number_of(domain)); }

template <class Character>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const Character* name) {
  return reinterpret_cast<nvtxStringHandle_t>(static_cast<std::uintptr_t>(kept_text(name)));
}

/// Domains of one name are one domain: its number is the text's. The same text as a registered
/// string is another matter.
template <class Character>
nvtxDomainHandle_t NVTX_API domain_create(const Character* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(std::uintptr_t{1} << 32 | kept_text(name));
}

template <class F>
void set(NvtxFunctionTable table, unsigned size, unsigned id, F* function) {
  if (id < size && table[id]) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

void hook_default_domain(NvtxFunctionTable table, unsigned size) {
  set(table, size, NVTX_CBID_CORE_MarkEx, &mark_ex);
  set(table, size, NVTX_CBID_CORE_MarkA, &mark_a);
  set(table, size, NVTX_CBID_CORE_MarkW, &mark_w);
  set(table, size, NVTX_CBID_CORE_RangeStartEx, &start_ex);
  set(table, size, NVTX_CBID_CORE_RangeStartA, &start_a);
  set(table, size, NVTX_CBID_CORE_RangeStartW, &start_w);
  set(table, size, NVTX_CBID_CORE_RangeEnd, &end);
  set(table, size, NVTX_CBID_CORE_RangePushEx, &push_ex);
  set(table, size, NVTX_CBID_CORE_RangePushA, &push_a);
  set(table, size, NVTX_CBID_CORE_RangePushW, &push_w);
  set(table, size, NVTX_CBID_CORE_RangePop, &pop);
}

void hook_domains(NvtxFunctionTable table, unsigned size) {
  set(table, size, NVTX_CBID_CORE2_DomainMarkEx, &domain_mark_ex);
  set(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, &domain_start_ex);
  set(table, size, NVTX_CBID_CORE2_DomainRangeEnd, &domain_end);
  set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, &domain_push_ex);
  set(table, size, NVTX_CBID_CORE2_DomainRangePop, &domain_pop);
  set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string<char>);
  set(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, &register_string<wchar_t>);
  set(table, size, NVTX_CBID_CORE2_DomainCreateA, &domain_create<char>);
  set(table, size, NVTX_CBID_CORE2_DomainCreateW, &domain_create<wchar_t>);
}

}  // namespace

}  // namespace gf::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  using namespace gf::inject;
  if (!recorded() && !dormant()) return 0;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (!callbacks || !callbacks->GetModuleFunctionTable) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) && table)
    hook_default_domain(table, size);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) && table)
    hook_domains(table, size);
  return 1;
}
