#include "app/cli/options.h"

#include "engine/engine.h"

const char *const SECTION_TITLE[SECTIONS] = {
    [SECTION_FILES] = "Files",        [SECTION_LIGHT] = "Light",
    [SECTION_KERNEL] = "Kernel",      [SECTION_LAYERS] = "Layers and pixels",
    [SECTION_ACCURACY] = "Accuracy",  [SECTION_DEVICE] = "Device and memory",
    [SECTION_SEQUENCE] = "Sequences", [SECTION_FARM] = "Farm",
    [SECTION_COMPARE] = "Comparison", [SECTION_SUITE] = "Suites",
    [SECTION_BENCH] = "Benchmarks",   [SECTION_MESSAGES] = "Messages",
};

const char OPTION_VARIABLES[] = "device,jobs,mem_limit,cache_dir,kernels,config";

#define N(need)    (1u << NEED_##need)
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define OF(section, kind, rank, users, member) \
    .type = OPTION_##kind, SECTION_##section, RANK_##rank, users, offsetof(settings, member)

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
    {"input", OF(FILES, STREAM, USUAL, IMAGE, input), NULL, "IN",
     "Image to bloom: EXR, HDR, PFM or PNG. A frame pattern such as shot.####.exr means a "
     "sequence.",
     "It can also be given as the first argument. - is standard input (docs/pipes.md).",
     .aside = true},
    {"kernel", OF(FILES, KERNEL, MAIN, SPREAD | FOR_BENCH, kernel), NULL, "KERNEL",
     "Point spread function: an image, a .spectrum file, the name of a shipped kernel "
     "('fftbloom kernel list'), or a mix such as 'sunstar:0.7 + mist-4:0.3'.",
     "It can also be the second argument. In a sequence a pattern, such as k.####.exr, gives each "
     "frame a kernel of its own.",
     .letter = 'k', .aside = true},
    {"output",
     OF(FILES, STREAM, MAIN, FOR_APPLY | FOR_PRECOMPUTE | FOR_KERNEL | FOR_DIFF | FOR_DEVICES,
        output),
     NULL, "OUT", "File to write; its extension decides the format.",
     "A .png file is a tone-mapped preview. A sequence needs a frame pattern here, too; in a "
     "folder the file has the name of the input; - and exr:- are standard output. The file appears "
     "complete or not at all. For devices OUT is the folder to try.",
     .letter = 'o', .aside = true},
    {"before", OF(FILES, PATH, USUAL, FOR_APPLY, before), NULL, "FILE",
     "Also write a picture of the image before it is bloomed, developed as the output, a PNG "
     "picture, too.",
     .aside = true, .needs = N(PICTURE) | N(FILES) | N(RUN)},
    {"emit_file", OF(FILES, PATH, USUAL, FOR_APPLY, emit_file), NULL, "FILE",
     "Write the glare alone into an EXR file of its own, and not into the output.",
     "Its channels have the names of the image's, with the name of --emit-layer before them if "
     "that is given. Beside a PNG picture it may be one, developed as that. A sequence needs a "
     "frame pattern here.",
     .aside = true, .needs = N(APPLY)},
    {"kernels", OF(FILES, PATH, EXPERT, IMAGE | FOR_PRECOMPUTE | FOR_KERNEL, kernels), NULL, "DIR",
     "Folder of the shipped kernels, if it is not where the program was installed; for kernel "
     "sheet the kernels to show: a folder, or names and files with commas between.",
     .aside = true},
    {"config", OF(FILES, PATH, USUAL, SPREAD, config), NULL, "FILE",
     "Read options from a JSON file; flags and environment variables override it.",
     .flag_only = true, .aside = true},
    {"report", OF(FILES, PATH, USUAL, FOR_APPLY, report), NULL, "FILE",
     "Write a JSON report on each frame: device, plan, times and notes.", .aside = true,
     .needs = N(FILES) | N(RUN) | N(WAIT)},
    {"existing", OF(FILES, ENUM, MAIN, FOR_APPLY, existing), "replace", NULL,
     "What to do where OUT exists: replace it, skip the frame (exit 5), or make what is not made "
     "already of the same input, kernel and settings (update).",
     "For update the cache folder remembers how each output was made. An output that has changed "
     "since then is made again. A result never replaces its input.",
     .words = WORDS("replace", "skip", "update"), .aside = true, .needs = N(FILES)},
    {"existing", OF(FILES, ENUM, USUAL, FOR_PRECOMPUTE | FOR_KERNEL, existing), "replace", NULL,
     "What to do where OUT exists: replace it, or leave it and exit with 5.",
     .words = WORDS("replace", "skip"), .flag_only = true},

    /* --- light --- */
    {"padding", OF(LIGHT, BORDERS, MAIN, RUN, bloom.border), "mirror", NULL,
     "How to continue the image beyond its borders: mirrored, black (zero), edge repeated (clamp), "
     "or wrapped.",
     "With mirror all light stays in the frame; with zero the light that leaves it is lost. With "
     "--window grow or display the default is zero. Give one word, or one per axis, x first: "
     "mirror,zero; in JSON also [\"mirror\",\"zero\"].",
     .words = WORDS("zero", "mirror", "clamp", "wrap"), .needs = N(BLOOM)},
    {"amount", OF(LIGHT, AMOUNT, MAIN, IMAGE, bloom.sharpen), "1", "A",
     "Strength of the bloom, as a fraction or a percentage: 1 is all of it, 0 the input unchanged.",
     "The kernel k becomes A k + (1 - A) delta, which keeps its sum.", .needs = N(AMOUNT)},
    {"sharpen", OF(LIGHT, SHARPEN, USUAL, FOR_CONFIG, bloom.sharpen), NULL, "T",
     "The share of the light that stays in its pixel: 1 minus the amount."},
    {"command", OF(LIGHT, ENUM, EXPERT, IMAGE | FOR_CASE, bloom.solve), "apply", NULL,
     "What to do: bloom the image, or take the glare of a lens away from it.",
     .words = WORDS("apply", "deglare")},
    {"clip", OF(LIGHT, FLOAT, EXPERT, IMAGE, bloom.clip), "auto", "V",
     "deglare: level from which on a pixel of the plate has lost light; auto is its largest value, "
     "if several pixels have it.",
     .words = WORDS("auto", "off"), .max = INFINITY, .needs = N(DEGLARE) | N(BLOOM)},
    {"clamp", OF(LIGHT, BOOL, EXPERT, IMAGE, bloom.clamp), "false", NULL,
     "deglare: make pixels zero that come out below zero.", .needs = N(DEGLARE) | N(BLOOM)},
    {"black", OF(LIGHT, STRING, EXPERT, IMAGE, bloom.black), NULL, "X,Y,W,H",
     "deglare: find the amount with which this region, which was black, becomes zero in the mean.",
     .needs = N(DEGLARE) | N(BLOOM)},
    {"tint", OF(LIGHT, TINT, USUAL, IMAGE, bloom.tint), "1,1,1", "R,G,B",
     "Colour of the glare: what that of red, green and blue is multiplied with.",
     "The light that stays in its pixel keeps its colour. Light is then not kept; the ledger of "
     "the report says by how much.",
     .max = 1000, .needs = N(BLOOM)},
    {"mask", OF(LIGHT, MASK, USUAL, IMAGE, bloom.mask), NULL, "LAYER|FILE",
     "Spread only the light under this mask, a channel, a layer with one channel, or an image with "
     "the same data window: all where it is 1, none where it is 0.",
     "Of an image Y counts, else A, else R, else its first channel; in a sequence it may be a "
     "pattern, such as m.####.exr. Other light stays where it is. Glare falls on all pixels. See "
     "docs/comp.md.",
     .needs = N(BLOOM)},
    {"threshold", OF(LIGHT, FLOAT, MAIN, IMAGE, bloom.threshold), "0", "V",
     "Spread only the light above V and let the rest pass unchanged; 0 turns this off. Not "
     "physical.",
     "Energy is kept, but the glare no longer has the kernel's shape; the report says so.",
     .max = INFINITY, .needs = N(APPLY) | N(BLOOM)},
    {"knee", OF(LIGHT, FLOAT, USUAL, IMAGE, bloom.knee), "0", "V",
     "Width of the soft transition around --threshold.", .max = INFINITY,
     .needs = N(APPLY) | N(THRESHOLD) | N(BLOOM)},
    {"highlights", OF(LIGHT, FLOAT, USUAL, IMAGE, highlights), "0", "STOPS",
     "Raise what is within 2 % of white in a PNG, which is cut off there, by this number of stops "
     "before the bloom; 0 turns this off. Not physical.",
     "So lamps of a photograph glow: 3 to 5 are usual. The promise is about what was made of them.",
     .max = 12, .needs = N(APPLY)},
    {"axis", OF(LIGHT, ENUM, EXPERT, RUN, bloom.order), "auto", NULL,
     "Axis to transform first; auto takes the one that costs less.",
     "Both orders keep the tolerance; results differ in their last digits.",
     .words = WORDS("auto", "x", "y"), .needs = N(BLOOM)},

    /* --- kernel --- */
    {"normalize", OF(KERNEL, ENUM, USUAL, SPREAD, bloom.kernel.normalize), "luminance", NULL,
     "How to scale the kernel so that it keeps the light: total luminance, each channel, the mean "
     "of the channels, or not at all.",
     "luminance divides all channels by the luminance of their sums, which keeps the kernel's "
     "colour; channel makes each sum 1, so white stays white.",
     .words = WORDS("luminance", "channel", "sum", "none"), .needs = N(BLOOM)},
    {"kernel_center", OF(KERNEL, CENTER, EXPERT, TAPS, bloom.kernel.center), "middle", "X,Y",
     "Centre of the kernel: the middle (half the size, rounded down), its peak, its centroid, its "
     "upper left corner, or X,Y.",
     "X,Y counts taps from the upper left one and may lie between taps.",
     .words = WORDS("middle", "peak", "centroid", "corner"), .needs = N(BLOOM)},
    {"kernel_scale", OF(KERNEL, SCALE, USUAL, TAPS, bloom.kernel.size), "1", "auto|S",
     "Size of the kernel: a factor (1 is one tap per pixel), a part of the image's height "
     "(0.5h), or auto, which follows the frame.",
     "auto is the longer side of each frame's display window over 1920, from 1/64 to 4, so that a "
     "proxy and its full frame look alike. It is the default of a shipped kernel that is given by "
     "its name, which is made at that size; a file keeps its size, and where there is no "
     "image auto is 1. A size in image heights does the same for your own kernel. Two numbers are "
     "those of x and y: 1.2,1.",
     .min = 1e-3, .max = 1000, .needs = N(BLOOM)},
    {"kernel_turn", OF(KERNEL, FLOAT, USUAL, SPREAD, bloom.kernel.turn), "0", "DEG",
     "Turn the kernel about its centre, in degrees and clockwise.",
     "Right angles only move taps. A kernel has its size before it is turned.", .min = -3600,
     .max = 3600, .needs = N(BLOOM)},
    {"pixel_aspect", OF(KERNEL, FLOAT, EXPERT, SPREAD, bloom.pixel_aspect), "auto", "A",
     "Width of the image's pixels over their height, by which the kernel is squeezed; auto takes "
     "pixelAspectRatio, off leaves the kernel as it is.",
     "The kernel's x is scaled by its own pixel aspect over the image's, so that a round glow is "
     "round when an anamorphic plate is shown. For precompute auto is 1.",
     .words = WORDS("auto", "off"), .min = 0.01, .max = 100, .needs = N(BLOOM)},
    {"correlate", OF(KERNEL, BOOL, EXPERT, SPREAD, bloom.kernel.correlate), "false", NULL,
     "Rotate the kernel by 180 degrees, as tools that correlate do.", .needs = N(BLOOM)},
    {"core", OF(KERNEL, FLOAT, USUAL, IMAGE, bloom.core), "off", "R",
     "Spread only the glare: light within R taps of the kernel's centre stays in its pixel. auto "
     "finds where the kernel begins to fall off as its tail does.",
     "A lens has softened its image already; the kernel without its core does not soften it again. "
     "apply gives back what deglare takes away with the same core (docs/deglare.md).",
     .words = WORDS("auto", "off"), .max = PSF_CORE_MOST, .needs = N(BLOOM)},
    {"spectrum", OF(KERNEL, ENUM, EXPERT, IMAGE, bloom.spectrum), "resampled", NULL,
     "How to get the kernel's spectrum at the image's size: resampled from the cached one, or "
     "exactly.",
     .words = WORDS("resampled", "exact"), .needs = N(BLOOM)},
    {"taps", OF(KERNEL, STRING, USUAL, FOR_KERNEL, taps), NULL, "N|WxH",
     "Size of the kernel to write. The default is all taps; for make auto, the smallest usual size "
     "that holds 99.9 % of the light, up to 1024.",
     .needs = N(ONE)},
    {"all", OF(KERNEL, BOOL, USUAL, FOR_KERNEL, all_kernels), "false", NULL,
     "Make every shipped kernel; OUT is a folder."},
    {"param", OF(KERNEL, LIST, USUAL, FOR_KERNEL, param), NULL, "NAME=V,...",
     "Parameters of a model, such as radius=3 ('fftbloom kernel models'), or of an action "
     "('fftbloom help kernel ACTION').",
     .needs = N(ONE)},
    {"image", OF(KERNEL, PATH, USUAL, FOR_KERNEL, image), NULL, "FILE",
     "Opening for the model aperture: light passes where this image is white.", .needs = N(ONE)},
    {"plate", OF(KERNEL, PATH, USUAL, FOR_KERNEL, plate), NULL, "FILE",
     "Take f-number, lens, sensor and width from the header of this image.", .needs = N(ONE)},
    {"fade", OF(KERNEL, FLOAT, USUAL, FOR_KERNEL, fade), "0.6", "F",
     "Fade out a kernel from this fraction of the way to its border; 1 is off. make fades by "
     "default, other actions only with --fade.",
     .max = 1, .needs = N(ONE)},
    {"force", OF(KERNEL, BOOL, USUAL, FOR_KERNEL, force), "false", NULL,
     "Write the kernel also where clean cuts more than half of the light."},
    {"strict", OF(KERNEL, BOOL, USUAL, FOR_KERNEL, strict), "false", NULL,
     "Exit with 1 if check finds something to warn of."},

    /* --- layers and pixels --- */
    {"layers", OF(LAYERS, LIST, MAIN, IMAGE | FOR_INFO, bloom.layers), NULL, "GLOBS",
     "Layers to bloom, as globs over layer and channel names; the default is all colour layers. "
     "The unnamed layer is 'rgba'.",
     "What matches is treated as colour whatever its name is, except uint channels. A glob that "
     "matches nothing is an error."},
    {"exclude", OF(LAYERS, LIST, USUAL, IMAGE | FOR_INFO, bloom.exclude), NULL, "GLOBS",
     "Layers to leave unchanged, as globs; this overrides --layers."},
    {"alpha", OF(LAYERS, ENUM, USUAL, IMAGE, bloom.alpha), "keep", NULL,
     "Leave alpha unchanged, or convolve it like the colour.", .words = WORDS("keep", "convolve"),
     .needs = N(BLOOM)},
    {"window", OF(LAYERS, ENUM, USUAL, IMAGE, bloom.window), "keep", NULL,
     "Data window of the output: the input's (keep), enlarged by the kernel's reach (grow), or the "
     "display window.",
     .words = WORDS("keep", "grow", "display"), .needs = N(APPLY)},
    {"nan", OF(LAYERS, ENUM, USUAL, IMAGE, bloom.nan), "error", NULL,
     "How to treat NaN and infinite pixels: refuse the frame (exit 6), or replace them by zero or "
     "by their finite neighbours.",
     .words = WORDS("error", "zero", "interpolate"), .needs = N(BLOOM)},
    {"half_overflow", OF(LAYERS, ENUM, EXPERT, IMAGE, bloom.half_overflow), "clamp", NULL,
     "How to treat results above 65504 in a half-float file: clamp them, write float, or refuse "
     "the frame.",
     .words = WORDS("clamp", "float", "error"), .needs = N(HALF)},
    {"emit_layer", OF(LAYERS, STRING, USUAL, IMAGE, bloom.emit_layer), NULL, "NAME",
     "Also write the glare alone, as an EXR layer of this name.", .needs = N(APPLY) | N(EXR)},
    {"emit", OF(LAYERS, ENUM, USUAL, FOR_APPLY, bloom.emit), "glare", NULL,
     "What --emit-layer and --emit-file write: all light that left its pixel (glare), the output "
     "minus the input (additive), or the light that spreads, after mask and threshold (source).",
     "docs/comp.md has the formulas.", .words = WORDS("glare", "additive", "source"),
     .needs = N(APPLY) | N(EMIT)},
    {"per_layer", OF(LAYERS, LAYERS, USUAL, IMAGE, bloom.per_layer), NULL, "LAYER:NAME=V,...",
     "Settings of single layers: amount, sharpen, threshold, knee or mask, such as rim:amount=0.2.",
     "LAYER is a glob, and the unnamed layer is rgba; later settings win. In a config file this "
     "can also be an object: {\"rim\": {\"amount\": 0.2}}."},
    {"stamp", OF(LAYERS, BOOL, USUAL, FOR_APPLY, stamp), "false", NULL,
     "Write into the EXR file how it was made: version, input, kernel and settings.",
     "A note is given if an image with such attributes is bloomed again.", .needs = N(EXR)},
    {"compression", OF(LAYERS, ENUM, USUAL, FOR_APPLY, packing), "keep", NULL,
     "Compression of EXR output; keep uses the input's where that changes no pixel, and else zip.",
     "pxr24, b44, b44a, dwaa and dwab may change pixels; where they do, the report promises "
     "nothing "
     "for these. docs/images.md has a table.",
     .words =
         WORDS("keep", "none", "rle", "zips", "zip", "piz", "pxr24", "b44", "b44a", "dwaa", "dwab"),
     .needs = N(EXR)},
    {"exposure", OF(LAYERS, FLOAT, MAIN, FOR_APPLY | FOR_KERNEL, exposure), "auto", "STOPS",
     "Exposure of a PNG picture: a gain in stops, or auto for one that suits the picture.",
     "At 0 a grey of 0.18 is shown as 0.18. Give pictures that are to be compared the same number. "
     "docs/images.md says what auto does.",
     .words = WORDS("auto"), .min = -40, .max = 40, .needs = N(PICTURE)},
    {"view", OF(LAYERS, STRING, USUAL, FOR_APPLY, view), "auto", "NAME",
     "How a PNG picture shows the light: auto (film; srgb if the input is PNG, too), film "
     "(highlights bend down), srgb (cut off above 1), or ocio:DISPLAY/VIEW of the OpenColorIO "
     "config in $OCIO.",
     "ocio alone is the config's default, ocio:VIEW a view of the default display. See "
     "docs/colour.md.",
     .needs = N(PICTURE)},
    {"input_space", OF(LAYERS, SPACE, USUAL, IMAGE, input_space), NULL, "SPACE",
     "Colour space of the image, such as srgb, logc3 or acescg, which is decoded to linear light. "
     "The default is what the file says, or linear Rec.709.",
     "Without it, a file that says that a curve codes its colours is refused. The output is linear "
     "and says so; see --output-space. docs/colour.md lists the spaces."},
    {"output_space", OF(LAYERS, SPACE, USUAL, FOR_APPLY, output_space), NULL, "SPACE",
     "Colour space of the output; the default is linear in the primaries of the image, and input "
     "is that of --input-space.",
     "Colours are converted to the primaries of the space; white stays white.",
     .words = WORDS("input"), .needs = N(LIGHT)},
    {"pixel_type", OF(LAYERS, ENUM, USUAL, FOR_APPLY | FOR_BENCH, pixels), "keep", NULL,
     "Pixel type of what is bloomed; data layers keep theirs.",
     .words = WORDS("keep", "half", "float")},

    /* --- accuracy --- */
    {"precision", OF(ACCURACY, ENUM, EXPERT, RUN, bloom.precision), "auto", NULL,
     "Arithmetic of the transforms; auto takes the cheapest that meets the tolerance.",
     .words = WORDS("auto", "float32", "float64"), .needs = N(BLOOM)},
    {"tolerance", OF(ACCURACY, FLOAT, EXPERT, IMAGE, bloom.tolerance), "1e-3", "E",
     "Allowed relative error of pixels above 1e-4 of their channel's median; darker ones may be "
     "off by as much as a pixel of that size.",
     "docs/inside/math.md, \"What is dark\", has the exact rule for noise below zero and for "
     "halfs.",
     .min = 1e-12, .max = 1, .needs = N(BLOOM)},
    {"verify", OF(ACCURACY, INT, EXPERT, FOR_APPLY | FOR_CASE | FOR_DEVICES, bloom.verify), "0",
     "N",
     "Recompute N random pixels and the N worst ones in double precision; exit with 7 and without "
     "an output if the tolerance is not met.",
     .max = 1e6, .needs = N(BLOOM) | N(RUN)},

    /* --- device and memory --- */
    {"device", OF(DEVICE, STRING, MAIN, RUN | FOR_CHECK, bloom.device), "auto", "DEVICE",
     "Device to use: a class, or a device's index, uuid or part of its name. Several with commas, "
     "gpus or all share the frames of a sequence.",
     .words = WORDS("auto", "cpu", "gpu", "software", "gpus", "all"), .aside = true,
     .needs = N(CASES)},
    {"jobs",
     OF(DEVICE, INT, USUAL, RUN | FOR_PRECOMPUTE | FOR_CHECK | FOR_DIFF | FOR_KERNEL | FOR_DEVICES,
        jobs),
     "0", "N", "Number of host threads; 0 uses all that are available.", .max = 1024,
     .aside = true},
    {"mem_limit",
     OF(DEVICE, SIZE, USUAL, SPREAD | FOR_BENCH | FOR_KERNEL | FOR_DIFF | FOR_CHECK | FOR_INFO,
        bloom.mem_limit),
     "0", "SIZE",
     "Maximum host memory, such as 8GB; an image that needs more is made in tiles. 0 allows 80 % "
     "of the memory that is available, container limits included.",
     .min = 1e6, .aside = true},
    {"vram_limit", OF(DEVICE, SIZE, EXPERT, RUN, bloom.vram_limit), "0", "SIZE",
     "Maximum device memory, such as 2GB; 0 allows all of it.", .min = 1e6, .aside = true},
    {"cache_dir",
     OF(DEVICE, PATH, USUAL, SPREAD | FOR_BENCH | FOR_CHECK | FOR_CACHE | FOR_DEVICES,
        bloom.cache_dir),
     NULL, "DIR", "Folder of the spectrum cache [$XDG_CACHE_HOME/fftbloom or ~/.cache/fftbloom].",
     .aside = true},
    {"cache_size",
     OF(DEVICE, SIZE, EXPERT, IMAGE | FOR_PRECOMPUTE | FOR_CHECK | FOR_CACHE, bloom.cache_size),
     "2GB", "SIZE", "Maximum size of the spectrum cache; 0 turns it off.", .aside = true},
    {"sandbox",
     OF(DEVICE, SANDBOX, EXPERT,
        IMAGE | FOR_PRECOMPUTE | FOR_KERNEL | FOR_DIFF | FOR_INFO | FOR_CHECK, sandbox),
     "auto", NULL,
     "auto gives up rights that the run does not need where no GPU is opened; on insists, and "
     "opens GPUs first; off keeps them (docs/security.md).",
     "A config file cannot say off.", .words = WORDS("auto", "on", "off"), .aside = true},

    /* --- bench --- */
    {"size", OF(BENCH, STRING, USUAL, FOR_BENCH, size), "1920x1080", "WxH",
     "Size of the frame to time, or several sizes separated by commas."},
    {"scene", OF(BENCH, ENUM, USUAL, FOR_BENCH, scene), "ordinary", NULL,
     "What the frame is like: light everywhere, black areas and lights beyond halfs, values of "
     "both signs, a mask, or a tile whose middle counts.",
     .words = WORDS("ordinary", "black", "signed", "masked", "margins")},
    {"rounds", OF(BENCH, INT, USUAL, FOR_BENCH, rounds), "21", "N",
     "Number of measurements; the median, minimum and quartiles are reported.", .min = 1,
     .max = 1000},
    {"queue", OF(BENCH, INT, USUAL, FOR_BENCH, queue), "1", "N",
     "Frames per round: 1 is timed with its transfers, more run back to back on the device.",
     .min = 1, .max = 1000},
    {"in_flight", OF(BENCH, INT, USUAL, FOR_BENCH, in_flight), "1", "N",
     "Frames in progress at the same time, with --queue 1.", .min = 1, .max = ENGINE_SLOTS},
    {"warm_up", OF(BENCH, FLOAT, USUAL, FOR_BENCH, warm_up), "0.1", "S",
     "Warm-up in seconds before the first round (at least one frame).", .max = 60},

    /* --- sequences --- */
    {"frames", OF(SEQUENCE, STRING, MAIN, FOR_APPLY, frames), NULL, "RANGES",
     "Frames of the sequence, such as 1001-1100,1200-1300x2; the default is all that are found.",
     .aside = true},
    {"views", OF(SEQUENCE, LIST, USUAL, IMAGE, views), "left,right", "NAMES",
     "Names of the views for %V (the name) and %v (its first letter) in IN, KERNEL and OUT.",
     "Each view is an image of its own; each frame is made once for each view.", .aside = true},
    {"keep_going", OF(SEQUENCE, BOOL, USUAL, FOR_APPLY, keep_going), "false", NULL,
     "Continue after a frame that fails or whose input is missing, and exit with the status of the "
     "worst failure; with 5 if only inputs were missing.",
     "Each failure is told when it happens, and a closing line counts them. A kernel that cannot "
     "be used stops the run.",
     .aside = true, .needs = N(FILES) | N(SEQUENCE)},

    /* --- farm --- */
    {"to", OF(FARM, ENUM, USUAL, FOR_FARM, farm), "slurm", NULL,
     "Submit the frames to Slurm, or print a job template for a scheduler that reads OpenJD.",
     "docs/farm.md says how Deadline and others run fftbloom.", .words = WORDS("slurm", "openjd"),
     .flag_only = true},
    {"dry_run", OF(FARM, BOOL, USUAL, FOR_FARM, dry_run), "false", NULL,
     "Print the script of the Slurm job, and write and submit nothing.", .flag_only = true,
     .needs = N(SLURM)},
    {"wait", OF(FARM, BOOL, USUAL, FOR_FARM, wait), "false", NULL,
     "Wait until the Slurm job is done, gather its reports, and exit with its status.",
     .flag_only = true, .needs = N(SLURM)},
    {"chunk", OF(FARM, INT, USUAL, FOR_FARM, chunk), "10", "N",
     "Frames per task; 0 is the default.", .max = 1e6, .flag_only = true},
    {"args", OF(FARM, STRING, USUAL, FOR_FARM, farm_args), NULL, "ARGS",
     "More arguments for sbatch, such as \"-p gpu --gres=gpu:1 --mem=16G\".", .flag_only = true,
     .needs = N(SLURM)},
    {"dir", OF(FARM, PATH, USUAL, FOR_FARM, farm_dir), NULL, "DIR",
     "Folder for the job's script, logs and reports. The default is fftbloom-farm/NAME-HASH, one "
     "for each output.",
     .flag_only = true, .needs = N(SLURM)},

    /* --- comparison --- */
    {"fail", OF(COMPARE, FLOAT, USUAL, LIMIT, compare.fail), "1e-6", "V",
     "A pixel fails if a channel differs by more than V.", .max = INFINITY},
    {"failrelative", OF(COMPARE, FLOAT, USUAL, LIMIT, compare.fail_relative), "0", "V",
     "A pixel fails only if it also differs by more than this fraction of its value.",
     .max = INFINITY},
    {"failpercent", OF(COMPARE, FLOAT, USUAL, LIMIT, compare.fail_percent), "0", "P",
     "Percentage of pixels that may fail.", .max = 100},
    {"hardfail", OF(COMPARE, FLOAT, USUAL, LIMIT, compare.hard_fail), "inf", "V",
     "Fail if any pixel differs by more than V, whatever the other limits allow.",
     "idiff 2.4 counts it only when more pixels than allowfailures exceed fail.", .max = INFINITY},
    {"allowfailures", OF(COMPARE, INT, USUAL, LIMIT, compare.allow_failures), "0", "N",
     "Number of pixels that may exceed each limit by any amount.", .max = 4294967295.0},
    {"warn", OF(COMPARE, FLOAT, USUAL, LIMIT, compare.warn), "1e-6", "V",
     "A pixel warns if a channel differs by more than V.",
     "If none of warn, warnrelative and warnpercent is given, pixels warn only when some fail "
     "within failpercent. If one is given, warnings do not depend on failures.",
     .max = INFINITY},
    {"warnrelative", OF(COMPARE, FLOAT, USUAL, LIMIT, compare.warn_relative), "0", "V",
     "A pixel warns only if it also differs by more than this fraction of its value.",
     .max = INFINITY},
    {"warnpercent", OF(COMPARE, FLOAT, USUAL, LIMIT, compare.warn_percent), "0", "P",
     "Percentage of pixels that may warn.", .max = 100},
    {"hardwarn", OF(COMPARE, FLOAT, USUAL, LIMIT, compare.hard_warn), "inf", "V",
     "Warn if any pixel differs by more than V, whatever the other limits allow.", .max = INFINITY},
    {"all", OF(COMPARE, BOOL, USUAL, FOR_DIFF, all_parts), "false", NULL,
     "Compare all parts instead of the first one.", .letter = 'a'},
    {"od", OF(COMPARE, BOOL, USUAL, FOR_DIFF, diff_only), "false", NULL,
     "Write the difference image only if there is a difference.", .needs = N(OUTPUT)},
    {"abs", OF(COMPARE, BOOL, USUAL, FOR_DIFF, diff_absolute), "false", NULL,
     "Write absolute instead of signed differences into the difference image.", .needs = N(OUTPUT)},
    {"scale", OF(COMPARE, FLOAT, USUAL, FOR_DIFF, diff_scale), "1", "F",
     "Multiply the difference image by F.", .max = 1e30, .needs = N(OUTPUT)},

    /* --- messages --- */
    {"quiet", OF(MESSAGES, BOOL, USUAL, LOUD, quiet), "false", NULL, "Print only errors.",
     .letter = 'q', .aside = true},
    {"verbose", OF(MESSAGES, BOOL, USUAL, LOUD, verbose), "false", NULL,
     "Print what is done, and why.", .letter = 'v', .aside = true, .needs = N(LOUD)},
    {"json", OF(MESSAGES, BOOL, USUAL, (LOUD | FOR_VERSION) & ~FOR_CHECK, json), "false", NULL,
     "Print the result as JSON on standard output.", .aside = true, .needs = N(FILES) | N(WAIT)},
    {"progress", OF(MESSAGES, PROGRESS, USUAL, FOR_APPLY | FOR_CHECK, progress), "auto", NULL,
     "How to report progress: a bar on a terminal or else a line every few seconds (auto), the "
     "lines that a farm's scheduler reads, JSON lines, or not at all.",
     "json:3 writes the lines to file descriptor 3, which the caller opens: 3>progress.jsonl",
     .words = WORDS("auto", "deadline", "openjd", "json", "none"), .aside = true,
     .needs = N(RUN) | N(WAIT) | N(CASES)},
    {"print_config", OF(MESSAGES, BOOL, USUAL, FOR_PLAN | FOR_PRECOMPUTE, print_config), "false",
     NULL, "Print the value and the origin of each option, and exit.", .flag_only = true},

    /* --- suites --- */
    {"filter", OF(SUITE, LIST, USUAL, FOR_CHECK, filter), NULL, "GLOBS",
     "Run only the cases whose names match these globs."},
    {"list", OF(SUITE, BOOL, USUAL, FOR_CHECK, list), "false", NULL,
     "Print the names of the cases, and run none."},
    {"stop", OF(SUITE, BOOL, USUAL, FOR_CHECK, stop), "false", NULL,
     "Stop at the first case that fails; the others are skipped.", .needs = N(CASES)},
    {"keep_going", OF(SUITE, BOOL, USUAL, FOR_CHECK, keep_going), "false", NULL,
     "Run all cases, which is the default.", .flag_only = true},
    {"bless", OF(SUITE, BOOL, USUAL, FOR_CHECK, bless), "false", NULL,
     "Write the references that are missing or differ, with their provenance.",
     "References are EXR files with attributes that say which program, device, settings and inputs "
     "made them. Those that match stay as they are. A result that fails the case's energy or "
     "verify assertion is not written.",
     .flag_only = true, .needs = N(CASES)},
    {"set", OF(SUITE, LIST, USUAL, FOR_CHECK, set), NULL, "NAME=VALUE",
     "Variables of the suite, separated by commas; these override the suite's own."},
    {"require_device", OF(SUITE, STRING, USUAL, FOR_CHECK, require_device), NULL, "DEVICE",
     "Exit with 69 if the machine has no such device, or no case ran on it.",
     .words = WORDS("cpu", "gpu", "software"), .needs = N(CASES)},
    {"require_cases", OF(SUITE, INT, USUAL, FOR_CHECK, require_cases), "0", "N",
     "Fail if fewer than N cases passed; skipped cases do not count.", .max = 1e6,
     .needs = N(CASES)},
    {"junit", OF(SUITE, STREAM, USUAL, FOR_CHECK, junit), NULL, "FILE",
     "Write the results as JUnit XML; - is standard output.", .needs = N(CASES)},
    {"json", OF(SUITE, STREAM, USUAL, FOR_CHECK, json_file), NULL, "FILE",
     "Write the results as JSON; - is standard output.", .flag_only = true, .needs = N(CASES)},
    {"html", OF(SUITE, STREAM, USUAL, FOR_CHECK, html), NULL, "FILE",
     "Write the results as one page with pictures that needs only a browser.", .needs = N(CASES)},
};
const int OPTION_COUNT = (int)(sizeof OPTIONS / sizeof OPTIONS[0]);
_Static_assert(sizeof OPTIONS / sizeof OPTIONS[0] <= SETTINGS_ROOM, "raise SETTINGS_ROOM");

