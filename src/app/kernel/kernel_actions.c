#include "app/kernel/kernel_actions.h"

const command_action KERNEL_ACTIONS[] = {
    {
        .name = "make",
        .usage = "MODEL|RECIPE -o OUT [options]",
        .help = "Write the point spread function of a model, or of a recipe: a JSON file with "
                "models whose light is added, or the name of a shipped one. The kernel's centre is "
                "the tap at half the size, each channel sums to 1, and an EXR file has the recipe "
                "and the parameters as attributes. With --all, OUT is a folder, and gets every "
                "shipped kernel with its licence and a small picture.",
        .max_words = 1,
        .options = "output existing all kernel_scale taps param image plate fade kernels jobs "
                   "mem_limit sandbox",
        .words = kernel_model_names,
        .example = {{"Make six spikes in colour.",
                     "fftbloom kernel make star --param blades=6,turn=15 --taps 512 -o star.exr"},
                    {"Write all kernels for frames 3840 pixels wide, for another program.",
                     "fftbloom kernel make --all --kernel-scale 2 -o kernels_4k"}},
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
        .name = "list",
        .usage = "[--json]",
        .help = "List the kernels that are shipped with the program, whose names can be used "
                "wherever a kernel is expected: fftbloom in.exr -k sunstar -o out.exr.",
        .options = "kernels jobs mem_limit sandbox",
        .run = kernel_list,
    },
    {
        .name = "check",
        .usage = "FILE [--strict] [--json]",
        .help = "Report what is wrong with a kernel, and what repairs it: an off-centre peak, a "
                "cut-off tail, a background, negative taps, 8-bit values. With --strict a warning "
                "makes the exit status 1.",
        .min_words = 1,
        .max_words = 1,
        .options = "strict kernels jobs mem_limit sandbox",
        .example = {{"Check that it is fit for use.", "fftbloom kernel check star.exr --strict"}},
        .run = kernel_check,
    },
    {
        .name = "sheet",
        .usage = "FRAME -o SHEET.html|SHEET.png [options]",
        .help =
            "Show a frame under many kernels, to choose one by eye: as a page with large pictures "
            "at three strengths, a slider and the command for each, or as one picture. The kernels "
            "are the shipped ones; --kernels takes a folder of your own, or names and files with "
            "commas between. A single kernel is shown in three sizes and three tints. A copy of "
            "the frame at preview size is bloomed, with kernels scaled to it.",
        .min_words = 1,
        .max_words = 1,
        .options = "output existing exposure kernels jobs mem_limit sandbox",
        .example = {{"Choose a kernel for a frame.",
                     "fftbloom kernel sheet shot.1001.exr -o sheet.html"},
                    {"Compare three.", "fftbloom kernel sheet shot.1001.exr --kernels "
                                       "portrait,sunstar,my.exr -o sheet.png"}},
        .run = kernel_sheet,
    },
    {
        .name = "show",
        .usage = "FILE -o PAGE.svg [options]",
        .help = "Draw a kernel on an SVG page: the part that people see in false colours, the "
                "whole, its light by distance and within each radius, and a few lights that it "
                "blooms. --json has the points of the curves.",
        .min_words = 1,
        .max_words = 1,
        .options = "output existing jobs mem_limit sandbox",
        .example = {{"See a kernel.", "fftbloom kernel show star.exr -o star.svg"}},
        .run = kernel_show,
    },
    {
        .name = "mix",
        .usage = "FILE[:SHARE][@X,Y]... -o OUT [options]",
        .help = "Add kernels, each with its share of the light, and moved by X, Y taps (right and "
                "down, fractions allowed) if that is given.",
        .min_words = 1,
        .max_words = 16,
        .options = "output existing taps fade jobs mem_limit sandbox",
        .example = {{"A star with a veil.",
                     "fftbloom kernel mix star.exr:0.7 veil.exr:0.3 -o both.exr"}},
        .run = kernel_edit,
    },
    {
        .name = "rotate",
        .usage = "FILE DEGREES -o OUT [options]",
        .help = "Turn a kernel clockwise about its centre. Right angles only move taps; other "
                "angles divide a tap's light among the taps that it then covers.",
        .min_words = 2,
        .max_words = 2,
        .options = "output existing taps jobs mem_limit sandbox",
        .example = {{"Turn the spikes.", "fftbloom kernel rotate star.exr 15 -o turned.exr"}},
        .run = kernel_edit,
    },
    {
        .name = "stretch",
        .usage = "FILE X[xY] -o OUT [options]",
        .help = "Make a kernel X times as wide and Y times as high (1 if it is left out), as "
                "behind an anamorphic lens. Light is kept.",
        .min_words = 2,
        .max_words = 2,
        .options = "output existing taps jobs mem_limit sandbox",
        .example = {{"Ovals twice as high as wide, as a squeeze of 2 makes them.",
                     "fftbloom kernel stretch disc.exr 1x2 -o oval.exr"}},
        .run = kernel_edit,
    },
    {
        .name = "crop",
        .usage = "FILE [--taps N|WxH] -o OUT [options]",
        .help = "Bring a kernel to a size around its centre, with dark taps where it grows, or to "
                "the smallest square that holds 99.9 % of its light (--param keep=0.999), and "
                "print how much is lost. With --fade it ends smoothly.",
        .min_words = 1,
        .max_words = 1,
        .options = "output existing taps param fade jobs mem_limit sandbox",
        .parameters = kernel_edit_details,
        .example = {{"Make a kernel cheaper.", "fftbloom kernel crop big.exr -o small.exr"}},
        .run = kernel_edit,
    },
    {
        .name = "clean",
        .usage = "PHOTO -o OUT [options]",
        .help = "Make a kernel of a photograph of a lamp: find its centre, subtract the "
                "background, restore a core that is cut off from its flank, replace the noise of "
                "the tail by a smooth fall-off, and set taps below zero to zero.",
        .min_words = 1,
        .max_words = 1,
        .options = "output existing taps param fade kernel_center jobs mem_limit sandbox",
        .parameters = kernel_edit_details,
        .example = {{"Clean a photograph, and let it end smoothly.",
                     "fftbloom kernel clean lamp.png -o lamp.exr --fade 0.8"}},
        .run = kernel_edit,
    },
    {0},
};
