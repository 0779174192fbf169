/* The tiles of processors: registers of matrices, which systems lend on demand. */
#ifndef POLYHALITE_TILES_H
#define POLYHALITE_TILES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Called by compiled code before it uses tiles. 0, or an error code where the processor has none or
 * the system does not lend them. Asked once, for all threads of the process. */
int polyhalite_use_tiles(void *user_context, const char *pipeline);

#ifdef __cplusplus
}
#endif

#endif
