// Records that the injected library writes and the recorder reads: records of any kind, in any
// order, of any length, cut anywhere, with fields at their extremes. A recorded program can write
// into that file whatever it likes.
#include <fcntl.h>
#include <fuzzer/FuzzedDataProvider.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "analyze/analyze.h"
#include "collect/inject/reader.h"
#include "collect/inject/stream.h"
#include "model/check.h"

namespace {

using namespace gf::inject;

template <class T>
T field(FuzzedDataProvider& input) {
  constexpr T kExtremes[] = {0,
                             1,
                             std::numeric_limits<T>::max(),
                             std::numeric_limits<T>::min(),
                             std::numeric_limits<T>::max() / 2,
                             7};
  if (input.ConsumeBool()) return input.PickValueInArray(kExtremes);
  return static_cast<T>(input.ConsumeIntegralInRange<int>(0, 64));
}

/// Times mostly of one second, so that windows and kernels meet.
std::int64_t time_of(FuzzedDataProvider& input) {
  constexpr std::int64_t kBase = 1'790'857'026'000'000'000;
  if (input.ConsumeIntegralInRange(0, 7) == 0) return field<std::int64_t>(input);
  return kBase + input.ConsumeIntegralInRange<std::int64_t>(0, 1'000'000);
}

template <class T>
std::string bytes_of(const T& record) {
  std::string bytes(sizeof record, '\0');
  std::memcpy(bytes.data(), &record, sizeof record);
  return bytes;
}

std::string kernel(FuzzedDataProvider& input) {
  Kernel record{};
  record.start = time_of(input);
  record.end = time_of(input);
  record.graph_node = field<std::uint64_t>(input);
  record.device = field<std::uint32_t>(input);
  record.stream = field<std::uint32_t>(input);
  record.correlation = field<std::uint32_t>(input);
  record.name = field<std::uint32_t>(input);
  for (auto& edge : record.grid) edge = field<std::int32_t>(input);
  for (auto& edge : record.block) edge = field<std::int32_t>(input);
  record.registers = field<std::uint32_t>(input);
  record.shared_bytes = field<std::uint32_t>(input);
  return bytes_of(record);
}

std::string memory(FuzzedDataProvider& input) {
  Memory record{};
  record.start = time_of(input);
  record.end = time_of(input);
  record.bytes = field<std::uint64_t>(input);
  record.graph_node = field<std::uint64_t>(input);
  record.device = field<std::uint32_t>(input);
  record.stream = field<std::uint32_t>(input);
  record.correlation = field<std::uint32_t>(input);
  record.copy_kind = field<std::uint32_t>(input);
  return bytes_of(record);
}

std::string payload(Type type, FuzzedDataProvider& input) {
  switch (type) {
    case Type::hello:
      return bytes_of(Hello{input.ConsumeBool() ? kVersion : field<std::uint32_t>(input),
                            field<std::int32_t>(input)});
    case Type::text:
      return bytes_of(TextHead{field<std::uint32_t>(input), 0}) +
             input.ConsumeRandomLengthString(40);
    case Type::device: {
      Device record{field<std::uint32_t>(input), 0, {}};
      record.uuid[0] = input.ConsumeIntegral<unsigned char>();
      return bytes_of(record);
    }
    case Type::kernel:
      return kernel(input);
    case Type::memcpy:
    case Type::memset:
      return memory(input);
    case Type::api:
      return bytes_of(Api{time_of(input), time_of(input), field<std::uint32_t>(input),
                          field<std::uint32_t>(input), field<std::uint32_t>(input), 0});
    case Type::range:
      return bytes_of(Range{time_of(input), time_of(input), field<std::uint32_t>(input),
                            field<std::uint32_t>(input)});
    case Type::window:
      return bytes_of(Window{time_of(input), input.ConsumeBool() ? 0 : time_of(input),
                             field<std::uint32_t>(input), 0});
    case Type::dropped:
      return bytes_of(Dropped{field<std::uint64_t>(input)});
    case Type::loss:
      return bytes_of(Loss{field<std::uint32_t>(input), 0, field<std::uint64_t>(input)});
    default:
      return input.ConsumeRandomLengthString(60);
  }
}

std::string stream(FuzzedDataProvider& input) {
  std::string out = bytes_of(Head{Type::hello, sizeof(Hello)}) + bytes_of(Hello{kVersion, 1});
  while (input.remaining_bytes() > 0) {
    const auto type = static_cast<Type>(input.ConsumeIntegralInRange<std::uint32_t>(0, 13));
    std::string body = payload(type, input);
    auto length = static_cast<std::uint32_t>(body.size());
    if (input.ConsumeIntegralInRange(0, 15) == 0) length = field<std::uint32_t>(input);
    if (input.ConsumeIntegralInRange(0, 15) == 0)
      body.resize(input.ConsumeIntegralInRange<std::size_t>(0, body.size()));
    out += bytes_of(Head{type, length}) + body;
  }
  return out;
}

void put(const std::string& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, bytes.data(), bytes.size()) < 0) std::abort();
  ::close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  std::string folder = "/dev/shm/gpufathom-fuzz-XXXXXX";
  if (!::mkdtemp(folder.data())) std::abort();
  gf::Capture capture;
  capture.format = "gpufathom_record";
  {
    gf::InjectReader reader(folder);
    const bool raw = input.ConsumeIntegralInRange(0, 7) == 0;
    const auto cut = input.ConsumeIntegral<std::uint16_t>();  // where the file was when first read
    const std::string bytes = raw ? input.ConsumeRemainingBytesAsString() : stream(input);
    put(folder + "/1.rec", std::string_view(bytes).substr(0, cut));
    while (reader.poll(capture, 4096)) {
    }
    if (cut < bytes.size()) put(folder + "/1.rec", std::string_view(bytes).substr(cut));
    while (reader.poll(capture)) {
    }
    reader.finish(capture);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (!capture.check() || !gf::check_references(capture, "records")) std::abort();
  if (!gf::analyze(capture, {})) return 0;
  return 0;
}
