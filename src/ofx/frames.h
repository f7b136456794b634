/* frames.h - the last frame of which a host wants windows, and those that are being made. */
#pragma once

#include "ofx/plate.h"
#include "ofx/user.h"

enum { AT_ONCE = 3 }; /* frames that are made at the same time */

/* Copies a window of the frame with this key, which it waits for where another thread makes that
 * frame. true: nothing is left to do, or the user was stopped. false: the caller makes the frame,
 * and ends that by frames_keep. */
bool frames_window(uint64_t key, const plate *to, ofx_rect_i window, user *u);
/* Keeps a frame in place of the one before, and takes its memory; NULL: it could not be made. */
void frames_keep(uint64_t key, plate *frame);
