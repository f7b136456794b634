/* exr_child.h - decodes a chunk by OpenEXR's library in a process that has no rights.
 *
 * The library is C++ code of others, and a file may be made to break it. So it runs in children,
 * which can only compute, get some memory, and read and write one socket. A child serves one thread
 * and one file. If it crashes, or is silent for too long, the chunk is damaged. The children come
 * from a process that is split off while this one has one thread, before the sandbox. */
#pragma once

#include "image/exr/exr_chunk.h"

/* Splits off the process that makes the children, and lets them decode from now on. Call it once,
 * while there is one thread. The library does not: it decodes in the host's process. */
void exr_child_start(void);
