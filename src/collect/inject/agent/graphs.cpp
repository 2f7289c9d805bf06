#include "collect/inject/agent/graphs.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>

#include "collect/inject/agent/calls.h"
#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/guard.h"
#include "collect/inject/agent/settings.h"
#include "collect/inject/agent/windows.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

enum class Conditional { none, whole, hidden };
constinit std::atomic<Conditional> conditional{Conditional::none};
constinit std::atomic<std::int64_t> ready{0};  // graphs
constinit std::atomic<bool> told{false};

constexpr const char* kWhy =
    "the program makes CUDA graphs with conditional nodes, whose kernels CUPTI cannot trace "
    "without ending the program";
constexpr CUpti_CallbackId kBegins = CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING,
                           kGoes = CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
                           kNode = CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                           kCopy = CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
                           kHandle = CUPTI_DRIVER_TRACE_CBID_cuGraphConditionalHandleCreate;

/// CUPTI's number of a node, 0: it tells none.
std::uint64_t number_of(CUgraphNode node) {
  std::uint64_t number = 0;
  if (!node || !cupti.cuptiGetGraphNodeId ||
      cupti.cuptiGetGraphNodeId(node, &number) != CUPTI_SUCCESS)
    return 0;
  return number;
}

/// A call that is captured makes a node, and its end tells which call that was.
void see_node(const CUpti_GraphData* made) {
  Thread* thread = this_thread();
  if (!thread) return;
  thread->captures = true;
  if (made) thread->node = number_of(made->node);
}

/// A graph that becomes ready to launch has copies of all nodes: those are what runs.
void see_copy(const CUpti_GraphData* made) {
  if (!made || !window_is_open()) return;
  const Node copy{number_of(made->node), number_of(made->originalNode), 0, 0};
  if (copy.node != 0 && copy.original != 0) Writer::instance().put(Type::node, copy);
}

const CUpti_GraphData* graph_data(const void* data) {
  const auto* resource = static_cast<const CUpti_ResourceData*>(data);
  return resource ? static_cast<const CUpti_GraphData*>(resource->resourceDescriptor) : nullptr;
}

/// Without harm to the graphs that are ready: where some may be, kernels are let go of, and not
/// traced at all where they are not yet (why_no_kernels).
Conditional made_harmless() {
  if (!kernels_are_traced()) return Conditional::hidden;
  // In a program with its own profiler, graphs are created unseen.
  if (ready == 0 && !settings.own_profiler &&
      cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) == CUPTI_SUCCESS)
    return Conditional::whole;
  let_kernels_go();
  return Conditional::hidden;
}

}  // namespace

void watch_graphs(CUpti_SubscriberHandle subscriber) {
  for (const auto id : {kBegins, kGoes, kNode, kCopy})
    cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
  cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kHandle);
}

bool see_graphs(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    if (id == kBegins) ++ready;
    if (id == kGoes) --ready;
    if (id == kNode) see_node(graph_data(data));
    if (id == kCopy) see_copy(graph_data(data));
    return true;
  }
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id != kHandle) return false;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_ENTER && conditional == Conditional::none)
    conditional = made_harmless();
  return true;
}

std::string why_no_kernels() {
  if (conditional == Conditional::hidden) return kWhy;
  return {};
}

void tell_of_graphs() {
  const Conditional now = conditional;
  if (now == Conditional::none || told.exchange(true)) return;
  const std::string what = now == Conditional::whole ? "CUDA graphs are recorded as wholes: "
                                                     : "kernels are not recorded any more: ";
  Writer::instance().message(what + kWhy);
}

void forget_told_graphs() { told = false; }

namespace {

constexpr long kXfs = 0x58465342;

/// True if a page that has been written once can always be written again: not where each write
/// takes new blocks, or goes over a network.
bool keeps_pages(int fd) {
  struct statfs system{};
  if (::fstatfs(fd, &system) != 0) return false;
  return system.f_type == TMPFS_MAGIC || system.f_type == EXT4_SUPER_MAGIC || system.f_type == kXfs;
}

/// Ours alone, and with a whole page of room. A process that began anew, by exec, finds its own.
bool has_page(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1 ||
      status.st_uid != ::geteuid())
    return false;
  if (status.st_size == static_cast<off_t>(kLedgerBytes) && status.st_blocks > 0) return true;
  static constexpr char kEmpty[kLedgerBytes]{};
  return ::pwrite(fd, kEmpty, sizeof kEmpty, 0) == static_cast<ssize_t>(sizeof kEmpty);
}

}  // namespace

void LedgerPage::open(const std::string& path) {
  if (at_ != &own_) return;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  void* page = keeps_pages(fd) && has_page(fd)
                   ? ::mmap(nullptr, kLedgerBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                   : MAP_FAILED;
  ::close(fd);
  if (page == MAP_FAILED) return;
  at_ = static_cast<Ledger*>(page);
  at_->version = kVersion;
  at_->closed = 0;
  at_->kernels += own_.kernels;
  at_->launches += own_.launches;
  at_->records += own_.records;
}

void LedgerPage::close() {
  if (at_ != &own_) ::munmap(at_, kLedgerBytes);
  own_ = {};
  at_ = &own_;
}

}  // namespace gf::inject
