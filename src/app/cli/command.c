#include "app/cli/command.h"

#include "app/cli/options.h"
#include "base/text.h"

#include <string.h>

const command COMMANDS[] = {
    {
        .name = "apply",
        .bit = FOR_APPLY,
        .usage = "IN KERNEL -o OUT [options]",
        .summary = "Bloom an image or a sequence; meant where no command is given.",
        .about =
            "Without options the light is convolved with the normalised kernel in linear float, "
            "darkness outside the image; data layers, metadata and windows stay as they are, and "
            "the output has the input's pixel type and compression.\n\n"
            "A frame pattern (####, %04d or $F4) in IN and OUT makes a sequence: one # is four "
            "digits, a run of n is n digits. Without --frames the folder of IN is searched.",
        .max_words = 2,
        .stands_for = {"input", "kernel"},
        .needs = {"input", "kernel", "output"},
        .example = {{"Bloom one image.", "fftbloom in.exr star.exr -o out.exr"},
                    {"A sequence, on the second device, skipping what is done.",
                     "fftbloom in.####.exr star.exr -o out.####.exr --device 1 --update"},
                    {"Half the glare, the image mirrored at its border.",
                     "fftbloom in.exr star.exr -o out.exr --sharpen 0.5 --padding mirror"},
                    {"All options from a file.", "fftbloom --config look.json"},
                    {"On a Slurm farm; again, for what is missing.",
                     "fftbloom in.####.exr star.exr -o out.####.exr --farm slurm --wait"}},
        .run = cmd_apply,
    },
    {
        .name = "precompute",
        .bit = FOR_PRECOMPUTE,
        .usage = "KERNEL -o K.spectrum [options]",
        .summary = "Make a kernel's spectrum: a portable file to use in its place.",
        .about = "The spectrum serves images of any size. It also goes into the cache, so that the "
                 "first run with the kernel finds it there.",
        .max_words = 1,
        .stands_for = {"kernel"},
        .needs = {"kernel", "output"},
        .example = {{"Once, before a job on many machines.",
                     "fftbloom precompute star.exr -o star.spectrum"},
                    {"Then anywhere.", "fftbloom in.exr star.spectrum -o out.exr"}},
        .run = cmd_precompute,
    },
    {
        .name = "kernel",
        .bit = FOR_KERNEL,
        .usage = "make MODEL -o OUT | check FILE | convert FILE -o OUT | models",
        .summary = "Make kernels by formula, check them, and convert them between tools.",
        .about =
            "make writes a point spread function of a model (models lists them, with their "
            "parameters): its centre is the tap at half the size, each channel sums to 1, and in "
            "an EXR file the parameters are attributes.\n\n"
            "check tells what a kernel will do that its owner may not expect: a centre that is "
            "not in the middle, a tail that the border cuts off, a background, noise, negative "
            "taps; and which options help. With --strict a warning makes the exit status 1.\n\n"
            "convert turns and moves taps from one tool's convention to another's and changes no "
            "value, unless --normalize is given; --kernel-center says where the centre is where "
            "the convention does not.",
        .min_words = 1,
        .max_words = 2,
        .word_choices = "make check convert models",
        .word_name = "kernel action",
        .example = {{"Six spikes in colour.",
                     "fftbloom kernel make star --param blades=6,turn=15 --taps 512 -o star.exr"},
                    {"Is it fit for use?", "fftbloom kernel check star.exr --strict"},
                    {"For oiiotool, which correlates.",
                     "fftbloom kernel convert star.exr --to oiio -o star_oiio.exr"}},
        .run = cmd_kernel,
    },
    {
        .name = "diff",
        .bit = FOR_DIFF,
        .usage = "A B [options]",
        .summary = "Compare two images, in idiff's words and exit codes.",
        .about =
            "Options, defaults, words and exit codes are those of OpenImageIO's idiff 2.4, and "
            "options may be written with one dash, as there. The report adds the ratio of the "
            "energies of B and A for each channel. These things differ from idiff: channels are "
            "matched by name; images of another size, window or set of channels exit with 3 and "
            "are not compared; a NaN or infinite value on one side only is a failure; integer "
            "channels, such as ids, are compared as they are and not scaled to 0..1; hardfail, and "
            "the limits of warnings that are given, count even if no pixel is over fail. There is "
            "no perceptual comparison.",
        .min_words = 2,
        .max_words = 2,
        .example = {{"Up to a thousandth, one pixel in ten thousand excepted.",
                     "fftbloom diff -fail 0.001 -failpercent 0.01 out.exr reference.exr"},
                    {"See where.",
                     "fftbloom diff out.exr reference.exr -abs -scale 100 -o diff.exr"}},
        .run = cmd_diff,
    },
    {
        .name = "check",
        .bit = FOR_CHECK,
        .usage = "SUITE.json [options]",
        .summary = "Run a regression suite: images bloomed and held against references.",
        .about =
            "A suite is JSON: cases, each with a config as for apply, reference images, thresholds "
            "as for diff, and assertions on energy and accuracy; docs/suites.md describes it. The "
            "exit status is the worst of all cases, as diff has it; a suite that is wrong exits "
            "with 78 before anything runs. The run stops at the first case that fails, unless "
            "--keep-going is given. A case is skipped where its device or a reference for its "
            "class of device is not there.\n\n"
            "Options on devices and memory win over those of the cases.",
        .min_words = 1,
        .max_words = 1,
        .example = {{"Run all cases on the CPU.",
                     "fftbloom check suite.json --device cpu --keep-going"},
                    {"Make the references, or make them anew after a change that was meant.",
                     "fftbloom check suite.json --bless"},
                    {"A page to look at, and results for the build server.",
                     "fftbloom check suite.json --html report.html --junit report.xml"},
                    {"On a machine that must have a GPU.",
                     "fftbloom check suite.json --require-device gpu --require-cases 12"}},
        .run = cmd_check,
    },
    {
        .name = "plan",
        .bit = FOR_PLAN,
        .usage = "IN KERNEL [options]",
        .summary = "Show what a run would do, and at what cost; no device work.",
        .about =
            "Lengths, radices, axis order, device, memory and passes of the first colour layer, "
            "with the lengths of the article's method, powers of two, beside them.",
        .max_words = 2,
        .stands_for = {"input", "kernel"},
        .needs = {"input", "kernel"},
        .example = {{"For people.", "fftbloom plan in.exr star.exr"},
                    {"For scripts.", "fftbloom plan in.exr star.exr --json"}},
        .run = cmd_plan,
    },
    {
        .name = "cache",
        .bit = FOR_CACHE,
        .usage = "path|list|verify|trim [options]",
        .summary = "Show, check or trim the kernel spectra that are kept between runs.",
        .about =
            "path prints the folder. list prints when each spectrum was last used, its size and "
            "its name. verify reads all of them and exits with 65 when one is broken. trim "
            "removes those that were used longest ago until --cache-size bytes are left; every "
            "run that adds one does the same. It also keeps at most 100000 of the stamps by which "
            "--update knows finished frames, and none with --cache-size 0. Other things in the "
            "cache folder are not touched.",
        .min_words = 1,
        .max_words = 1,
        .word_choices = "path list verify trim",
        .word_name = "cache action",
        .example = {{"Where it is.", "fftbloom cache path"},
                    {"Empty it.", "fftbloom cache trim --cache-size 0"}},
        .run = cmd_cache,
    },
    {
        .name = "bench",
        .bit = FOR_BENCH,
        .usage = "[--size WxH] [--kernel N] [--queue N] [--device DEVICE] [--calibrate]",
        .summary = "Time the passes on a device, or measure the devices.",
        .about =
            "Frames of noise go through the engine, nothing is read or written. Told are median, "
            "least and quartiles of --rounds rounds, of each pass and of the frame; the bytes that "
            "a pass reads and writes, and its speed as a share of that of copies that move as many "
            "bytes on the same device in the same run. --queue 1 times single frames with their "
            "transfers, as the host sees them; --queue 50 times 50 frames back to back with the "
            "data on the device, by the device's clock.\n\n"
            "--kernel is a file, or the size of a kernel that is made up, or several sizes with "
            "commas; default: 256. --axis, --precision, --spectrum and --padding are as in a run. "
            "--device all times every device.\n\n"
            "With --calibrate the devices are measured, all or those of --device, and the "
            "result is kept in the cache folder: --device auto takes the device with the least "
            "predicted time from file to file.",
        .example = {{"The device that a long sequence would run on.", "fftbloom bench"},
                    {"The passes themselves, for several sizes.",
                     "fftbloom bench --device gpu --size 1920x1080,3840x2160 --kernel 256,512 "
                     "--queue 50"},
                    {"The CPU, as JSON.",
                     "fftbloom bench --device cpu --size 3840x2160 --kernel 512 --json"},
                    {"Once per machine.", "fftbloom bench --calibrate"}},
        .run = cmd_bench,
    },
    {
        .name = "info",
        .bit = FOR_INFO,
        .usage = "FILE [--json]",
        .summary = "Show what an image file holds, and what of it would be bloomed.",
        .about = "Parts, windows, how pixels are stored, attributes, and which channels are "
                 "colour, the alpha that goes with it, or data; --layers and --exclude change the "
                 "last as they do in a run. No pixel is read.",
        .min_words = 1,
        .max_words = 1,
        .example = {{"What is in it.", "fftbloom info beauty.exr"},
                    {"The names of all data channels.",
                     "fftbloom info beauty.exr --json | jq -r "
                     "'.parts[].channels[] | select(.role == \"data\").name'"}},
        .run = cmd_info,
    },
    {
        .name = "devices",
        .bit = FOR_DEVICES,
        .usage = "[--json]",
        .summary = "List the devices of this machine, the preferred ones first.",
        .about = "--device takes the index, the uuid, a part of the name, or a class: gpu, cpu, "
                 "software (Vulkan on the CPU, for tests).",
        .example = {{"What there is.", "fftbloom devices"}},
        .run = cmd_devices,
    },
    {
        .name = "schema",
        .bit = FOR_SCHEMA,
        .usage = "[config|suite]",
        .summary = "Print the JSON Schema of config files or of suites.",
        .about = "Draft 2020-12. Editors that know JSON Schema complete and check files with it: "
                 "put \"$schema\": \"fftbloom.schema.json\" into them.",
        .max_words = 1,
        .word_choices = "config suite",
        .word_name = "schema",
        .example = {{"Keep it beside the config files.", "fftbloom schema > fftbloom.schema.json"},
                    {"The same for suites.", "fftbloom schema suite > suite.schema.json"}},
        .run = cmd_schema,
    },
    {
        .name = "completion",
        .bit = FOR_COMPLETION,
        .usage = "bash|zsh|fish",
        .summary = "Print the completions of a shell.",
        .min_words = 1,
        .max_words = 1,
        .word_choices = "bash zsh fish",
        .word_name = "shell",
        .example = {{"For this bash.", "source <(fftbloom completion bash)"},
                    {"For fish, for good.",
                     "fftbloom completion fish > ~/.config/fish/completions/fftbloom.fish"}},
        .run = cmd_completion,
    },
    {
        .name = "docs",
        .bit = FOR_DOCS,
        .usage = "config | commands | man [COMMAND]",
        .summary = "Print the reference of options, the names of the commands, or a manual page.",
        .min_words = 1,
        .max_words = 2,
        .word_choices = "config commands man",
        .word_name = "page",
        .example = {{"Read the manual page of a command.", "fftbloom docs man apply | man -l -"}},
        .run = cmd_docs,
    },
    {
        .name = "help",
        .bit = FOR_HELP,
        .usage = "[COMMAND]",
        .summary = "Show the help of the program or of a command.",
        .max_words = 1,
        .word_choices = "*", /* the names of the commands */
        .word_name = "command",
        .run = cmd_help,
    },
    {
        .name = "version",
        .bit = FOR_VERSION,
        .usage = "[--json]",
        .summary = "Show the version and the libraries that are compiled in.",
        .about = "fftbloom --version and fftbloom -V are the same.",
        .example = {{"For scripts.", "fftbloom version --json"}},
        .run = cmd_version,
    },
};
const int COMMAND_COUNT = (int)(sizeof COMMANDS / sizeof COMMANDS[0]);

