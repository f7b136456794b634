#include "app/kernel/kernel_actions.h"

const command_action KERNEL_ACTIONS[] = {
    {
        .name = "make",
        .usage = "MODEL -o OUT [options]",
        .help = "Write the point spread function of a model. 'fftbloom kernel models' lists the "
                "models and their parameters. The kernel's centre is the tap at half the size, "
                "each channel sums to 1, and an EXR file has the parameters as attributes.",
        .min_words = 1,
        .max_words = 1,
        .options = "output clobber taps param fade jobs",
        .words = kernel_model_names,
        .example = {{"Make six spikes in colour.",
                     "fftbloom kernel make star --param blades=6,turn=15 --taps 512 -o star.exr"}},
        .run = kernel_make,
    },
    {
        .name = "models",
        .usage = "[--json]",
        .help = "List the models that make knows, with their parameters, ranges and defaults.",
        .options = "",
        .run = kernel_models,
    },
    {
        .name = "check",
        .usage = "FILE [--strict] [--json]",
        .help = "Report what is wrong with a kernel, and what repairs it: an off-centre peak, a "
                "cut-off tail, a saturated core, a background, noise, negative taps. With --strict "
                "a warning makes the exit status 1.",
        .min_words = 1,
        .max_words = 1,
        .options = "strict jobs",
        .example = {{"Check that it is fit for use.", "fftbloom kernel check star.exr --strict"}},
        .run = kernel_check,
    },
    {
        .name = "convert",
        .usage = "FILE -o OUT [options]",
        .help = "Rotate and move taps from one tool's convention to another's. No value changes "
                "unless --normalize is given. --kernel-center sets the centre where the convention "
                "does not.",
        .min_words = 1,
        .max_words = 1,
        .options = "output clobber taps from to normalize kernel_center jobs",
        .example = {{"Convert it for oiiotool, which correlates.",
                     "fftbloom kernel convert star.exr --to oiio -o star_oiio.exr"}},
        .run = kernel_convert,
    },
    {0},
};
