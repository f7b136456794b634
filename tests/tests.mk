# tests.mk - the programs that tests run: unit tests, fuzzers, trials, what is preloaded into the program.

# TESTS='test_par test_expect' makes a program of these alone.
TEST_C := $(wildcard tests/unit/test_*.c tests/gpu/test_*.c tests/ofx/test_*.c $(LAB)/test_*.c)
ifdef TESTS
TEST_C := $(filter $(TESTS:%=\%/%.c),$(TEST_C))
endif
UNIT   := $(BUILD)/tests/unit
UNIT_O := $(foreach t,$(notdir $(TEST_C:.c=)),$(BUILD)/tests/$(t).o)
vpath test_%.c tests/unit tests/gpu tests/ofx $(LAB)

# References that tests compare with (OpenEXR's own reader and writer), and what tests share.
REF_CC := $(if $(filter 1,$(OPENEXR)),$(wildcard tests/unit/ref_*.cc))
REF_C  := $(wildcard tests/unit/make_*.c)
REF    := $(REF_CC:tests/unit/%.cc=$(BUILD)/tests/%.o) $(REF_C:tests/unit/%.c=$(BUILD)/tests/%.o)
$(BUILD)/tests/%.o: tests/unit/%.cc Makefile
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(CXX) $(CXX_FLAGS) -Itests -MMD -MP -c $< -o $@
$(BUILD)/tests/rig.o: tests/ofx/rig.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -Itests -MMD -MP -c $< -o $@
$(BUILD)/tests/%.o: tests/unit/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -Itests -Wno-shadow -MMD -MP -c $< -o $@

# clang links what watches C++'s new into C++ programs alone: without it, nobody knows which library has a block.
SAN_NEW := $(if $(and $(filter 1,$(SAN)),$(findstring clang,$(CC))),-Wl$(comma)--whole-archive \
           $(shell $(CC) -print-file-name=libclang_rt.asan_cxx-$(shell uname -m).a) -Wl$(comma)--no-whole-archive)

# All unit tests are one program, so that one link serves them: build/tests/unit lists their files,
# and build/tests/unit test_plan runs one. The main of each file is renamed, and `e` of check.h may be hidden.
$(UNIT_O): $(BUILD)/tests/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -O1 $(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized) -Itests -Itests/bench -Wno-missing-prototypes -Wno-shadow -Dmain=$*_main -MMD -MP -c $< -o $@
$(BUILD)/tests/names.inc: FORCE
	@mkdir -p $(@D)
	@for f in $(TEST_C); do \
	    grep -q '^int main(int' $$f && kind=TAKES_ARGUMENTS || kind=PLAIN; \
	    echo "$$kind($$(basename $$f .c))"; \
	done >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(BUILD)/tests/unit.o: $(BUILD)/tests/names.inc
$(UNIT): $(BUILD)/tests/unit.o $(UNIT_O) $(REF) $(if $(findstring /ofx/,$(TEST_C)),$(BUILD)/tests/rig.o) $(if $(findstring lab,$(TEST_C)),$(LAB_O)) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LD_FLAGS) $^ -o $@ $(SAN_NEW) -lcmocka $(LIBS) -lvulkan
-include $(UNIT_O:.o=.d) $(REF:.o=.d) $(wildcard $(BUILD)/tests/unit.d $(BUILD)/tests/bench_*.d $(BUILD)/tests/sums.d)

$(BUILD)/tests/bench_%: tests/bench/bench_%.c $(REF) $(LIB) Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -Itests -Wno-shadow -MMD -MP -MF $@.d -MT $@ $< $(REF) $(LIB) $(LD_FLAGS) -o $@ -lcmocka $(LIBS)

