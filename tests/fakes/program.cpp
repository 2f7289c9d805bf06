// A CUDA program for machines without a GPU: does what its arguments say, in their order.
//   init              cuInit: loads what CUDA_INJECTION64_PATH names, as the real driver does
//   launch=NAME       a kernel of a millisecond; launch=NAME*N: N of them; launch=NAME*Nms: for so
//   long copy              a copy of a megabyte push=NAME pop mark=NAME wide=NAME   NVTX; wide: by
//   the function for wide characters in=DOMAIN:NAME out=DOMAIN           a range in a domain
//   begins, ends register=NAME     then push=@: a range with the name that was registered last
//   begin end         gpufathom_step_begin, gpufathom_step_end of the agent, where it is loaded
//   sleep=MS
//   fork … join       what stands between runs in a forked child, which then ends with exit(); the
//                     program waits for it
//   loop=N            a CUDA graph with a conditional node (graph 13, of one node), launched N
//   times ready=N     one without (graph 3)
//   capture=N         N launches into a stream that is captured
//   exec              the program again, in this process, with the arguments that follow kill
//   ends by SIGKILL report            prints how many kernels launch= launched, on one line
//   serve=FILE        requests of five kernels, each a step, until FILE is there; then their number
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

/// Calls a function of the agent, as docs/record.md says.
static void agent(const char* function) {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* library = nullptr;
  if (path) library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (auto* f = library ? reinterpret_cast<void (*)()>(dlsym(library, function)) : nullptr) f();
}

/// A profiler of the program's own, by the same libcupti.
static void other_profiler(const std::string& verb) {
  static CUpti_SubscriberHandle handle = nullptr;
  void* cupti = dlopen("libcupti.so.13", RTLD_NOW);
  auto symbol = [&](const char* name) { return cupti ? dlsym(cupti, name) : nullptr; };
  if (verb == "subscribe") {
    auto* f = reinterpret_cast<decltype(&cuptiSubscribe)>(symbol("cuptiSubscribe"));
    if (f && f(&handle, nullptr, nullptr) != CUPTI_SUCCESS)
      std::fprintf(stderr, "CUPTI is taken\n");
  } else if (verb == "let-go") {
    auto* f = reinterpret_cast<decltype(&cuptiUnsubscribe)>(symbol("cuptiUnsubscribe"));
    if (f) f(handle);
  } else if (auto* f = reinterpret_cast<decltype(&cuptiActivityRegisterCallbacks)>(
                 symbol("cuptiActivityRegisterCallbacks"))) {
    f(
        [](std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
          *most = 0;
          *size = 1 << 20;
          *buffer = static_cast<std::uint8_t*>(std::malloc(*size));
        },
        [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
          std::free(buffer);
        });
  }
}

static long long launched = 0;

static void serve(const char* until) {
  static char name[] = "work";
  long long requests = 0;
  for (; access(until, F_OK) != 0; ++requests) {
    nvtxRangePushA("gpufathom.step");
    for (int i = 0; i < 5; ++i)
      cuLaunchKernel(reinterpret_cast<CUfunction>(name), 132, 1, 1, 128, 1, 1, 0, nullptr, nullptr,
                     nullptr);
    nvtxRangePop();
  }
  std::printf("answered %lld\n", requests);
}

