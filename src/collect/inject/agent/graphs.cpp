#include "collect/inject/agent/graphs.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>

#include "collect/inject/agent/cupti_functions.h"
#include "collect/inject/agent/writer.h"

namespace gf::inject {

namespace {

constinit std::atomic<bool> whole{false}, conditional{false}, told{false};

}  // namespace

void watch_graphs(CUpti_SubscriberHandle subscriber) {
  cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                            CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
}

void see_graph_node(CUpti_CallbackId id, const void* data) {
  if (id != CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) return;
  const auto* node = static_cast<const CUpti_GraphData*>(
      static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
  if (!node || node->nodeType != CU_GRAPH_NODE_TYPE_CONDITIONAL) return;
  trace_whole_graphs();
  conditional = true;
}

bool trace_whole_graphs() {
  if (!whole.exchange(true) &&
      cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) != CUPTI_SUCCESS)
    whole = false;
  return whole;
}

bool graphs_are_whole() { return whole; }

void tell_of_graphs() {
  if (!conditional || told.exchange(true)) return;
  Writer::instance().message(
      "CUDA graphs are recorded as wholes: the program makes some with conditional nodes, whose "
      "kernels CUPTI cannot trace without ending the program");
}

void forget_told_graphs() { told = false; }

namespace {

constexpr long kXfs = 0x58465342;

/// Whether a page that has been written once can always be written again: not where each write
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
