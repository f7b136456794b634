#include "app/cli/options.h"

#include "engine/engine.h"
#include "kernel/psf_core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const SECTION_TITLE[SECTIONS] = {
    [SECTION_FILES] = "Files",        [SECTION_LIGHT] = "Light",
    [SECTION_KERNEL] = "Kernel",      [SECTION_LAYERS] = "Layers and pixels",
    [SECTION_ACCURACY] = "Accuracy",  [SECTION_DEVICE] = "Device and memory",
    [SECTION_SEQUENCE] = "Sequences", [SECTION_FARM] = "Farm",
    [SECTION_COMPARE] = "Comparison", [SECTION_SUITE] = "Suites",
    [SECTION_BENCH] = "Benchmarks",   [SECTION_MESSAGES] = "Messages",
};

const char OPTION_VARIABLES[] = "device,jobs,mem_limit,cache_dir,kernels,config";

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define AT(member) .at = offsetof(settings, member)

enum {
    IMAGE = FOR_APPLY | FOR_PLAN, /* needs an image */
    RUN = IMAGE | FOR_BENCH,
    SPREAD = IMAGE | FOR_PRECOMPUTE, /* decides the kernel's spectrum */
    TAPS = SPREAD | FOR_KERNEL,
    LOUD = FOR_ALL & ~(FOR_COMPLETION | FOR_SCHEMA | FOR_DOCS | FOR_HELP | FOR_VERSION),
    LIMIT = FOR_DIFF | FOR_CASE, /* of a comparison */
};