int main(int argc, char** argv) {
  nvtxDomainHandle_t domain = nullptr;
  nvtxStringHandle_t registered = nullptr;
  auto named = [&](const std::string& text, auto&& f) {
    nvtxEventAttributes_t a{};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    if (text == "@") {
      a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    } else {
      a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    }
    if (text == "@")
      a.message.registered = registered;
    else
      a.message.ascii = text.c_str();
    f(&a);
  };
  std::map<std::string, nvtxDomainHandle_t> domains;
  std::vector<bool> in_domain;  // ranges that push began
  bool child = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], verb = word.substr(0, word.find('='));
    std::string value = "";
    if (word.size() > verb.size()) value = word.substr(verb.size() + 1);
    if (verb == "init")
      cuInit(0);
    else if (verb == "launch") {
      const auto star = value.find('*');
      static auto& names = *new std::map<std::string, std::string>;  // a kernel's name is one
                                                                     // pointer until the very end
      const auto& name =
          names.try_emplace(value.substr(0, star), value.substr(0, star)).first->second;
      const bool timed = value.ends_with("ms");
      const auto end = std::chrono::steady_clock::now() +
                       std::chrono::milliseconds(timed ? std::atoi(value.c_str() + star + 1) : 0);
      for (int n = star == std::string::npos ? 1 : std::atoi(value.c_str() + star + 1);
           timed ? std::chrono::steady_clock::now() < end : n > 0; --n, ++launched)
        cuLaunchKernel(reinterpret_cast<CUfunction>(const_cast<char*>(name.c_str())), 132, 1, 1,
                       128, 1, 1, 0, nullptr, nullptr, nullptr);
    } else if (verb == "graph") {
      const auto star = value.find('*');
      for (int n = std::atoi(value.c_str() + star + 1); n > 0; --n)
        cuGraphLaunch(reinterpret_cast<CUgraphExec>(std::strtoul(value.c_str(), nullptr, 10)),
                      nullptr);
    } else if (verb == "capture") {
      static char name[] = "captured";
      for (int n = std::atoi(value.c_str()); n > 0; --n)
        cuLaunchKernel(reinterpret_cast<CUfunction>(name), 132, 1, 1, 128, 1, 1, 0,
                       reinterpret_cast<CUstream>(1), nullptr, nullptr);
    } else if (verb == "loop" || verb == "ready") {
      const bool loop = verb == "loop";
      auto* graph = reinterpret_cast<CUgraphExec>((loop ? 13ul : 3ul) << 32 | 1);
      cuGraphInstantiateWithFlags(&graph, loop ? reinterpret_cast<CUgraph>(graph) : nullptr, 0);
      for (int n = std::atoi(value.c_str()); n > 0; --n) cuGraphLaunch(graph, nullptr);
    } else if (verb == "subscribe" || verb == "let-go" || verb == "take") {
      other_profiler(verb);
    } else if (verb == "copy")
      cuMemcpyHtoD(0, nullptr, 1 << 20);
    else if (verb == "push") {
      const bool own = value == "@";  // of the domain that the text was registered in
      in_domain.push_back(own);
      named(value, [&](auto* a) { own ? nvtxDomainRangePushEx(domain, a) : nvtxRangePushEx(a); });
    } else if (verb == "pop") {
      const bool own = !in_domain.empty() && in_domain.back();
      own ? nvtxDomainRangePop(domain) : nvtxRangePop();
      if (!in_domain.empty()) in_domain.pop_back();
    } else if (verb == "wide") {
      in_domain.push_back(false);
      nvtxRangePushW(std::wstring(value.begin(), value.end()).c_str());
    } else if (verb == "in" || verb == "out") {
      const auto colon = value.find(':');
      auto& one = domains[value.substr(0, colon)];
      if (!one) one = nvtxDomainCreateA(value.substr(0, colon).c_str());
      if (verb == "out")
        nvtxDomainRangePop(one);
      else
        named(value.substr(colon + 1), [&](auto* a) { nvtxDomainRangePushEx(one, a); });
    } else if (verb == "mark")
      named(value, [&](auto* a) { nvtxMarkEx(a); });
    else if (verb == "begin" || verb == "end")
      agent(("gpufathom_step_" + verb).c_str());
    else if (verb == "register") {
      if (!domain) domain = nvtxDomainCreateA("program");
      registered = nvtxDomainRegisterStringA(domain, value.c_str());
    } else if (verb == "sleep")
      usleep(static_cast<unsigned>(std::atoi(value.c_str())) * 1000);
    else if (verb == "fork") {
      const pid_t pid = fork();
      child = pid == 0;
      if (child) continue;
      while (i + 1 < argc && std::strcmp(argv[i], "join") != 0) ++i;
      int status = 0;
      waitpid(pid, &status, 0);
      if (status != 0) std::fprintf(stderr, "the child ended with %d\n", status);
    } else if (verb == "join") {
      if (child) std::exit(0);
    } else if (verb == "exec") {
      argv[i] = argv[0];
      execv("/proc/self/exe", argv + i);
    } else if (verb == "report")
      std::printf("launched %lld\n", launched);
    else if (verb == "serve")
      serve(value.c_str());
    else if (verb == "kill")
      kill(getpid(), SIGKILL);
    else {
      std::fprintf(stderr, "no %s\n", argv[i]);
      return 2;
    }
  }
  return 0;
}
