#include "app/kernel/kernel_actions.h"

const command_action KERNEL_ACTIONS[] = {
    {"make", kernel_make, 0, 1, "MODEL|RECIPE -o OUT [options]",
     "output existing all kernel_scale taps param image plate fade kernels jobs mem_limit sandbox",
     "Write the point spread function of a model, or of a recipe: a JSON file with models whose "
     "light is added, or the name of a shipped one. The kernel's centre is the tap at half the "
     "size, each channel sums to 1, and an EXR file has the recipe and the parameters as "
     "attributes. With --all, OUT is a folder, and gets every shipped kernel with its licence and "
     "a small picture.",
     .words = kernel_model_names,
     .example = {{"Make six spikes in colour.",
                  "fftbloom kernel make star --param blades=6,turn=15 --taps 512 -o star.exr"},
                 {"Write all kernels for frames 3840 pixels wide, for another program.",
                  "fftbloom kernel make --all --kernel-scale 2 -o kernels_4k"}}},
    {"models", kernel_models, 0, 0, "[--json]", "",
     .help = "List the models that make knows, with their parameters, ranges and defaults."},
    {"list", kernel_list, 0, 0, "[--json]", "kernels jobs mem_limit sandbox",
     .help = "List the kernels that are shipped with the program, whose names can be used wherever "
             "a kernel is expected: fftbloom in.exr -k sunstar -o out.exr."},
    {"check", kernel_check, 1, 1, "FILE [--strict] [--json]",
     "strict kernels jobs mem_limit sandbox",
     "Report what is wrong with a kernel, and what repairs it: an off-centre peak, a cut-off tail, "
     "a background, negative taps, 8-bit values. With --strict a warning makes the exit status 1.",
     .example = {{"Check that it is fit for use.", "fftbloom kernel check star.exr --strict"}}},
    {"sheet", kernel_sheet, 1, 1, "FRAME -o SHEET.html|SHEET.png [options]",
     "output existing exposure kernels jobs mem_limit sandbox",
     "Show a frame under many kernels, to choose one by eye: as a page with large pictures at "
     "three strengths, a slider and the command for each, or as one picture. The kernels are the "
     "shipped ones; --kernels takes a folder of your own, or names and files with commas between. "
     "A single kernel is shown in three sizes and three tints. A copy of the frame at preview size "
     "is bloomed, with kernels scaled to it.",
     .example =
         {{"Choose a kernel for a frame.", "fftbloom kernel sheet shot.1001.exr -o sheet.html"},
          {"Compare three.",
           "fftbloom kernel sheet shot.1001.exr --kernels portrait,sunstar,my.exr -o sheet.png"}}},
    {"show", kernel_show, 1, 1, "FILE -o PAGE.svg|PAGE.html [options]",
     "output existing jobs mem_limit sandbox",
     "Draw a kernel on an SVG page: the part that people see in false colours, the whole, its "
     "light by distance and within each radius, and a few lights that it blooms. Of a field, the "
     "kernels of its nodes where they are in the frame, with sums and widths. --json has the "
     "points of the curves.",
     .example = {{"See a kernel.", "fftbloom kernel show star.exr -o star.svg"}}},
    {"mix", kernel_edit, 1, 16, "FILE[:SHARE][@X,Y]... -o OUT [options]",
     "output existing taps fade jobs mem_limit sandbox",
     "Add kernels, each with its share of the light, and moved by X, Y taps (right and down, "
     "fractions allowed) if that is given.",
     .example = {{"A star with a veil.",
                  "fftbloom kernel mix star.exr:0.7 veil.exr:0.3 -o both.exr"}}},
    {"rotate", kernel_edit, 2, 2, "FILE DEGREES -o OUT [options]",
     "output existing taps jobs mem_limit sandbox",
     "Turn a kernel clockwise about its centre. Right angles only move taps; other angles divide a "
     "tap's light among the taps that it then covers.",
     .example = {{"Turn the spikes.", "fftbloom kernel rotate star.exr 15 -o turned.exr"}}},
    {"stretch", kernel_edit, 2, 2, "FILE X[xY] -o OUT [options]",
     "output existing taps jobs mem_limit sandbox",
     "Make a kernel X times as wide and Y times as high (1 if it is left out), as behind an "
     "anamorphic lens. Light is kept.",
     .example = {{"Ovals twice as high as wide, as a squeeze of 2 makes them.",
                  "fftbloom kernel stretch disc.exr 1x2 -o oval.exr"}}},
    {"crop", kernel_edit, 1, 1, "FILE [--taps N|WxH] -o OUT [options]",
     "output existing taps param fade jobs mem_limit sandbox",
     "Bring a kernel to a size around its centre, with dark taps where it grows, or to the "
     "smallest square that holds 99.9 % of its light (--param keep=0.999), and print how much is "
     "lost. With --fade it ends smoothly.",
     .parameters = kernel_edit_details,
     .example = {{"Make a kernel cheaper.", "fftbloom kernel crop big.exr -o small.exr"}}},
    {"clean", kernel_edit, 1, 1, "PHOTO -o OUT [options]",
     "output existing taps param fade force kernel_center jobs mem_limit sandbox",
     "Make a kernel of a photograph of a lamp: find its centre, subtract the background, restore a "
     "core that is cut off from its flank, replace the noise of the tail by a smooth fall-off, and "
     "set taps below zero to zero.",
     .parameters = kernel_edit_details,
     .example = {{"Clean a photograph, and let it end smoothly.",
                  "fftbloom kernel clean lamp.png -o lamp.exr --fade 0.8"}}},
    {0},
};
