Programs of other people's libraries (tests/advice/programs/libraries.json): what is said first and second.

  $ cd "$ROOT/tests/advice/libraries"
  $ for trace in *.json.gz; do
  >   gpufathom analyze $trace --format json | jq -r --arg name ${trace%.json.gz} '[$name, .findings[0, 1].id // "-"] | join(" ")'
  > done
  auroc_of_all_so_far sync_in_step host_bound
  auroc_of_all_so_far.mended host_bound unfused_elementwise
  backbone_not_frozen.mended unfused_elementwise launch_bound
  backward_for_each_loss repeated_backward kernel_bound
  backward_for_each_loss.mended unfused_elementwise kernel_bound
  copied_for_the_kernel layout_copies kernel_bound
  copied_for_the_kernel.mended kernel_bound missing_counters
  deterministic_left_on deterministic missing_counters
  deterministic_left_on.mended launch_bound host_bound
  experts_in_turn.mended unfused_elementwise launch_bound
  filter_made_again launch_bound no_channels_last
  filter_made_again.mended launch_bound no_channels_last
  iterator_made_again input_bound host_bound
  iterator_made_again.mended input_bound launch_bound
  lightning_transformer casts unfused_elementwise
  llama_trained unfused_elementwise casts
  logprobs_in_full.mended unfused_elementwise casts
  metrics_on_processor.mended unfused_elementwise launch_bound
  neighbours_by_differences unfused_elementwise kernel_bound
  neighbours_by_differences.mended fp32_without_tensor_cores tiny_kernels
  nodes_of_large_graph fp32_without_tensor_cores kernel_bound
  pairs_ranked kernel_bound missing_counters
  posterior_forgotten sync_in_step unfused_elementwise
  posterior_forgotten.mended launch_bound small_batch
  process_of_many_points launch_bound fp32_without_tensor_cores
  prompts_encoded_again unfused_elementwise launch_bound
  prompts_encoded_again.mended unfused_elementwise launch_bound
  restarts_one_by_one launch_bound small_batch
  restarts_one_by_one.mended sync_in_step launch_bound
  spectra_in_double unfused_elementwise fp64
  spectra_in_double.mended unfused_elementwise small_grids
  speech_features no_channels_last unfused_elementwise
  texts_embedded_singly.mended cpu_operators launch_bound
  triton_norm_in_place kernel_bound missing_counters
  triton_product_ieee kernel_bound missing_counters
  triton_product_ieee.mended kernel_bound missing_counters
  tuned_for_each_length autotuning missing_counters
  tuned_for_each_length.mended kernel_bound missing_counters
  vit_large_pictures kernel_bound missing_counters
  vocoder_with_norms launch_bound small_batch
  vocoder_with_norms.mended launch_bound small_batch
  weights_dequantised_again casts unfused_elementwise
  weights_dequantised_again.mended launch_bound missing_counters
  weights_of_edges_again data_dependent_sizes memory_bound
  weights_of_edges_again.mended memory_bound kernel_bound
  weights_offloaded blocking_copies device_allocations
  weights_offloaded.mended launch_bound missing_counters

Programs of services (tests/advice/programs/services.json), likewise.

  $ cd "$ROOT/tests/advice/services"
  $ for trace in *.json.gz; do
  >   gpufathom analyze $trace --format json | jq -r --arg name ${trace%.json.gz} '[$name, .findings[0, 1].id // "-"] | join(" ")'
  > done
  accelerate_accumulates casts kernel_bound
  average_kept_on_host.mended no_channels_last unfused_elementwise
  blur_in_two_dimensions kernel_bound missing_counters
  blur_in_two_dimensions.mended kernel_bound missing_counters
  cache_attended_in_full launch_bound tiny_kernels
  cache_attended_in_full.mended launch_bound missing_counters
  class_by_class.mended data_dependent_sizes small_grids
  compiled_blocks kernel_bound missing_counters
  corpus_normalised_again unfused_elementwise casts
  corpus_normalised_again.mended casts fp32_without_tensor_cores
  corpus_searched kernel_bound missing_counters
  cross_cache_reordered memory_bound kernel_bound
  cross_cache_reordered.mended launch_bound tiny_kernels
  dataset_on_gpu input_bound host_bound
  dataset_on_gpu.mended launch_bound small_batch
  diagonal_made_dense kernel_bound missing_counters
  diagonal_made_dense.mended kernel_bound missing_counters
  frames_beside_products unfused_elementwise kernel_bound
  gradients_zeroed casts launch_bound
  gradients_zeroed.mended casts host_bound
  grammar_mask_from_host blocking_copies tiny_kernels
  grammar_mask_from_host.mended small_grids tiny_kernels
  graph_breaks_at_checks sync_in_step launch_bound
  graph_breaks_at_checks.mended launch_bound missing_counters
  graph_for_each_layer small_grids tiny_kernels
  graph_for_each_layer.mended small_grids tiny_kernels
  graph_of_largest_batch kernel_bound missing_counters
  graph_of_largest_batch.mended small_grids tiny_kernels
  hits_in_heaps host_bound blocking_copies
  hits_in_heaps.mended blocking_copies fp32_without_tensor_cores
  inverse_for_one_solve repeated_factorization fp32_without_tensor_cores
  inverse_for_one_solve.mended small_grids repeated_factorization
  leaf_by_leaf.mended sync_in_step launch_bound
  many_decoded_in_graph kernel_bound missing_counters
  neighbour_list_each_step.mended unfused_elementwise data_dependent_sizes
  noise_made_on_host unfused_elementwise no_channels_last
  norms_not_folded unfused_elementwise kernel_bound
  norms_not_folded.mended unfused_elementwise kernel_bound
  padded_before_convolution layout_copies unfused_elementwise
  padded_before_convolution.mended kernel_bound missing_counters
  pages_gathered memory_bound kernel_bound
  pages_gathered.mended launch_bound missing_counters
  policy_of_many_games odd_sizes kernel_bound
  prefetch_not_ahead unfused_elementwise kernel_bound
  prefetch_not_ahead.mended unfused_elementwise kernel_bound
  reverb_by_convolution kernel_bound missing_counters
  reverb_by_convolution.mended launch_bound tiny_kernels
  spectra_of_prime_length odd_sizes kernel_bound
  spectra_of_prime_length.mended layout_copies unfused_elementwise
  triton_tiny_blocks kernel_bound missing_counters
  triton_tiny_blocks.mended kernel_bound missing_counters
  waves_by_triton kernel_bound missing_counters
