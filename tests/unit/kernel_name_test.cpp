#include "model/kernel_name.h"

#include <gtest/gtest.h>

namespace gf {
namespace {

TEST(KernelName, ShortNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"void at::native::vectorized_elementwise_kernel<8, "
       "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
       "std::array<char*, 2ul> >(int, "
       "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, "
       "std::array<char*, 2ul>)",
       "vectorized_elementwise_kernel"},
      {"void at::vectorized_elementwise_kernel<8, "
       "at::bfloat16_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda(float) (instance 1)], "
       "std::array<char *, 2>>(int, T2, T3)",
       "vectorized_elementwise_kernel"},
      {"void at::<unnamed>::multi_tensor_apply_kernel<at::<unnamed>::TensorListMetadata<3>>(T1)",
       "multi_tensor_apply_kernel"},
      {"void at::native::(anonymous namespace)::softmax_warp_forward<float, float, float, "
       "10>(float*, float const*)",
       "softmax_warp_forward"},
      {"sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize256x64x64_kernel__"
       "5x_cudnn",
       "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize256x64x64_kernel__"
       "5x_cudnn"},
      {"void "
       "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_nn_align8>("
       "cutlass_80_wmma_tensorop_bf16_s161616gemm::Params)",
       "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_nn_align8"},
      {"void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloop<2, true>, "
       "int> >(flash::Params)",
       "FlashAttnFwdSm90"},
      {"nvjet_sm90_tst_64x64_64x13_1x2_h_bz_splitK_NTT",
       "nvjet_sm90_tst_64x64_64x13_1x2_h_bz_splitK_NTT"},
      {"triton_poi_fused_add_relu_0", "triton_poi_fused_add_relu_0"},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
      {"_ZN2at6native18elementwise_kernelILi128ELi2EEEvi", "elementwise_kernel"},
      {"Memcpy DtoH (Device -> Pageable)", "Memcpy DtoH"},
      {"std::enable_if<true, void>::type cub::foo<int>(int)", "foo"},
      {"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type "
       "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long, float)",
       "fused_add_rms_norm_kernel"},
      {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float, "
       "false>(cublasGemvParamsEx<int>)",
       "gemvx::kernel"},
      {"kernel", "kernel"},
      {"void kernel<int>(int)", "kernel"},
      {"void a::b<int>::kernel(int)", "kernel"},
      {"void ck_tile::kentry<1, ck_tile::Rmsnorm2dFwd<ck_tile::sequence<1, 3072> > "
       ">(ck_tile::Kargs)",
       "Rmsnorm2dFwd"},
      // Linker names that the demangler gives up on: a type that it does not know, and a cut end.
      {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_8PipelineIDF16bQQEEEEJNSM_5KargsEEEEvDpT1_",
       "Rmsnorm2dFwd"},
      {"_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_"
       "11threadblock22ImplicitGemmMult",
       "ImplicitGemmConvolution"},
      {"_Z99cut", "_Z99cut"},
      {"_ZN3abc", "abc"},
      {"", ""},
      {"<<<((", "<<<(("},
  };
  for (auto [name, expected] : cases) EXPECT_EQ(short_kernel_name(name), expected) << name;
}

TEST(KernelName, NamesThatWouldBeTooLongStayAsTheyAre) {
  const std::string name = "_Z1f1AIiiES_IS0_S0_E";
  const std::string spelled = "f(A<int, int>, A<A<int, int>, A<int, int> >)";
  EXPECT_EQ(demangled(name), spelled);
  EXPECT_EQ(demangled(name, spelled.size()), spelled);
  EXPECT_EQ(demangled(name, spelled.size() - 1), name);
  EXPECT_EQ(short_kernel_name(name), "f");
  EXPECT_EQ(demangled("f"), "f");  // no linker name: not the type float
}

}  // namespace
}  // namespace gf
