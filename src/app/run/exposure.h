/* exposure.h - settles how the pictures (.png) of a run are developed, where the options leave it
 * to the program.
 *
 * A picture of a picture has been graded already: exposure 0 and the view srgb show it as it is.
 * The frames of a sequence share the exposure that suits its first frame, before the bloom, so that
 * they do not flicker, whichever worker, machine or run makes them. Any other picture has the
 * exposure that suits it, which is found when it is developed. */
#ifndef APP_EXPOSURE_H
#define APP_EXPOSURE_H

#include "app/run/job.h"
#include "base/par.h"

/* Gives --exposure and --view their values where they are auto, as follows from an image; `several`
 * where other images follow. Does nothing for an output that is no picture, and where the image
 * cannot be read, which fails again with its frame. The log says what was chosen for several. */
bool exposure_settle(settings *s, const char *input, bool several, par *threads, err *e);
/* Does the same for a job, whose first frame decides that can be read. On a farm, whose tasks each
 * see some of the frames, it is refused that there is none yet. */
bool exposure_settle_job(settings *s, const job *j, par *threads, err *e);

#endif
