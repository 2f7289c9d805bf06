// Programs that end, and treat what is inside them, in every way that a stranger's program may:
// `endings NAME` does one of them, `endings` lists all. tests/system/agent_endings.sh runs each
// alone and recorded: nothing of it may differ.
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

void launch(const char* name, int count) {
  for (int i = 0; i < count; ++i)
    cuLaunchKernel(reinterpret_cast<CUfunction>(const_cast<char*>(name)), 132, 1, 1, 128, 1, 1, 0,
                   nullptr, nullptr, nullptr);
}
void begin(int kernels = 30) {
  cuInit(0);
  nvtxRangePushA("work");
  launch("work", kernels);
  nvtxRangePop();
}
void say(const char* text) {
  if (write(1, text, std::strlen(text)) < 0) _exit(99);
}
void ms(unsigned count) { usleep(count * 1000); }

/// Pushes and pops a range for ever.
void ranger() {
  for (;;) {
    nvtxRangePushA("endless");
    nvtxRangePop();
  }
}

/// Behaves like a pool, a logger or a singleton: marks its end.
struct Pool {
  bool on = false;
  ~Pool() {
    if (!on) return;
    nvtxRangePushA("Pool::~Pool");
    std::vector<char*> blocks;
    for (int i = 0; i < 50; ++i) blocks.push_back(new char[64]);
    nvtxRangePop();
    for (auto* block : blocks) delete[] block;
    say("pool freed\n");
  }
} pool;

struct ThreadScope {
  ~ThreadScope() {
    for (int i = 0; i < 40; ++i) nvtxRangePushA("at thread end");
    for (int i = 0; i < 40; ++i) nvtxRangePop();
  }
};
void scoped_thread() {
  thread_local ThreadScope scope;
  (void)&scope;
  for (int i = 0; i < 9; ++i) nvtxRangePushA("work");
  for (int i = 0; i < 9; ++i) nvtxRangePop();
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 100; ++i) blocks.push_back(operator new(48 + i));
  for (auto* block : blocks) operator delete(block);
}