/* --- look-up ------------------------------------------------------------------------------- */

static bool same_name(const char *a, const char *b) {
    for (; *a && *b; a++, b++)
        if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b))) return false;
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

const char *option_plain(const char *name, char buf[OPTION_NAME_ROOM]) {
    snprintf(buf, OPTION_NAME_ROOM, "%s", name);
    for (char *p = buf; *p; p++)
        if (*p == '-') *p = '_';
    return buf;
}

const char *option_nearest(const char *name, uint32_t users) {
    const char *names[SETTINGS_ROOM];
    char plain[OPTION_NAME_ROOM];
    int n = 0;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (is_taken_by(&OPTIONS[i], users)) names[n++] = OPTIONS[i].name;
    int best = text_nearest(option_plain(name, plain), names, n);
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

/* Two rows may be of one value, as those of amount and sharpen; the first one keeps its origin. */
int option_place(const option *o) {
    int i = 0;
    while (OPTIONS[i].at != o->at) i++;
    return i;
}

void option_origin(const settings *s, const option *o, text *to) {
    static const char *const WORD[] = {"default", "", "environment ", "flag "}; /* of origin_kind */
    const setting *v = settings_of(s, o);
    const char *where = v->where ? v->where : "";
    text_add(to, "%s%s", v->origin == ORIGIN_FLAG && *where != '-' ? "" : WORD[v->origin], where);
}
