// article.glsl - what the three passes of the article's bloom share: sizes, pixels, factors.
//
//     image  --pass 1-->  pairs of lines  --pass 2-->  half spectrum  --pass 3-->  result
//
// Pass 1 transforms the first axis, two real lines as one complex line. Pass 2 parts the two,
// transforms the second axis, multiplies by the kernel's spectrum and goes back. Pass 3 joins two
// lines again and goes back along the first axis. Nothing is ever put in order: pass 2 finds
// frequency k and its mirror image -k where pass 1 has left them.
#include "shaders/real.glsl"
#include "shaders/complex.glsl"
#include "nabla.h"

layout(local_size_x_id = ID_THREADS) in;
layout(constant_id = ID_LENGTH) const uint N = 2; // of this pass's axis
layout(constant_id = ARTICLE_EXTENT) const uint EXTENT = 1;
layout(constant_id = ARTICLE_LINES) const uint LINES = 1;
layout(constant_id = ARTICLE_X_FIRST) const bool X_FIRST = false;
layout(constant_id = ARTICLE_FIRST) const uint FIRST = 2;
layout(constant_id = ARTICLE_FIRST_THREADS) const uint FIRST_THREADS = 1;
layout(constant_id = ARTICLE_KERNEL) const uint KERNEL = 1;

const uint PAIRS = (LINES + 1) / 2;
const uint HALVES = FIRST / 2 + 1; // lines of the half spectrum
const uint CHANNELS = ARTICLE_CHANNELS;

layout(std430, set = 0, binding = ARTICLE_TABLE) readonly buffer factor_table { complex root[]; };

// Returns where pixel i of a line of the first axis is; `on` says whether there is one.
uint pixel_at(uint line, uint i) { return X_FIRST ? line * EXTENT + i : i * LINES + line; }
bool on(uint line, uint i) { return line < LINES && i < EXTENT; }

#include "nabla.glsl"