int returns() {
  begin();
  say("main returns\n");
  return 3;
}
int exits() {
  begin();
  std::atexit([] { say("a handler of exit\n"); });
  std::exit(4);
}
int exits_from_thread() {
  begin();
  std::thread(ranger).detach();
  std::thread other([] { std::exit(5); });
  other.join();
  return 0;
}
int exits_at_once() {
  begin();
  say("no handler runs\n");
  _exit(6);
}
int aborts() {
  begin();
  std::abort();
}
int exits_quickly() {
  begin();
  at_quick_exit([] { say("a handler of quick_exit\n"); });
  std::quick_exit(7);
}
int throws() {
  begin();
  throw std::runtime_error("nobody catches this");
}
int segfaults() {
  begin();
  raise(SIGSEGV);
  return 0;
}
int catches_segfault_and_exits() {
  begin();
  signal(SIGSEGV, [](int) {
    say("caught\n");
    std::exit(8);
  });
  volatile int* nowhere = nullptr;
  *nowhere = 1;
  return 0;
}
sigjmp_buf back;
int catches_segfault_and_goes_on() {
  begin();
  signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
  if (sigsetjmp(back, 1) == 0) {
    volatile int* nowhere = nullptr;
    *nowhere = 1;
  }
  launch("after", 5);
  say("went on\n");
  return 9;
}
int handles_sigterm() {
  begin();
  signal(SIGTERM, [](int) {
    say("terminated\n");
    std::exit(10);
  });
  std::thread(ranger).detach();
  kill(getpid(), SIGTERM);
  ms(2000);
  return 0;
}
int dies_of_sigterm() {
  begin();
  kill(getpid(), SIGTERM);
  ms(2000);
  return 0;
}
int dies_of_sigkill() {
  begin(500);
  kill(getpid(), SIGKILL);
  return 0;
}
int range_in_global_destructor() {
  begin();
  pool.on = true;
  return 11;
}
int range_in_thread_destructor() {
  begin();
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(scoped_thread);
    for (auto& thread : threads) thread.join();
  }
  say("survived\n");
  return 12;
}
int threads_outlive_main() {
  begin();
  for (int i = 0; i < 3; ++i) std::thread(ranger).detach();
  ms(50);
  return 13;
}
int main_thread_leaves() {
  begin();
  std::thread([] {
    ms(100);
    launch("later", 5);
    say("the last thread\n");
    std::exit(14);
  }).detach();
  pthread_exit(nullptr);
}
/// A daemon's habit; what it opens then gets the numbers that were closed.
int closes_everything() {
  begin(20);
  ms(400);
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  rlimit most{};
  getrlimit(RLIMIT_NOFILE, &most);
  std::vector<int> files;
  for (int i = 0; i < 64; ++i) {
    files.push_back(open(("data" + std::to_string(i)).c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600));
    dup2(files.back(), 900 + i);
    if (write(files.back(), "MYDATA\n", 7) != 7) return 1;
  }
  launch("after", 600);
  ms(500);
  return 15;
}
int forks() {
  begin();
  const pid_t child = fork();
  if (child == 0) {
    nvtxRangePushA("child");
    nvtxRangePop();
    std::exit(16);
  }
  int status = 0;
  waitpid(child, &status, 0);
  launch("after", 5);
  return WEXITSTATUS(status);
}
int forks_often() {
  begin();
  for (int i = 0; i < 200; ++i) {
    if (fork() > 0) continue;
    nvtxRangePushA("child");
    nvtxRangePop();
    std::exit(0);
  }
  int ended = 0;
  while (wait(nullptr) > 0) ++ended;
  say(ended == 200 ? "all ended\n" : "some are lost\n");
  return 17;
}
int becomes_a_daemon() {
  begin();
  if (fork() > 0) {
    ms(300);
    launch("parent", 1);
    ms(400);
    _exit(18);
  }
  setsid();
  if (fork() > 0) _exit(0);
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  open("daemon.txt", O_CREAT | O_WRONLY, 0644);
  for (int i = 0; i < 10; ++i) {
    nvtxRangePushA("daemon");
    ms(20);
    nvtxRangePop();
  }
  if (write(0, "alive", 5) != 5) _exit(1);
  std::exit(0);
}
int replaces_itself() {
  begin();
  ms(300);
  execl("/proc/self/exe", "endings", "returns", nullptr);
  return 1;
}
int changes_user() {
  begin();
  if (setgid(65534) != 0 || setuid(65534) != 0) say("not allowed\n");
  launch("another user's", 300);
  return 19;
}
int changes_root() {
  begin();
  if (chroot("/tmp") != 0 || chdir("/") != 0) say("not allowed\n");
  launch("jailed", 300);
  return 20;
}
int unloads_the_library() {
  begin();
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  for (int i = 0; path && i < 20; ++i)
    if (void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD)) {
      dlclose(library);
      dlclose(library);
    }
  launch("after", 5);
  nvtxRangePushA("after");
  nvtxRangePop();
  return 21;
}
int changes_its_environment() {
  begin();
  std::atomic<bool> stop{false};
  std::thread churn([&stop] {
    for (int i = 0; !stop; ++i) {
      const std::string name = "VARIABLE_" + std::to_string(i % 500);
      setenv(name.c_str(), "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1);
      if (i % 5000 == 4999) clearenv();
    }
  });
  for (int i = 0; i < 15; ++i) {
    launch("work", 5);
    nvtxRangePushA("work");
    ms(100);
    nvtxRangePop();
  }
  stop = true;
  churn.join();
  return 22;
}
/// Its own small file is within the bound; ours are not.
int may_write_little() {
  const rlimit little{4096, 4096};
  setrlimit(RLIMIT_FSIZE, &little);
  begin();
  for (int i = 0; i < 20000; ++i) {
    nvtxRangePushA("work");
    nvtxRangePop();
  }
  const int file = open("small.txt", O_CREAT | O_WRONLY, 0644);
  if (write(file, "small", 5) != 5) return 1;
  ms(300);
  return 23;
}
int runs_out_of_memory() {
  begin();
  const rlimit little{64 << 20, 64 << 20};
  setrlimit(RLIMIT_AS, &little);
  static void* all = nullptr;  // each block holds where the one before is
  for (std::size_t size = 1 << 20; size >= 16; size /= 2)
    while (auto* block = static_cast<void**>(std::malloc(size))) {
      *block = all;
      all = block;
    }
  char name[32];
  for (int i = 0; i < 20000; ++i) {
    std::snprintf(name, sizeof name, "range %d", i);
    nvtxRangePushA(name);
    if (i % 2) nvtxRangePop();
  }
  say("no memory is left\n");
  _exit(24);
}
int misuses_nvtx() {
  begin();
  nvtxEventAttributes_t left{};
  left.version = NVTX_VERSION;
  left.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  left.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  left.message.registered = reinterpret_cast<nvtxStringHandle_t>(0x7fff12345678);
  nvtxRangePushEx(&left);
  nvtxRangePop();
  nvtxRangeEnd(99999);
  for (int i = 0; i < 3; ++i) nvtxRangePop();
  nvtxRangePushA(nullptr);
  nvtxRangePushEx(nullptr);
  nvtxMarkW(nullptr);
  for (int i = 0; i < 100000; ++i) nvtxRangePushA("never popped");
  return 25;
}

struct Ending {
  const char* name;
  int (*run)();
  int kernels;  // that a recording holds at least
  const char* what;
};
const Ending endings[] = {
    {"returns", returns, 30, "main returns"},
    {"exit", exits, 30, "exit(), with a handler of its own"},
    {"exit-thread", exits_from_thread, 30, "exit() on one thread while another pushes ranges"},
    {"_exit", exits_at_once, 0, "_exit(): no handler runs"},
    {"quick_exit", exits_quickly, 30, "quick_exit()"},
    {"abort", aborts, 0, "abort()"},
    {"throw", throws, 0, "an exception that nobody catches"},
    {"segv", segfaults, 0, "SIGSEGV"},
    {"segv-exit", catches_segfault_and_exits, 30, "catches SIGSEGV and calls exit()"},
    {"segv-on", catches_segfault_and_goes_on, 35, "catches SIGSEGV and goes on (siglongjmp)"},
    {"sigterm", dies_of_sigterm, 0, "SIGTERM"},
    {"sigterm-exit", handles_sigterm, 30, "SIGTERM, with a handler that calls exit()"},
    {"sigkill", dies_of_sigkill, 150, "SIGKILL"},
    {"global", range_in_global_destructor, 30, "a range in the destructor of a global"},
    {"thread-local", range_in_thread_destructor, 30, "ranges in thread_local destructors"},
    {"threads", threads_outlive_main, 30, "main returns while threads push ranges"},
    {"main-leaves", main_thread_leaves, 35, "pthread_exit() in main, exit() elsewhere later"},
    {"close-all", closes_everything, 400, "closes all descriptors, opens its own files"},
    {"fork", forks, 35, "a forked child that ends with exit()"},
    {"fork-storm", forks_often, 30, "200 forked children"},
    {"daemon", becomes_a_daemon, 30, "forks twice, closes everything, goes on alone"},
    {"exec", replaces_itself, 30, "replaces itself by exec()"},
    {"setuid", changes_user, 330, "goes on as another user"},
    {"chroot", changes_root, 330, "goes on in another root"},
    {"dlclose", unloads_the_library, 35, "closes the library that is inside it"},
    {"setenv", changes_its_environment, 60, "changes its environment on another thread"},
    {"fsize", may_write_little, 0, "may write only small files (RLIMIT_FSIZE)"},
    {"memory", runs_out_of_memory, 0, "has no memory left"},
    {"nvtx", misuses_nvtx, 30, "misuses NVTX"},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& ending : endings) {
    if (argc < 2)
      std::printf("%s\t%d\t%s\n", ending.name, ending.kernels, ending.what);
    else if (std::strcmp(argv[1], ending.name) == 0)
      return ending.run();
  }
  if (argc < 2) return 0;
  return 2;
}
