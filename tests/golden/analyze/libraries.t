Programs of other people's libraries (tests/advice/programs/libraries.json): what is said first and second.

  $ cd "$ROOT/tests/advice/libraries"
  $ for trace in *.json.gz; do
  >   gpufathom analyze $trace --format json | jq -r --arg name ${trace%.json.gz} '[$name, .findings[0, 1].id // "-"] | join(" ")'
  > done
  auroc_of_all_so_far host_bound launch_bound
  auroc_of_all_so_far.mended host_bound launch_bound
  backbone_not_frozen.mended unfused_elementwise launch_bound
  backward_for_each_loss repeated_backward unfused_elementwise
  backward_for_each_loss.mended unfused_elementwise kernel_bound
  copied_for_the_kernel casts kernel_bound
  copied_for_the_kernel.mended kernel_bound missing_counters
  deterministic_left_on deterministic missing_counters
  deterministic_left_on.mended launch_bound host_bound
  experts_in_turn.mended launch_bound unfused_elementwise
  filter_made_again launch_bound no_channels_last
  filter_made_again.mended launch_bound no_channels_last
  iterator_made_again input_bound host_bound
  iterator_made_again.mended input_bound launch_bound
  lightning_transformer casts unfused_elementwise
  llama_trained unfused_elementwise casts
  logprobs_in_full.mended casts unfused_elementwise
  metrics_on_processor.mended launch_bound unfused_elementwise
  neighbours_by_differences unfused_elementwise kernel_bound
  neighbours_by_differences.mended fp32_without_tensor_cores tiny_kernels
  nodes_of_large_graph fp32_without_tensor_cores kernel_bound
  pairs_ranked unfused_elementwise kernel_bound
  posterior_forgotten sync_in_step host_bound
  posterior_forgotten.mended launch_bound small_batch
  process_of_many_points fp32_without_tensor_cores launch_bound
  prompts_encoded_again unfused_elementwise no_channels_last
  prompts_encoded_again.mended launch_bound no_channels_last
  restarts_one_by_one small_batch launch_bound
  restarts_one_by_one.mended sync_in_step launch_bound
  spectra_in_double fp64 unfused_elementwise
  spectra_in_double.mended unfused_elementwise small_grids
  speech_features no_channels_last unfused_elementwise
  texts_embedded_singly.mended cpu_operators launch_bound
  triton_norm_in_place kernel_bound missing_counters
  triton_product_ieee kernel_bound missing_counters
  triton_product_ieee.mended kernel_bound missing_counters
  tuned_for_each_length autotuning missing_counters
  tuned_for_each_length.mended kernel_bound missing_counters
  vit_large_pictures unfused_elementwise kernel_bound
  vocoder_with_norms launch_bound small_batch
  vocoder_with_norms.mended launch_bound small_batch
  weights_dequantised_again casts host_bound
  weights_dequantised_again.mended launch_bound missing_counters
  weights_of_edges_again data_dependent_sizes kernel_bound
  weights_of_edges_again.mended kernel_bound missing_counters
  weights_offloaded blocking_copies device_allocations
  weights_offloaded.mended launch_bound unfused_elementwise
