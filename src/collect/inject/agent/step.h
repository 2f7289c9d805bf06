/* Steps of the program, without NVTX: the same as pushing and popping the range gpufathom.step. The
 * functions are in the library that CUDA_INJECTION64_PATH names in a program recorded with
 * --kernels, once CUDA or NVTX has loaded it (docs/record.md). */
#ifndef GPUFATHOM_STEP_H
#define GPUFATHOM_STEP_H

#ifdef __cplusplus
extern "C" {
#endif

/* A step begins, and ends on the same thread. An end without a beginning does nothing; a step that
 * began before a fork is the parent's alone. */
void gpufathom_step_begin(void);
void gpufathom_step_end(void);

#ifdef __cplusplus
}
#endif
#endif
