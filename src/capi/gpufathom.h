/* The C interface: captures as tables of Apache Arrow, analyses as JSON. Functions give 0, or 1 and
 * a text in *error, which the caller frees with gpufathom_free. A pointer that must not be NULL and
 * is gives an error, too; error itself may be NULL. Nothing is printed and nothing aborts. One
 * capture may be used by several threads. */
#ifndef GPUFATHOM_H
#define GPUFATHOM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ArrowArrayStream; /* of the Arrow C stream interface:
                            https://arrow.apache.org/docs/format/CStreamInterface.html */
typedef struct gpufathom_capture gpufathom_capture;

/* Version of the library, as "0.1.0"; lives for ever. */
const char* gpufathom_version(void);

/* Reads a file of any known format. The capture lives until gpufathom_close, its memory as long as
 * a stream of it is in use. */
int gpufathom_open(const char* path, gpufathom_capture** capture, char** error);
/* The same, joined with a counter report of Nsight Compute and a power log over the same time; each
 * may be NULL. */
int gpufathom_open_with(const char* path, const char* counters, const char* power,
                        gpufathom_capture** capture, char** error);
/* The same, with traces that tell the operators of CUDA graphs (docs/attribution.md): a list that
 * ends with NULL, or NULL. */
int gpufathom_open_graphs(const char* path, const char* counters, const char* power,
                          const char* const* graphs, gpufathom_capture** capture, char** error);
void gpufathom_close(gpufathom_capture* capture);

/* Names of the tables (docs/capture.md), separated by commas; lives for ever. */
const char* gpufathom_tables(void);

/* One table as an Arrow stream of one batch, columns without a copy; after it in counter_samples,
 * batches of the samples that the capture holds packed. Not known is null; texts are
 * dictionary-encoded. */
int gpufathom_table(const gpufathom_capture* capture, const char* table,
                    struct ArrowArrayStream* stream, char** error);

/* Kernels as such a stream: the columns of activities, and what an analysis of `window` knows of
 * each: row, short_name, operator, module, layer, phase, exclusive_ns, and idle_ns and idle_cause
 * of the idle time before it. */
int gpufathom_kernels(const gpufathom_capture* capture, const char* window,
                      struct ArrowArrayStream* stream, char** error);

/* How many rows a table has, and the names of its columns, separated by commas, without making any
 * of it; "kernels" is that of gpufathom_kernels. Free *columns. */
int gpufathom_shape(const gpufathom_capture* capture, const char* table, long long* rows,
                    char** columns, char** error);

/* What an analysis takes: gpufathom_options options = {sizeof options}; zeros and NULLs stand for
 * the defaults. A program that was compiled with an older, shorter struct is served as well. */
typedef struct gpufathom_options {
  size_t size;              /* sizeof(gpufathom_options) */
  const char* window;       /* auto (default), all, steps, stable, step:N, START:END */
  long long batch;          /* items of a step */
  const char* energy_model; /* a file that `gpufathom calibrate -o` wrote; NULL: the one shipped for
                               the capture's GPU */
  const char* devices;      /* all, or numbers such as 0,2; NULL: the devices that work */
} gpufathom_options;
typedef enum { GPUFATHOM_JSON, GPUFATHOM_PAGE } gpufathom_form;

/* The answer of `gpufathom analyze` as JSON (docs/analysis.md) or as a page of HTML; options may be
 * NULL. Free *text with gpufathom_free. */
int gpufathom_report(const gpufathom_capture* capture, const gpufathom_options* options,
                     gpufathom_form form, char** text, char** error);

/* The same, and in *missing what the answer lacks, one sentence a line ("1 x truncated_input:
 * ..."); empty when it is whole. Free both. */
int gpufathom_report_checked(const gpufathom_capture* capture, const gpufathom_options* options,
                             gpufathom_form form, char** text, char** missing, char** error);

/* What the capture itself lacks, in such lines, without an analysis. Free *missing. */
int gpufathom_missing(const gpufathom_capture* capture, char** missing, char** error);

/* Short for the JSON of a window; NULL is all. */
int gpufathom_analyze(const gpufathom_capture* capture, const char* window, char** json,
                      char** error);

void gpufathom_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