const exit_code EXIT_CODES[] = {
    {0, "Done; diff and check: match."},
    {1, "diff and check: some pixels differ enough to warn; kernel check --strict: warnings."},
    {2, "diff and check: the images differ."},
    {3, "diff and check: the images are not of the same size or channels."},
    {4, "diff and check: a file could not be read."},
    {5, "Some frames were skipped, as asked; check: all cases were skipped."},
    {6, "NaN or infinite pixels in the input, and --nan is error."},
    {7, "--verify found the tolerance broken."},
    {64, "The command line is wrong."},
    {65, "The content of a file is wrong."},
    {66, "An input is not there or cannot be opened."},
    {69, "No device can do the work."},
    {70, "A bug in this program."},
    {73, "The output cannot be created."},
    {74, "Reading or writing failed half way."},
    {75, "Worth trying again: device lost, out of memory, disk full."},
    {78, "A config file or a variable is wrong."},
    {130, "Interrupted (SIGINT); the frame at hand is dropped, no partial file stays."},
    {143, "Terminated (SIGTERM); likewise."},
};
const int EXIT_CODE_COUNT = (int)(sizeof EXIT_CODES / sizeof EXIT_CODES[0]);

const command *command_find(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(COMMANDS[i].name, name) == 0) return &COMMANDS[i];
    return NULL;
}