const option OPTIONS[] = {
    /* --- files --- */
    {"input", OPTION_STREAM, SECTION_FILES, IMAGE, AT(input), .value = "IN",
     .help = "Image to bloom: EXR, HDR, PFM or PNG. A frame pattern such as shot.####.exr means a "
             "sequence.",
     .about = "It can also be given as the first argument. - is standard input (docs/pipes.md)."},
    {"kernel", OPTION_KERNEL, SECTION_FILES, SPREAD | FOR_BENCH, AT(kernel), .rank = RANK_MAIN,
     .value = "KERNEL", .letter = 'k',
     .help = "Point spread function: an image, a .spectrum file, or the name of a shipped kernel "
             "('fftbloom kernel list').",
     .about = "It can also be the second argument. In a sequence a pattern, such as k.####.exr, "
              "gives each frame a kernel of its own."},
    {"output", OPTION_STREAM, SECTION_FILES, FOR_APPLY | FOR_PRECOMPUTE | FOR_KERNEL | FOR_DIFF,
     AT(output), .rank = RANK_MAIN, .value = "OUT", .letter = 'o',
     .help = "File to write; its extension decides the format.",
     .about = "A .png file is a tone-mapped preview. A sequence needs a frame pattern here, too; "
              "in a folder the file has the name of the input; - and exr:- are standard output. "
              "The file appears complete or not at all."},
    {"before", OPTION_PATH, SECTION_FILES, FOR_APPLY, AT(before), .value = "FILE",
     .help = "Also write a picture of the image before it is bloomed, developed as the output, a "
             "PNG picture, too."},
    {"emit_file", OPTION_PATH, SECTION_FILES, FOR_APPLY, AT(emit_file), .value = "FILE",
     .help = "Write the glare alone into an EXR file of its own, and not into the output.",
     .about = "Its channels have the names of the image's, with the name of --emit-layer before "
              "them if that is given. Beside a PNG picture it may be one, developed as that. A "
              "sequence needs a frame pattern here."},
    {"kernels", OPTION_PATH, SECTION_FILES, IMAGE | FOR_PRECOMPUTE | FOR_KERNEL, AT(kernels),
     .rank = RANK_EXPERT, .value = "DIR",
     .help = "Folder of the shipped kernels, if it is not where the program was installed; for "
             "kernel sheet the kernels to show: a folder, or names and files with commas between."},
    {"config", OPTION_PATH, SECTION_FILES, SPREAD, AT(config), .value = "FILE", .flag_only = true,
     .help = "Read options from a JSON file; flags and environment variables override it."},
    {"report", OPTION_PATH, SECTION_FILES, FOR_APPLY, AT(report), .value = "FILE",
     .help = "Write a JSON report on each frame: device, plan, times and notes."},
    {"existing", OPTION_ENUM, SECTION_FILES, FOR_APPLY, AT(existing),
     .words = WORDS("replace", "skip", "update"), .preset = "replace", .rank = RANK_MAIN,
     .help = "What to do where OUT exists: replace it, skip the frame (exit 5), or make what is "
             "not made already of the same input, kernel and settings (update).",
     .about = "For update the cache folder remembers how each output was made. An output that has "
              "changed since then is made again. A result never replaces its input."},
    {"existing", OPTION_ENUM, SECTION_FILES, FOR_PRECOMPUTE | FOR_KERNEL, AT(existing),
     .words = WORDS("replace", "skip"), .preset = "replace", .flag_only = true,
     .help = "What to do where OUT exists: replace it, or leave it and exit with 5."},

    /* --- light --- */
    {"padding", OPTION_BORDERS, SECTION_LIGHT, RUN, AT(bloom.border), .rank = RANK_MAIN,
     .words = WORDS("zero", "mirror", "clamp", "wrap"), .preset = "mirror",
     .help = "How to continue the image beyond its borders: mirrored, black (zero), edge repeated "
             "(clamp), or wrapped.",
     .about = "With mirror all light stays in the frame; with zero the light that leaves it is "
              "lost. With --window grow or display the default is zero. Give one word, or one per "
              "axis, x first: mirror,zero; in JSON also [\"mirror\",\"zero\"]."},
    {"amount", OPTION_AMOUNT, SECTION_LIGHT, IMAGE, AT(bloom.sharpen), .value = "A", .preset = "1",
     .rank = RANK_MAIN,
     .help = "Strength of the bloom, as a fraction or a percentage: 1 is all of it, 0 the input "
             "unchanged.",
     .about = "The kernel k becomes A k + (1 - A) delta, which keeps its sum."},
    {"sharpen", OPTION_SHARPEN, SECTION_LIGHT, FOR_CONFIG, AT(bloom.sharpen), .value = "T",
     .help = "The counterpart of --amount: T is 1 - A."},
    {"command", OPTION_ENUM, SECTION_LIGHT, IMAGE | FOR_CASE, AT(bloom.solve),
     .words = WORDS("apply", "deglare"), .preset = "apply", .rank = RANK_EXPERT,
     .help = "What to do: bloom the image, or take the glare of a lens away from it."},
    {"clip", OPTION_FLOAT, SECTION_LIGHT, IMAGE, AT(bloom.clip), .value = "V", .min = 0,
     .max = INFINITY, .words = WORDS("auto", "off"), .preset = "auto", .rank = RANK_EXPERT,
     .help = "deglare: level from which on a pixel of the plate has lost light; auto is its "
             "largest value, if several pixels have it."},
    {"clamp", OPTION_BOOL, SECTION_LIGHT, IMAGE, AT(bloom.clamp), .preset = "false",
     .rank = RANK_EXPERT, .help = "deglare: make pixels zero that come out below zero."},
    {"black", OPTION_STRING, SECTION_LIGHT, IMAGE, AT(bloom.black), .value = "X,Y,W,H",
     .rank = RANK_EXPERT,
     .help = "deglare: find the amount with which this region, which was black, becomes zero in "
             "the mean."},
    {"tint", OPTION_TINT, SECTION_LIGHT, IMAGE, AT(bloom.tint), .value = "R,G,B", .min = 0,
     .max = 1000, .preset = "1,1,1",
     .help = "Colour of the glare: what that of red, green and blue is multiplied with.",
     .about = "The light that stays in its pixel keeps its colour. Light is then not kept; the "
              "ledger of the report says by how much."},
    {"mask", OPTION_STRING, SECTION_LIGHT, IMAGE, AT(bloom.mask), .value = "LAYER",
     .help = "Spread only the light under this mask, a channel or a layer with one channel: all "
             "where it is 1, none where it is 0.",
     .about = "Other light stays where it is. Glare falls on all pixels. See docs/comp.md."},
    {"threshold", OPTION_FLOAT, SECTION_LIGHT, IMAGE, AT(bloom.threshold), .rank = RANK_MAIN,
     .value = "V", .min = 0, .max = INFINITY, .preset = "0",
     .help = "Spread only the light above V and let the rest pass unchanged; 0 turns this off. Not "
             "physical.",
     .about =
         "Energy is kept, but the glare no longer has the kernel's shape; the report says so."},
    {"knee", OPTION_FLOAT, SECTION_LIGHT, IMAGE, AT(bloom.knee), .value = "V", .min = 0,
     .max = INFINITY, .preset = "0", .help = "Width of the soft transition around --threshold."},
    {"axis", OPTION_ENUM, SECTION_LIGHT, RUN, AT(bloom.order), .rank = RANK_EXPERT,
     .words = WORDS("auto", "x", "y"), .preset = "auto",
     .help = "Axis to transform first; auto takes the one that costs less.",
     .about = "Both orders keep the tolerance; results differ in their last digits."},

    /* --- kernel --- */
    {"normalize", OPTION_ENUM, SECTION_KERNEL, SPREAD, AT(bloom.kernel.normalize),
     .words = WORDS("luminance", "channel", "sum", "none"), .preset = "luminance",
     .help = "How to scale the kernel so that it keeps the light: total luminance, each channel, "
             "the mean of the channels, or not at all.",
     .about = "luminance divides all channels by the luminance of their sums, which keeps the "
              "kernel's colour; channel makes each sum 1, so white stays white."},
    {"kernel_center", OPTION_CENTER, SECTION_KERNEL, TAPS, AT(bloom.kernel.center),
     .rank = RANK_EXPERT, .value = "X,Y", .words = WORDS("middle", "peak", "centroid", "corner"),
     .preset = "middle",
     .help = "Centre of the kernel: the middle (half the size, rounded down), its peak, its "
             "centroid, its upper left corner, or X,Y.",
     .about = "X,Y counts taps from the upper left one and may lie between taps."},
    {"kernel_scale", OPTION_SCALE, SECTION_KERNEL, TAPS, AT(bloom.kernel.size), .value = "S",
     .min = 1e-3, .max = 1000, .preset = "1",
     .help = "Size of the kernel: a factor (1 is one tap per pixel), or a height relative to the "
             "image's (0.5h).",
     .about = "A size in image heights keeps the look the same from proxy to full size. Two "
              "numbers are those of x and y: 1.2,1."},
    {"kernel_turn", OPTION_FLOAT, SECTION_KERNEL, SPREAD, AT(bloom.kernel.turn), .value = "DEG",
     .min = -3600, .max = 3600, .preset = "0",
     .help = "Turn the kernel about its centre, in degrees and clockwise.",
     .about = "Right angles only move taps. A kernel has its size before it is turned."},
    {"pixel_aspect", OPTION_FLOAT, SECTION_KERNEL, SPREAD, AT(bloom.pixel_aspect),
     .rank = RANK_EXPERT, .value = "A", .words = WORDS("auto", "off"), .min = 0.01, .max = 100,
     .preset = "auto",
     .help = "Width of the image's pixels over their height, by which the kernel is squeezed; auto "
             "takes pixelAspectRatio, off leaves the kernel as it is.",
     .about = "The kernel's x is scaled by its own pixel aspect over the image's, so that a round "
              "glow is round when an anamorphic plate is shown. For precompute auto is 1."},
    {"correlate", OPTION_BOOL, SECTION_KERNEL, SPREAD, AT(bloom.kernel.correlate),
     .rank = RANK_EXPERT, .preset = "false",
     .help = "Rotate the kernel by 180 degrees, as tools that correlate do."},
    {"core", OPTION_FLOAT, SECTION_KERNEL, IMAGE, AT(bloom.core), .value = "R", .min = 0,
     .max = PSF_CORE_MOST, .words = WORDS("auto", "off"), .preset = "off",
     .help = "Spread only the glare: light within R taps of the kernel's centre stays in its "
             "pixel. auto finds where the kernel begins to fall off as its tail does.",
     .about =
         "A lens has softened its image already; the kernel without its core does not soften it "
         "again. apply gives back what deglare takes away with the same core (docs/deglare.md)."},
    {"spectrum", OPTION_ENUM, SECTION_KERNEL, IMAGE, AT(bloom.spectrum), .rank = RANK_EXPERT,
     .words = WORDS("resampled", "exact"), .preset = "resampled",
     .help = "How to get the kernel's spectrum at the image's size: resampled from the cached one, "
             "or exactly."},

    {"taps", OPTION_STRING, SECTION_KERNEL, FOR_KERNEL, AT(taps), .value = "N|WxH",
     .help = "Size of the kernel to write. The default is all taps; for make auto, the smallest "
             "usual size that holds 99.9 % of the light, up to 1024."},
    {"all", OPTION_BOOL, SECTION_KERNEL, FOR_KERNEL, AT(all_kernels), .preset = "false",
     .help = "Make every shipped kernel; OUT is a folder."},
    {"param", OPTION_LIST, SECTION_KERNEL, FOR_KERNEL, AT(param), .value = "NAME=V,...",
     .help = "Parameters of a model, such as radius=3 ('fftbloom kernel models'), or of an action "
             "('fftbloom help kernel ACTION')."},
    {"image", OPTION_PATH, SECTION_KERNEL, FOR_KERNEL, AT(image), .value = "FILE",
     .help = "Opening for the model aperture: light passes where this image is white."},
    {"plate", OPTION_PATH, SECTION_KERNEL, FOR_KERNEL, AT(plate), .value = "FILE",
     .help = "Take f-number, lens, sensor and width from the header of this image."},
    {"fade", OPTION_FLOAT, SECTION_KERNEL, FOR_KERNEL, AT(fade), .value = "F", .min = 0, .max = 1,
     .preset = "0.6",
     .help = "Fade out a kernel from this fraction of the way to its border; 1 is off. make fades "
             "by default, other actions only with --fade."},
    {"strict", OPTION_BOOL, SECTION_KERNEL, FOR_KERNEL, AT(strict), .preset = "false",
     .help = "Exit with 1 if check finds something to warn of."},

    /* --- layers and pixels --- */
    {"layers", OPTION_LIST, SECTION_LAYERS, IMAGE | FOR_INFO, AT(bloom.layers), .rank = RANK_MAIN,
     .value = "GLOBS",
     .help = "Layers to bloom, as globs over layer and channel names; the default is all colour "
             "layers. The unnamed layer is 'rgba'.",
     .about = "What matches is treated as colour whatever its name is, except uint channels. A "
              "glob that matches nothing is an error."},
    {"exclude", OPTION_LIST, SECTION_LAYERS, IMAGE | FOR_INFO, AT(bloom.exclude), .value = "GLOBS",
     .help = "Layers to leave unchanged, as globs; this overrides --layers."},
    {"alpha", OPTION_ENUM, SECTION_LAYERS, IMAGE, AT(bloom.alpha),
     .words = WORDS("keep", "convolve"), .preset = "keep",
     .help = "Leave alpha unchanged, or convolve it like the colour."},
    {"window", OPTION_ENUM, SECTION_LAYERS, IMAGE, AT(bloom.window),
     .words = WORDS("keep", "grow", "display"), .preset = "keep",
     .help = "Data window of the output: the input's (keep), enlarged by the kernel's reach "
             "(grow), or the display window."},
    {"nan", OPTION_ENUM, SECTION_LAYERS, IMAGE, AT(bloom.nan),
     .words = WORDS("error", "zero", "interpolate"), .preset = "error",
     .help = "How to treat NaN and infinite pixels: refuse the frame (exit 6), or replace them by "
             "zero or by their finite neighbours."},
    {"half_overflow", OPTION_ENUM, SECTION_LAYERS, IMAGE, AT(bloom.half_overflow),
     .rank = RANK_EXPERT, .words = WORDS("clamp", "float", "error"), .preset = "clamp",
     .help = "How to treat results above 65504 in a half-float file: clamp them, write float, or "
             "refuse the frame."},
    {"emit_layer", OPTION_STRING, SECTION_LAYERS, IMAGE, AT(bloom.emit_layer), .value = "NAME",
     .help = "Also write the glare alone, as an EXR layer of this name."},
    {"emit", OPTION_ENUM, SECTION_LAYERS, FOR_APPLY, AT(bloom.emit),
     .words = WORDS("glare", "additive", "source"), .preset = "glare",
     .help = "What --emit-layer and --emit-file write: all light that left its pixel (glare), the "
             "output minus the input (additive), or the light that spreads, after mask and "
             "threshold (source).",
     .about = "docs/comp.md has the formulas."},
    {"per_layer", OPTION_LAYERS, SECTION_LAYERS, IMAGE, AT(bloom.per_layer),
     .value = "LAYER:NAME=V,...",
     .help = "Settings of single layers: amount, sharpen, threshold, knee or mask, such as "
             "rim:amount=0.2.",
     .about = "LAYER is a glob, and the unnamed layer is rgba; later settings win. In a config "
              "file this can also be an object: {\"rim\": {\"amount\": 0.2}}."},
    {"stamp", OPTION_BOOL, SECTION_LAYERS, FOR_APPLY, AT(stamp), .preset = "false",
     .help = "Write into the EXR file how it was made: version, input, kernel and settings.",
     .about = "A note is given if an image with such attributes is bloomed again."},
    {"compression", OPTION_ENUM, SECTION_LAYERS, FOR_APPLY, AT(packing),
     .words =
         WORDS("keep", "none", "rle", "zips", "zip", "piz", "pxr24", "b44", "b44a", "dwaa", "dwab"),
     .preset = "keep", .help = "Compression of EXR output; keep uses the input's."},
    {"exposure", OPTION_FLOAT, SECTION_LAYERS, FOR_APPLY | FOR_KERNEL, AT(exposure),
     .rank = RANK_MAIN, .value = "STOPS", .words = WORDS("auto"), .min = -40, .max = 40,
     .preset = "auto",
     .help = "Exposure of a PNG picture: a gain in stops, or auto for one that suits the picture.",
     .about = "At 0 a grey of 0.18 is shown as 0.18. Give pictures that are to be compared the "
              "same number. docs/images.md says what auto does."},
    {"view", OPTION_STRING, SECTION_LAYERS, FOR_APPLY, AT(view), .value = "NAME", .preset = "auto",
     .help = "How a PNG picture shows the light: auto (film; srgb if the input is PNG, too), film "
             "(highlights bend down), srgb (cut off above 1), or ocio:DISPLAY/VIEW of the "
             "OpenColorIO config in $OCIO.",
     .about = "ocio alone is the config's default, ocio:VIEW a view of the default display. See "
              "docs/colour.md."},
    {"input_space", OPTION_SPACE, SECTION_LAYERS, IMAGE, AT(input_space), .value = "SPACE",
     .help = "Colour space of the image, such as srgb, logc3 or acescg, which is decoded to linear "
             "light. The default is what the file says, or linear Rec.709.",
     .about = "Without it, a file that says that a curve codes its colours is refused. The output "
              "is linear and says so; see --output-space. docs/colour.md lists the spaces."},
    {"output_space", OPTION_SPACE, SECTION_LAYERS, FOR_APPLY, AT(output_space), .value = "SPACE",
     .words = WORDS("input"),
     .help = "Colour space of the output; the default is linear in the primaries of the image, and "
             "input is that of --input-space.",
     .about = "Colours are converted to the primaries of the space; white stays white."},
    {"pixel_type", OPTION_ENUM, SECTION_LAYERS, FOR_APPLY | FOR_BENCH, AT(pixels),
     .words = WORDS("keep", "half", "float"), .preset = "keep",
     .help = "Pixel type of the layers that are bloomed, or of the frame that bench times; data "
             "layers keep theirs."},

    /* --- accuracy --- */
    {"precision", OPTION_ENUM, SECTION_ACCURACY, RUN, AT(bloom.precision), .rank = RANK_EXPERT,
     .words = WORDS("auto", "float32", "float64"), .preset = "auto",
     .help = "Arithmetic of the transforms; auto takes the cheapest that meets the tolerance."},
    {"tolerance", OPTION_FLOAT, SECTION_ACCURACY, IMAGE, AT(bloom.tolerance), .rank = RANK_EXPERT,
     .value = "E", .min = 1e-12, .max = 1, .preset = "1e-3",
     .help = "Allowed relative error of pixels above 1e-4 of their channel's median; darker ones "
             "may be off by as much as a pixel of that size.",
     .about =
         "docs/math.md, \"What is dark\", has the exact rule for noise below zero and for halfs."},
    {"verify", OPTION_INT, SECTION_ACCURACY, FOR_APPLY | FOR_CASE, AT(bloom.verify),
     .rank = RANK_EXPERT, .value = "N", .min = 0, .max = 1e6, .preset = "0",
     .help = "Recompute N random pixels and the N worst ones in double precision; exit with 7 if "
             "the tolerance is not met."},

    /* --- device and memory --- */
    {"device", OPTION_STRING, SECTION_DEVICE, RUN | FOR_CHECK, AT(bloom.device), .rank = RANK_MAIN,
     .value = "DEVICE", .words = WORDS("auto", "cpu", "gpu", "software", "gpus", "all"),
     .preset = "auto",
     .help = "Device to use: a class, or a device's index, uuid or part of its name. Several with "
             "commas, gpus or all share the frames of a sequence."},
    {"jobs", OPTION_INT, SECTION_DEVICE, RUN | FOR_PRECOMPUTE | FOR_CHECK | FOR_DIFF | FOR_KERNEL,
     AT(jobs), .value = "N", .min = 0, .max = 1024, .preset = "0",
     .help = "Number of host threads; 0 uses all that are available."},
    {"mem_limit", OPTION_SIZE, SECTION_DEVICE,
     SPREAD | FOR_BENCH | FOR_KERNEL | FOR_DIFF | FOR_CHECK | FOR_INFO, AT(bloom.mem_limit),
     .value = "SIZE", .min = 1e6, .preset = "0",
     .help = "Maximum host memory, such as 8GB; an image that needs more is made in tiles. 0 "
             "allows 80 % of the memory that is available, container limits included."},
    {"vram_limit", OPTION_SIZE, SECTION_DEVICE, RUN, AT(bloom.vram_limit), .rank = RANK_EXPERT,
     .value = "SIZE", .min = 1e6, .preset = "0",
     .help = "Maximum device memory, such as 2GB; 0 allows all of it."},
    {"cache_dir", OPTION_PATH, SECTION_DEVICE,
     SPREAD | FOR_BENCH | FOR_CHECK | FOR_CACHE | FOR_DEVICES, AT(bloom.cache_dir), .value = "DIR",
     .help = "Folder of the spectrum cache [$XDG_CACHE_HOME/fftbloom or ~/.cache/fftbloom]."},
    {"cache_size", OPTION_SIZE, SECTION_DEVICE, IMAGE | FOR_PRECOMPUTE | FOR_CHECK | FOR_CACHE,
     AT(bloom.cache_size), .rank = RANK_EXPERT, .value = "SIZE", .preset = "2GB",
     .help = "Maximum size of the spectrum cache; 0 turns it off."},
    {"sandbox", OPTION_SANDBOX, SECTION_DEVICE,
     IMAGE | FOR_PRECOMPUTE | FOR_KERNEL | FOR_DIFF | FOR_INFO | FOR_CHECK, AT(sandbox),
     .words = WORDS("auto", "on", "off"), .preset = "auto", .rank = RANK_EXPERT,
     .help = "auto gives up rights that the run does not need where no GPU is opened; on insists, "
             "and opens GPUs first; off keeps them (docs/security.md).",
     .about = "A config file cannot say off."},

    /* --- bench --- */
    {"size", OPTION_STRING, SECTION_BENCH, FOR_BENCH, AT(size), .value = "WxH",
     .preset = "1920x1080",
     .help = "Size of the frame to time, or several sizes separated by commas."},
    {"scene", OPTION_ENUM, SECTION_BENCH, FOR_BENCH, AT(scene),
     .words = WORDS("ordinary", "black", "signed", "masked", "margins"), .preset = "ordinary",
     .help = "What the frame is like: light everywhere, black areas and lights beyond halfs, "
             "values of both signs, a mask, or a tile whose middle counts."},
    {"rounds", OPTION_INT, SECTION_BENCH, FOR_BENCH, AT(rounds), .value = "N", .min = 1,
     .max = 1000, .preset = "21",
     .help = "Number of measurements; the median, minimum and quartiles are reported."},
    {"queue", OPTION_INT, SECTION_BENCH, FOR_BENCH, AT(queue), .value = "N", .min = 1, .max = 1000,
     .preset = "1",
     .help =
         "Frames per round: 1 is timed with its transfers, more run back to back on the device."},
    {"in_flight", OPTION_INT, SECTION_BENCH, FOR_BENCH, AT(in_flight), .value = "N", .min = 1,
     .max = ENGINE_SLOTS, .preset = "1",
     .help = "Frames in progress at the same time, with --queue 1."},
    {"warm_up", OPTION_FLOAT, SECTION_BENCH, FOR_BENCH, AT(warm_up), .value = "S", .min = 0,
     .max = 60, .preset = "0.1",
     .help = "Warm-up in seconds before the first round (at least one frame)."},

    /* --- sequences --- */
    {"frames", OPTION_STRING, SECTION_SEQUENCE, FOR_APPLY, AT(frames), .rank = RANK_MAIN,
     .value = "RANGES",
     .help = "Frames of the sequence, such as 1001-1100,1200-1300x2; the default is all that are "
             "found."},
    {"views", OPTION_LIST, SECTION_SEQUENCE, IMAGE, AT(views), .value = "NAMES",
     .preset = "left,right",
     .help =
         "Names of the views for %V (the name) and %v (its first letter) in IN, KERNEL and OUT.",
     .about = "Each view is an image of its own; each frame is made once for each view."},
    {"keep_going", OPTION_BOOL, SECTION_SEQUENCE, FOR_APPLY, AT(keep_going), .preset = "false",
     .help = "Continue after a frame that fails or whose input is missing, and exit with the "
             "status of the worst failure; with 5 if only inputs were missing.",
     .about = "Each failure is told when it happens, and a closing line counts them. A kernel that "
              "cannot be used stops the run."},

    /* --- farm --- */
    {"to", OPTION_ENUM, SECTION_FARM, FOR_FARM, AT(farm), .words = WORDS("slurm", "openjd"),
     .preset = "slurm", .flag_only = true,
     .help =
         "Submit the frames to Slurm, or print a job template for a scheduler that reads OpenJD.",
     .about = "docs/farm.md says how Deadline and others run fftbloom."},
    {"dry_run", OPTION_BOOL, SECTION_FARM, FOR_FARM, AT(dry_run), .preset = "false",
     .flag_only = true, .help = "Print the script of the Slurm job, and write and submit nothing."},
    {"wait", OPTION_BOOL, SECTION_FARM, FOR_FARM, AT(wait), .preset = "false", .flag_only = true,
     .help = "Wait until the Slurm job is done, gather its reports, and exit with its status."},
    {"chunk", OPTION_INT, SECTION_FARM, FOR_FARM, AT(chunk), .value = "N", .min = 0, .max = 1e6,
     .preset = "10", .flag_only = true, .help = "Frames per task; 0 is the default."},
    {"args", OPTION_STRING, SECTION_FARM, FOR_FARM, AT(farm_args), .value = "ARGS",
     .flag_only = true,
     .help = "More arguments for sbatch, such as \"-p gpu --gres=gpu:1 --mem=16G\"."},
    {"dir", OPTION_PATH, SECTION_FARM, FOR_FARM, AT(farm_dir), .value = "DIR", .flag_only = true,
     .help = "Folder for the job's script, logs and reports. The default is "
             "fftbloom-farm/NAME-HASH, one for each output."},

    /* --- comparison --- */
    {"fail", OPTION_FLOAT, SECTION_COMPARE, LIMIT, AT(compare.fail), .value = "V", .min = 0,
     .max = INFINITY, .preset = "1e-6",
     .help = "A pixel fails if a channel differs by more than V."},
    {"failrelative", OPTION_FLOAT, SECTION_COMPARE, LIMIT, AT(compare.fail_relative), .value = "V",
     .min = 0, .max = INFINITY, .preset = "0",
     .help = "A pixel fails only if it also differs by more than this fraction of its value."},
    {"failpercent", OPTION_FLOAT, SECTION_COMPARE, LIMIT, AT(compare.fail_percent), .value = "P",
     .min = 0, .max = 100, .preset = "0", .help = "Percentage of pixels that may fail."},
    {"hardfail", OPTION_FLOAT, SECTION_COMPARE, LIMIT, AT(compare.hard_fail), .value = "V",
     .min = 0, .max = INFINITY, .preset = "inf",
     .help = "Fail if any pixel differs by more than V, whatever the other limits allow.",
     .about = "idiff 2.4 counts it only when more pixels than allowfailures exceed fail."},
    {"allowfailures", OPTION_INT, SECTION_COMPARE, LIMIT, AT(compare.allow_failures), .value = "N",
     .min = 0, .max = 4294967295.0, .preset = "0",
     .help = "Number of pixels that may exceed each limit by any amount."},
    {"warn", OPTION_FLOAT, SECTION_COMPARE, LIMIT, AT(compare.warn), .value = "V", .min = 0,
     .max = INFINITY, .preset = "1e-6",
     .help = "A pixel warns if a channel differs by more than V.",
     .about = "If none of warn, warnrelative and warnpercent is given, pixels warn only when some "
              "fail within failpercent. If one is given, warnings do not depend on failures."},
    {"warnrelative", OPTION_FLOAT, SECTION_COMPARE, LIMIT, AT(compare.warn_relative), .value = "V",
     .min = 0, .max = INFINITY, .preset = "0",
     .help = "A pixel warns only if it also differs by more than this fraction of its value."},
    {"warnpercent", OPTION_FLOAT, SECTION_COMPARE, LIMIT, AT(compare.warn_percent), .value = "P",
     .min = 0, .max = 100, .preset = "0", .help = "Percentage of pixels that may warn."},
    {"hardwarn", OPTION_FLOAT, SECTION_COMPARE, LIMIT, AT(compare.hard_warn), .value = "V",
     .min = 0, .max = INFINITY, .preset = "inf",
     .help = "Warn if any pixel differs by more than V, whatever the other limits allow."},
    {"all", OPTION_BOOL, SECTION_COMPARE, FOR_DIFF, AT(all_parts), .preset = "false", .letter = 'a',
     .help = "Compare all parts instead of the first one."},
    {"od", OPTION_BOOL, SECTION_COMPARE, FOR_DIFF, AT(diff_only), .preset = "false",
     .help = "Write the difference image only if there is a difference."},
    {"abs", OPTION_BOOL, SECTION_COMPARE, FOR_DIFF, AT(diff_absolute), .preset = "false",
     .help = "Write absolute instead of signed differences into the difference image."},
    {"scale", OPTION_FLOAT, SECTION_COMPARE, FOR_DIFF, AT(diff_scale), .value = "F", .min = 0,
     .max = 1e30, .preset = "1", .help = "Multiply the difference image by F."},

    /* --- messages --- */
    {"quiet", OPTION_BOOL, SECTION_MESSAGES, LOUD, AT(quiet), .preset = "false", .letter = 'q',
     .help = "Print only errors."},
    {"verbose", OPTION_BOOL, SECTION_MESSAGES, LOUD, AT(verbose), .preset = "false", .letter = 'v',
     .help = "Print what is done, and why."},
    {"json", OPTION_BOOL, SECTION_MESSAGES, (LOUD | FOR_VERSION) & ~FOR_CHECK, AT(json),
     .preset = "false", .help = "Print the result as JSON on standard output."},
    {"progress", OPTION_PROGRESS, SECTION_MESSAGES, FOR_APPLY | FOR_CHECK, AT(progress),
     .words = WORDS("auto", "deadline", "openjd", "json", "none"), .preset = "auto",
     .help = "How to report progress: a bar on a terminal or else a line every few seconds (auto), "
             "the lines that a farm's scheduler reads, JSON lines, or not at all.",
     .about =
         "json:3 writes the lines to file descriptor 3, which the caller opens: 3>progress.jsonl"},
    {"print_config", OPTION_BOOL, SECTION_MESSAGES, FOR_PLAN | FOR_PRECOMPUTE, AT(print_config),
     .preset = "false", .flag_only = true,
     .help = "Print the value and the origin of each option, and exit."},

    /* --- suites --- */
    {"filter", OPTION_LIST, SECTION_SUITE, FOR_CHECK, AT(filter), .value = "GLOBS",
     .help = "Run only the cases whose names match these globs."},
    {"list", OPTION_BOOL, SECTION_SUITE, FOR_CHECK, AT(list), .preset = "false",
     .help = "Print the names of the cases, and run none."},
    {"keep_going", OPTION_BOOL, SECTION_SUITE, FOR_CHECK, AT(keep_going), .preset = "false",
     .help = "Continue after a case that fails."},
    {"bless", OPTION_BOOL, SECTION_SUITE, FOR_CHECK, AT(bless), .preset = "false",
     .flag_only = true,
     .help = "Write the references that are missing or differ, with their provenance.",
     .about = "References are EXR files with attributes that say which program, device, settings "
              "and inputs made them. Those that match stay as they are. A result that fails the "
              "case's energy or verify assertion is not written."},
    {"set", OPTION_LIST, SECTION_SUITE, FOR_CHECK, AT(set), .value = "NAME=VALUE",
     .help = "Variables of the suite, separated by commas; these override the suite's own."},
    {"require_device", OPTION_STRING, SECTION_SUITE, FOR_CHECK, AT(require_device),
     .value = "DEVICE", .words = WORDS("cpu", "gpu", "software"),
     .help = "Exit with 69 if the machine has no such device, or no case ran on it."},
    {"require_cases", OPTION_INT, SECTION_SUITE, FOR_CHECK, AT(require_cases), .value = "N",
     .min = 0, .max = 1e6, .preset = "0",
     .help = "Fail if fewer than N cases passed; skipped cases do not count."},
    {"junit", OPTION_STREAM, SECTION_SUITE, FOR_CHECK, AT(junit), .value = "FILE",
     .help = "Write the results as JUnit XML; - is standard output."},
    {"json", OPTION_STREAM, SECTION_SUITE, FOR_CHECK, AT(json_file), .value = "FILE",
     .flag_only = true, .help = "Write the results as JSON; - is standard output."},
    {"html", OPTION_STREAM, SECTION_SUITE, FOR_CHECK, AT(html), .value = "FILE",
     .help = "Write the results as one page with pictures that needs only a browser."},
};
const int OPTION_COUNT = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
_Static_assert(sizeof OPTIONS / sizeof OPTIONS[0] <= SETTINGS_ROOM, "raise SETTINGS_ROOM");

