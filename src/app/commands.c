#include "app/commands.h"

#include "app/check/diff.h"
#include "app/check/suite_run.h"
#include "app/cli/options.h"
#include "app/kernel/kernel_actions.h"
#include "app/tools/tools.h"

static const command ROW[] = {
    {"apply", FOR_APPLY, cmd_apply, 0, 2, "IN KERNEL -o OUT [options]",
     "Bloom an image or a sequence (the default command).",
     .about =
         "By default the colour layers are convolved with the normalised kernel in linear light, "
         "and the image is mirrored at its border. Data layers, metadata and windows stay as they "
         "are, and the output has the input's pixel type and compression.\n\nA frame pattern "
         "(####, %04d or $F4) in IN and OUT makes a sequence: one # is four digits, a run of n is "
         "n digits. Without --frames the frames are those in the folder of IN.",
     .stands_for = {"input", "kernel"}, .needs = {"input", "kernel", "output"},
     .example = {{"Bloom one image.", "fftbloom in.exr star.exr -o out.exr"},
                 {"Bloom a sequence on the second device, and skip finished frames.",
                  "fftbloom in.####.exr star.exr -o out.####.exr --device 1 --existing update"},
                 {"Halve the glare, and spread only what is above 1.",
                  "fftbloom in.exr star.exr -o out.exr --amount 50% --threshold 1"},
                 {"Take all options from a file.", "fftbloom --config look.json"}}},
    {"deglare", FOR_APPLY, cmd_apply, 0, 2, "IN KERNEL -o OUT [options]",
     "Take the glare of a lens away from a plate.", .sets = "deglare",
     .about = "The result is the image whose bloom is the plate: fftbloom RESULT KERNEL --core R "
              "-o PLATE gives it back. The kernel is that of the lens, and light within --core "
              "pixels of its centre stays where it is (auto). Every pixel is within the tolerance, "
              "which the run proves, or the report says that it is not. A kernel that spreads more "
              "light than it keeps is refused.\n\nNothing is clamped: pixels below zero say that "
              "the kernel has more glare than the lens (docs/deglare.md).",
     .stands_for = {"input", "kernel"}, .needs = {"input", "kernel", "output"},
     .example = {{"Take the glare of a mist filter away.",
                  "fftbloom deglare plate.exr mist-4 -o clean.exr"},
                 {"Find how strong it was by a region that was black.",
                  "fftbloom deglare plate.exr mist-4 -o clean.exr --black 40,900,64,64"}}},
    {"farm", FOR_APPLY | FOR_FARM, cmd_apply, 0, 2,
     "IN KERNEL -o OUT [--to slurm|openjd] [options]",
     "Hand the frames of a sequence to a farm's scheduler.",
     .about =
         "Takes all options of apply for its tasks. Frames that are made already are left out, so "
         "the same command makes only the missing frames when it is run again. Files and the cache "
         "folder must be on disks that all nodes see. docs/farm.md describes the schedulers.",
     .stands_for = {"input", "kernel"}, .needs = {"input", "kernel", "output"},
     .example = {{"Submit to Slurm and wait; run it again for missing frames.",
                  "fftbloom farm in.####.exr star.exr -o out.####.exr --wait"},
                 {"Print a job template for OpenJD.",
                  "fftbloom farm in.####.exr star.exr -o out.####.exr --to openjd"}}},
    {"precompute", FOR_PRECOMPUTE, cmd_precompute, 0, 1, "KERNEL -o K.spectrum [options]",
     "Compute a kernel's spectrum: a portable file to use in its place.",
     .about = "The spectrum serves images of any size. It is also stored in the cache.",
     .stands_for = {"kernel"}, .needs = {"kernel", "output"},
     .example = {{"Run it once, before a job on many machines.",
                  "fftbloom precompute star.exr -o star.spectrum"},
                 {"Then use the spectrum anywhere.", "fftbloom in.exr star.spectrum -o out.exr"}}},
    {"kernel", FOR_KERNEL, NULL, 1, 64, "ACTION [arguments] [options]",
     "Make, change, show and check kernels.",
     .about = "A kernel is the picture of one point of light: the point spread function with which "
              "images are convolved. 'fftbloom help kernel ACTION' describes an action in full.",
     .word_name = "kernel action", .actions = KERNEL_ACTIONS,
     .example = {{"Make six spikes in colour.",
                  "fftbloom kernel make star --param blades=6,turn=15 --taps 512 -o star.exr"},
                 {"Check that it is fit for use.", "fftbloom kernel check star.exr --strict"},
                 {"Choose one for a frame.", "fftbloom kernel sheet shot.1001.exr -o sheet.html"}}},
    {"diff", FOR_DIFF, cmd_diff, 2, 2, "A B [options]",
     "Compare two images, with the options and exit codes of idiff.",
     .about = "Options, defaults, words and exit codes are those of OpenImageIO's idiff 2.4, and "
              "options may be written with one dash. The report adds the ratio of the energies of "
              "B and A for each channel. These things differ from idiff: channels are matched by "
              "name; images of another size, window or set of channels exit with 3 and are not "
              "compared; a NaN or infinite value on one side only is a failure; integer channels, "
              "such as ids, are compared as they are; hardfail, and the limits of warnings that "
              "are given, count even if no pixel is over fail. There is no perceptual comparison.",
     .example = {{"Allow 0.001, and more in one pixel of ten thousand.",
                  "fftbloom diff -fail 0.001 -failpercent 0.01 out.exr reference.exr"},
                 {"See where they differ.",
                  "fftbloom diff out.exr reference.exr -abs -scale 100 -o diff.exr"}}},
    {"check", FOR_CHECK, cmd_check, 1, 1, "SUITE.json [options]",
     "Run a regression suite: bloom images and compare them with references.",
     .about =
         "A suite is a JSON file of cases (docs/suites.md): a config as for apply, reference "
         "images, thresholds as for diff, and assertions on energy and accuracy. The exit status "
         "is the worst of all cases, with the codes of diff; a suite that is wrong exits with 64 "
         "before anything runs. The run stops at the first case that fails, unless --keep-going is "
         "given. A case is skipped if its device is missing, or if its references are for other "
         "classes of device.\n\nOptions for devices and memory override those of the cases.",
     .example = {{"Run all cases on the CPU.",
                  "fftbloom check suite.json --device cpu --keep-going"},
                 {"Make the references, or update them after an intended change.",
                  "fftbloom check suite.json --bless"},
                 {"Write a page to look at, and results for the build server.",
                  "fftbloom check suite.json --html report.html --junit report.xml"},
                 {"Insist on a GPU.",
                  "fftbloom check suite.json --require-device gpu --require-cases 12"}}},
    {"plan", FOR_APPLY | FOR_PLAN, cmd_plan, 0, 2, "IN KERNEL [-o OUT] [options]",
     "Show what a run would do, and at what cost; no device work.",
     .about = "Shows lengths, axis order, device, memory and passes of the first colour layer, and "
              "how the accuracy that was asked for would be kept. With -o OUT it lists the frames "
              "that would be made instead, and writes nothing.",
     .stands_for = {"input", "kernel"}, .needs = {"input", "kernel"},
     .example = {{"For people.", "fftbloom plan in.exr star.exr"},
                 {"For scripts.", "fftbloom plan in.exr star.exr --json"},
                 {"What would this command make?",
                  "fftbloom plan in.####.exr star.exr -o out.####.exr --existing update"}}},
    {"cache", FOR_CACHE, NULL, 1, 1, "ACTION [options]",
     "Show, check or trim the kernel spectra that are kept between runs.",
     .word_name = "cache action", .actions = CACHE_ACTIONS,
     .example = {{"Print the folder.", "fftbloom cache path"},
                 {"Empty the cache.", "fftbloom cache trim --cache-size 0"}}},
    {"bench", FOR_BENCH, cmd_bench, 0, 0,
     "[--size WxH] [--kernel N] [--queue N] [--device DEVICE] [options]",
     "Time the passes of a frame on a device.",
     .about = "Frames of noise go through the engine; nothing is read or written. The result has "
              "the median, minimum and quartiles of --rounds rounds for each pass and for the "
              "frame, the bytes that a pass moves, and its speed relative to copies of the same "
              "size on the same device. --queue 1 times single frames with their transfers; "
              "--queue 50 times 50 frames back to back by the device's clock, with the data on the "
              "device.\n\n--kernel is a file, the size of a generated kernel, or several sizes "
              "separated by commas; the default is 256. --device all times every device.",
     .example =
         {{"Time the device that a long sequence would run on.", "fftbloom bench"},
          {"Time the passes themselves, for several sizes.",
           "fftbloom bench --device gpu --size 1920x1080,3840x2160 --kernel 256,512 --queue 50"},
          {"Time the CPU, and print JSON.",
           "fftbloom bench --device cpu --size 3840x2160 --kernel 512 --json"}}},
    {"info", FOR_INFO, cmd_info, 1, 1, "FILE [--json]",
     "Show what an image file contains, and which channels would be bloomed.",
     .about = "Shows parts, windows, pixel storage, attributes, and which channels are colour, "
              "alpha or data, also as --layers and --exclude change this. No pixels are read.",
     .example = {{"Show what is in it.", "fftbloom info beauty.exr"},
                 {"List the names of all data channels.",
                  "fftbloom info beauty.exr --json | jq -r '.parts[].channels[] | select(.role == "
                  "\"data\").name'"}}},
    {"devices", FOR_DEVICES, cmd_devices, 0, 0, "[--verify N] [-o FOLDER] [--json]",
     "List the devices of this machine, the preferred ones first, and try them.",
     .about = "--device takes the index, the uuid, a part of the name, or a class: gpu, cpu, "
              "software (Vulkan on the CPU, for tests). --verify N blooms a small picture on each "
              "device and recomputes N of its pixels. -o FOLDER makes a file in this folder and "
              "takes it away again. Both try the cache folder, too. The status is that of the "
              "first trial that fails.",
     .example = {{"List the devices.", "fftbloom devices"},
                 {"Try a node of a farm before it gets frames.",
                  "fftbloom devices --verify 64 -o /shots/010/out --json"}}},
    {"schema", FOR_SCHEMA, cmd_schema, 0, 1, "[config|suite]",
     "Print the JSON Schema of config files or of suites.",
     .about = "Editors that know JSON Schema (draft 2020-12) complete and check files by it: put "
              "\"$schema\": \"fftbloom.schema.json\" into the files.",
     .word_choices = "config suite", .word_name = "schema",
     .example = {{"Keep it beside the config files.", "fftbloom schema > fftbloom.schema.json"},
                 {"The same for suites.", "fftbloom schema suite > suite.schema.json"}}},
    {"completion", FOR_COMPLETION, cmd_completion, 1, COMMAND_LINE_WORDS,
     "bash|zsh|fish | words -- WORD...", "Print completions for a shell.",
     .about = "The completions call 'completion words' with the words of the line up to the one "
              "that is typed. It knows commands, options, their values, shipped kernels and the "
              "parameters of models.",
     .word_choices = "bash zsh fish words", .word_name = "shell",
     .example = {{"For the current bash.", "source <(fftbloom completion bash)"},
                 {"For fish, permanently.",
                  "fftbloom completion fish > ~/.config/fish/completions/fftbloom.fish"}}},
    {"docs", FOR_DOCS, cmd_docs, 1, 2, "config | commands | man [COMMAND]",
     "Print the reference of options, the names of the commands, or a manual page.",
     .word_choices = "config commands man", .word_name = "page",
     .example = {{"Read the manual page of a command.", "fftbloom docs man apply | man -l -"}}},
    {"help", FOR_HELP, cmd_help, 0, 2, "[COMMAND [ACTION] | OPTION | exit]",
     "Show the help of the program, a command, an action or an option.", .word_choices = "*",
     .word_name = "command"},
    {"version", FOR_VERSION, cmd_version, 0, 0, "[--json]",
     "Show the version and the libraries that are compiled in.",
     .about = "fftbloom --version and fftbloom -V are the same.",
     .example = {{"For scripts.", "fftbloom version --json"}}},
};
const commands COMMANDS = {ROW, COUNT(ROW)};
