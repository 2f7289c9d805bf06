#include "collect/inject/control_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

namespace gf {

ControlPage::ControlPage(const std::string& directory) {
  const std::string path = directory + "/" + inject::kControlFile;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return;
  (void)::fchmod(fd, 0644);  // agents of another user read it
  void* at =
      ::posix_fallocate(fd, 0, sizeof(inject::Control)) == 0
          ? ::mmap(nullptr, sizeof(inject::Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
          : MAP_FAILED;
  ::close(fd);
  if (at == MAP_FAILED) return;
  page_ = new (at) inject::Control{inject::kVersion, {0}, {1}};
}

ControlPage::~ControlPage() {
  if (page_) ::munmap(page_, sizeof *page_);
}

void ControlPage::beat() {
  if (page_) ++page_->heartbeat;
}

std::uint32_t ControlPage::ask_for_window() {
  ++asked_;
  if (page_) page_->windows = asked_;
  return asked_;
}

}  // namespace gf