/* --- look-up ------------------------------------------------------------------------------- */

static bool same_name(const char *a, const char *b) {
    for (; *a && *b; a++, b++)
        if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_'))) return false;
    return *a == *b;
}

bool option_in_config(const option *o) {
    return o->on & FOR_CONFIG || (o->on & FOR_APPLY && !o->flag_only);
}

static bool is_taken_by(const option *o, uint32_t users) {
    return o->on & users || (users & FOR_CONFIG && option_in_config(o));
}

const option *option_find(const char *name, uint32_t users) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (is_taken_by(&OPTIONS[i], users) && same_name(OPTIONS[i].name, name)) return &OPTIONS[i];
    return NULL;
}

const option *option_find_letter(char letter, uint32_t users) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (OPTIONS[i].on & users && OPTIONS[i].letter == letter) return &OPTIONS[i];
    return NULL;
}

const option *option_next(const option *last, uint32_t users) {
    int i = last ? (int)(last - OPTIONS) + 1 : 0;
    for (int section = last ? (int)last->section : 0; section < SECTIONS; section++, i = 0)
        for (; i < OPTION_COUNT; i++)
            if ((int)OPTIONS[i].section == section && is_taken_by(&OPTIONS[i], users))
                return &OPTIONS[i];
    return NULL;
}