# Any bytes as what the readers take, and as calls of the library, by libFuzzer (clang): make fuzz
# [FUZZ_SECONDS=n] runs each target for that long, a third of it with inputs of up to 64 kB. An input that fails is printed
# in base64 and kept beside the target, and so is one that takes more than 10 s; add it to testdata/corpus.
FUZZ_SECONDS ?= 60
FUZZERS := image zip text spectrum lib ofx
FUZZ_BUILD := build-san-clang
$(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h tests/fuzz/bytes.h $(LIB)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -Itests $< $(LIB) $(LD_FLAGS) -fsanitize=fuzzer -o $@ $(SAN_NEW) $(LIBS)
$(BUILD)/fuzz_ofx: tests/fuzz/fuzz_ofx.c tests/fuzz/bytes.h $(BUILD)/tests/rig.o $(OFX_O) $(LIB)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -Itests $(filter-out %.h,$^) $(LD_FLAGS) -rdynamic -fsanitize=fuzzer -o $@ $(SAN_NEW) $(LIBS)
.PHONY: fuzz $(FUZZERS:%=run-fuzz-%)
fuzz:
	@$(MAKE) --no-print-directory CC=clang SAN=1 $(FUZZERS:%=$(FUZZ_BUILD)/fuzz_%)
	@$(MAKE) --no-print-directory $(FUZZERS:%=run-fuzz-%)
$(FUZZERS:%=run-fuzz-%): run-fuzz-%:
	@seeds=testdata/corpus/$*; [ -d $$seeds ] || seeds=testdata/corpus/image; \
	failed=$(FUZZ_BUILD)/failed/$*-; \
	mkdir -p $(FUZZ_BUILD)/found/$* $(FUZZ_BUILD)/failed; \
	for l in "4096 $$(($(FUZZ_SECONDS) * 2 / 3 + 1))" "65536 $$(($(FUZZ_SECONDS) / 3 + 1))"; do \
	    echo "fuzz_$*: inputs of up to $${l% *} bytes for $${l#* } s"; \
	    $(FUZZ_BUILD)/fuzz_$* -max_len=$${l% *} -max_total_time=$${l#* } -timeout=60 -verbosity=0 \
	        -print_final_stats=1 -artifact_prefix=$$failed $(FUZZ_BUILD)/found/$* $$seeds || \
	        { echo "fuzz_$*: the input is in $$failed*"; exit 1; }; \
	done

# Preloaded into the program by bats files.
FAULTS := $(BUILD)/tests/faults.so
$(FAULTS): tests/faults/faults.c tests/faults/faults_vulkan.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=c11 -O1 $(WARN) $(DEFS) -shared -fPIC $(filter %.c,$^) -o $@ -ldl -Wl,--no-as-needed -lvulkan

# Sums of what the CPU engine makes, which tests/cli/arm.bats compares between processors.
SUMS := $(BUILD)/tests/sums
$(SUMS): tests/arm/sums.c $(LIB) Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -MMD -MP -MF $@.d -MT $@ $< $(LIB) $(LD_FLAGS) -o $@ $(LIBS)

# Random images and kernels that are made to break the promise, against the definition:
# make fuzz-promise [RUNS=n] [SEED=n] [DEVICE=gpu] [MASK=mask]
.PHONY: fuzz-promise
fuzz-promise: $(UNIT)
	$< test_promise $(or $(RUNS),20000) $(or $(SEED),1) $(or $(DEVICE),cpu) $(MASK)

# Attacks from outside, with a seed: files, pieces, signals, calls of the system that fail, and the promise:
# make trials [RUNS=n] [SEED=n] [DEVICE=cpu|software|gpu]. tests/cli/trials.bats runs a few of each.
.PHONY: trials
trials: $(PROG) $(UNIT) $(FAULTS)
	@FFTBLOOM=$(abspath $(PROG)) FFTBLOOM_ROOT=$(CURDIR) tests/trials.sh $(abspath $(BUILD)) $(or $(RUNS),100) $(or $(SEED),1) $(or $(DEVICE),cpu)

.PHONY: run-tests tests
tests: $(UNIT) $(if $(findstring /ofx/,$(TEST_C)),$(OFX)) $(if $(TESTS),,$(FAULTS) $(SUMS) $(FFTLAB))
run-tests: $(PROG) tests
	@SAN=$(SAN) tests/run.sh $(BUILD)

# What the library shows to programs, for make check to compare with.
.PHONY: abi
abi: $(SO)
	abidw --exported-interfaces-only --header-file src/lib/fftbloom.h --drop-private-types --no-elf-needed --no-corpus-path --no-comp-dir-path --no-show-locs --out-file src/lib/fftbloom.abi $<