const char *command_nearest(const char *name) {
    const char *names[sizeof COMMANDS / sizeof COMMANDS[0]];
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = COMMANDS[i].name;
    int best = text_nearest(name, names, COMMAND_COUNT);
    return best < 0 ? NULL : names[best];
}

void command_choices(const command *c, const char *between, text *to) {
    const char *words = c->word_choices;
    if (words && *words == '*')
        for (int i = 0; i < COMMAND_COUNT; i++)
            text_add(to, "%s%s", i ? between : "", COMMANDS[i].name);
    else
        for (; words && *words; words += strcspn(words, " "), words += *words == ' ')
            text_add(to, "%s%.*s", words == c->word_choices ? "" : between,
                     (int)strcspn(words, " "), words);
}

/* What the cache of other programs is asked for. */
static bool means_to_empty(const char *word) {
    static const char *const WORD[] = {"clear", "clean", "empty", "purge", "prune", "delete", "rm"};
    for (size_t i = 0; i < sizeof WORD / sizeof WORD[0]; i++)
        if (strcmp(WORD[i], word) == 0) return true;
    return false;
}

bool command_check_choice(const command *c, const char *word, err *e) {
    enum { MOST = 32 };
    const char *choice[MOST];
    char *at;
    text all = {0};
    int n = 0;
    if (!c->word_choices) return true;
    command_choices(c, " ", &all);
    for (char *p = strtok_r(all.s, " ", &at); p && n < MOST; p = strtok_r(NULL, " ", &at))
        choice[n++] = p;
    bool ok = false;
    for (int i = 0; i < n; i++) ok |= strcmp(choice[i], word) == 0;
    int near = text_nearest(word, choice, n);
    const char *meant = c->bit == FOR_CACHE && means_to_empty(word) ? "trim --cache-size 0"
                        : near >= 0                                 ? choice[near]
                                                                    : NULL;
    if (!ok && meant) {
        err_set(e, ERR_USAGE, "unknown %s '%s'; did you mean '%s'?", c->word_name, word, meant);
    } else if (!ok) {
        text list = {0};
        command_choices(c, ", ", &list);
        err_set(e, ERR_USAGE, "unknown %s '%s'; there are %s", c->word_name, word, list.s);
        text_free(&list);
    }
    text_free(&all);
    return ok;
}
