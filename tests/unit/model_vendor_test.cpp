#include <gtest/gtest.h>

#include "model/capture.h"
#include "model/vendor.h"

namespace gf {
namespace {

TEST(Vendor, OfDevicesAndCalls) {
  EXPECT_EQ(vendor_of_device("NVIDIA H100 80GB HBM3"), Vendor::nvidia);
  EXPECT_EQ(vendor_of_device("A100-SXM4-40GB"), Vendor::nvidia);
  EXPECT_EQ(vendor_of_device("AMD Instinct MI300X"), Vendor::amd);
  EXPECT_EQ(vendor_of_device("gfx942"), Vendor::amd);
  EXPECT_EQ(vendor_of_device("Intel(R) Data Center GPU Max 1550"), Vendor::intel);
  EXPECT_EQ(vendor_of_device("GPU 0"), Vendor::unknown);
  EXPECT_EQ(vendor_of_call("cudaLaunchKernel"), Vendor::nvidia);
  EXPECT_EQ(vendor_of_call("cuLaunchKernelEx"), Vendor::nvidia);
  EXPECT_EQ(vendor_of_call("hipExtModuleLaunchKernel"), Vendor::amd);
  EXPECT_EQ(vendor_of_call("urEnqueueKernelLaunch"), Vendor::intel);
  EXPECT_EQ(vendor_of_call("zeCommandListAppendLaunchKernel"), Vendor::intel);
  EXPECT_EQ(vendor_of_call("pickle"), Vendor::unknown);
  EXPECT_EQ(vendor_of_call("current"), Vendor::unknown);
  EXPECT_EQ(vendor_of_call(""), Vendor::unknown);
}

// What a device says of itself comes first, then its name, then the calls.
TEST(Vendor, OfACapture) {
  Capture capture;
  EXPECT_EQ(vendor_of(capture), Vendor::unknown);
  const auto process = capture.threads.add();
  capture.threads.process_name[process] = capture.strings.intern("Ascend Hardware");
  EXPECT_EQ(vendor_of(capture), Vendor::huawei);
  const auto call = capture.api_calls.add();
  capture.api_calls.name[call] = capture.strings.intern("hipLaunchKernel");
  EXPECT_EQ(vendor_of(capture), Vendor::amd);
  const auto device = capture.device_row(0);
  EXPECT_EQ(vendor_of(capture), Vendor::amd);
  capture.devices.name[device] = capture.strings.intern("Intel(R) Arc(TM) B580");
  EXPECT_EQ(vendor_of(capture), Vendor::intel);
  capture.devices.vendor[device] = capture.strings.intern("nvidia");
  EXPECT_EQ(vendor_of(capture), Vendor::nvidia);
  capture.devices.vendor[device] = capture.strings.intern("biren");
  EXPECT_EQ(vendor_of(capture), Vendor::other);
}

TEST(Vendor, NobodyButNvidiaHasCudaInItsTerms) {
  for (const Vendor vendor :
       {Vendor::amd, Vendor::intel, Vendor::huawei, Vendor::google, Vendor::apple, Vendor::other}) {
    const auto& terms = terms_of(vendor);
    EXPECT_EQ(terms.graph.find("CUDA"), terms.graph.npos);
    EXPECT_EQ(terms.pool_call.find("cuda"), terms.pool_call.npos);
    EXPECT_NE(terms.units, "tensor cores");
  }
  EXPECT_EQ(terms_of(Vendor::unknown).graph, "CUDA graph");
}

}  // namespace
}  // namespace gf
