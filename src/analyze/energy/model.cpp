#include "analyze/energy/model.h"

namespace gf {

const std::vector<EnergyFeature>& energy_features() {
  static const std::vector<EnergyFeature> list{
      {"inst", "warp instruction", "instructions issued, in addition to their operation",
       "smsp__inst_executed.sum"},
      {"pipe.fma", "thread operation", "multiply-add pipe: FP32, integer multiply and some adds",
       "smsp__thread_inst_executed_pipe_fma_pred_on.sum + -1 * "
       "smsp__thread_inst_executed_pipe_fma_type_fp16_pred_on.sum | "
       "smsp__thread_inst_executed_pipe_fma_pred_on.sum"},
      {"pipe.fp16", "thread operation",
       "packed FP16 and bf16, on the multiply-add pipe and elsewhere",
       "smsp__thread_inst_executed_pipe_fma_type_fp16_pred_on.sum + 32 * "
       "smsp__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"},
      {"pipe.alu", "thread operation",
       "arithmetic-logic pipe: integer, logic, comparison, conversion",
       "smsp__thread_inst_executed_pipe_alu_pred_on.sum"},
      {"pipe.fp64", "thread operation", "FP64 pipe",
       "smsp__thread_inst_executed_pipe_fp64_pred_on.sum"},
      {"pipe.xu", "thread operation", "special functions and wide conversions",
       "smsp__thread_inst_executed_pipe_xu_pred_on.sum"},
      {"tensor.bf16.wgmma", "floating-point operation",
       "warpgroup matrix operation on bf16, without the reads of shared memory",
       "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum"},
      {"tensor.bf16.mma", "floating-point operation",
       "warp matrix operation on bf16, operands in registers",
       "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum"},
      {"tensor.fp16.wgmma", "floating-point operation",
       "warpgroup matrix operation on fp16, without the reads of shared memory",
       "sm__ops_path_tensor_op_hgmma_src_fp16.sum"},
      {"tensor.fp16.mma", "floating-point operation",
       "warp matrix operation on fp16, operands in registers",
       "sm__ops_path_tensor_op_hmma_src_fp16.sum"},
      {"tensor.tf32.wgmma", "floating-point operation",
       "warpgroup matrix operation on tf32, without the reads of shared memory",
       "sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32.sum"},
      {"tensor.tf32.mma", "floating-point operation",
       "warp matrix operation on tf32, operands in registers",
       "sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32.sum"},
      {"tensor.fp8", "floating-point operation", "matrix operation on fp8",
       "sm__ops_path_tensor_src_fp8.sum"},
      {"shared.load", "access of 32 bytes",
       "shared-memory read, operands of matrix operations included",
       "4 * l1tex__data_pipe_lsu_wavefronts_mem_shared.sum + -4 * "
       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
      {"shared.store", "access of 32 bytes", "shared-memory write",
       "4 * l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
      {"l1.wavefront", "wavefront", "pass of a global access through the L1 data stage",
       "l1tex__data_pipe_lsu_wavefronts.sum + -1 * l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
      {"l1.load", "access of 32 bytes", "global load looked up in L1",
       "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
      {"tma.load", "access of 32 bytes", "bulk copy into shared memory",
       "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"},
      {"l2.load", "access of 32 bytes", "read looked up in L2, in addition to L1",
       "lts__t_sectors_srcunit_tex_op_read.sum"},
      {"l2.request", "request",
       "read request to L2 of up to four accesses, in addition to their accesses",
       "lts__t_requests_srcunit_tex_op_read.sum"},
      {"l2.store", "access of 32 bytes", "write to L2, its way through L1 included",
       "lts__t_sectors_srcunit_tex_op_write.sum"},
      {"l2.store_request", "request",
       "write request to L2 of up to four accesses, in addition to their accesses",
       "lts__t_requests_srcunit_tex_op_write.sum"},
      {"dram.read", "access of 32 bytes",
       "read from DRAM, in addition to L2; the way between the partitions of L2 included",
       "dram__sectors_read.sum"},
      {"dram.write", "access of 32 bytes", "write to DRAM, in addition to L2",
       "dram__sectors_write.sum"},
  };
  return list;
}

bool on_chip(std::string_view feature) { return !feature.starts_with("dram."); }

}  // namespace gf