bool option_same_value(const option *a, const option *b) {
    return a != b && a->at == b->at;
}

const char *option_nearest(const char *name, uint32_t users) {
    const char *names[SETTINGS_ROOM];
    char plain[OPTION_NAME_ROOM];
    snprintf(plain, sizeof plain, "%s", name);
    for (char *p = plain; *p; p++)
        if (*p == '-') *p = '_';
    int n = 0;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (is_taken_by(&OPTIONS[i], users)) names[n++] = OPTIONS[i].name;
    int best = text_nearest(plain, names, n);
    return best < 0 ? NULL : names[best];
}

/* --- words --------------------------------------------------------------------------------- */

const char *option_flag(const option *o, char buf[OPTION_NAME_ROOM]) {
    bool no = o->type == OPTION_BOOL && o->preset && strcmp(o->preset, "true") == 0;
    int n = snprintf(buf, OPTION_NAME_ROOM, "--%s%s", no ? "no-" : "", o->name);
    for (int i = 0; i < n; i++)
        if (buf[i] == '_') buf[i] = '-';
    return buf;
}

const char *option_env(const option *o, char buf[OPTION_NAME_ROOM]) {
    if (!text_glob_any(OPTION_VARIABLES, o->name)) return NULL;
    int n = snprintf(buf, OPTION_NAME_ROOM, "FFTBLOOM_%s", o->name);
    for (int i = 9; i < n; i++)
        if (buf[i] >= 'a' && buf[i] <= 'z') buf[i] = (char)(buf[i] - 'a' + 'A');
    return buf;
}

void option_placeholder(const option *o, text *to) {
    if (o->type == OPTION_BOOL) return;
    for (int i = 0; o->words && o->words[i]; i++) text_add(to, "%s%s", i ? "|" : "", o->words[i]);
    if (o->value) text_add(to, "%s%s", o->words ? "|" : "", o->value);
}
