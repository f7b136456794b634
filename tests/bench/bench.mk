# bench.mk - benchmarks beside peers, the lab of textbook transforms, and the pictures of the documents.

# The lab's shaders know no 64-bit floats. Those that include one of these have a form that goes
# through shared memory alone, too.
LAB      := tests/bench/lab
LAB_COMP := $(wildcard $(LAB)/shaders/*.comp)
LAB_SPV  := $(LAB_COMP:$(LAB)/%.comp=$(BUILD)/tests/lab/%.inc) \
            $(patsubst $(LAB)/%.comp,$(BUILD)/tests/lab/%_shared.inc,$(shell grep -lE '"(line|nabla|article).glsl"' $(LAB_COMP) /dev/null))
$(BUILD)/tests/lab/shaders/%_shared.inc: $(LAB)/shaders/%.comp
	@mkdir -p $(@D)
	$(call say,GLSL,$<)
	$(Q)$(GLSL) -DSHARED=true -MF $@.d -MT $@ $< -o $@
$(BUILD)/tests/lab/shaders/%.inc: $(LAB)/shaders/%.comp
	@mkdir -p $(@D)
	$(call say,GLSL,$<)
	$(Q)$(GLSL) -MF $@.d -MT $@ $< -o $@

$(BUILD)/tests/lab/shaders/all.inc: $(LAB_SPV)
	$(Q)$(arrays)
-include $(wildcard $(BUILD)/tests/lab/*.d $(BUILD)/tests/lab/shaders/*.d)

# --- the lab: a program of its own, of what is in tests/bench/lab and the library ------------------
FFTLAB := $(BUILD)/fftlab
LAB_O  := $(patsubst $(LAB)/%.c,$(BUILD)/tests/lab/%.o,$(filter-out $(LAB)/test_% $(LAB)/fftlab.c $(LAB)/fft_vkfft.c,$(wildcard $(LAB)/*.c)))
$(BUILD)/tests/lab/%.o: C_FLAGS += -Itests -Itests/bench -I$(BUILD)/tests
$(BUILD)/tests/lab/%.o: $(LAB)/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/tests/lab/lab.o: $(BUILD)/tests/lab/shaders/all.inc
# It makes textures, by calls that the program has no need of.
$(FFTLAB): $(BUILD)/tests/lab/fftlab.o $(LAB_O) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ $(LIBS) -lvulkan
.PHONY: lab
lab: $(FFTLAB)

# --- benchmarks ---------------------------------------------------------------------------------

# From file to file, beside oiiotool reading and writing the same file; ROUNDS=N, FRAMES=N.
.PHONY: bench-files
bench-files: $(PROG) $(BUILD)/assets/make_scene
	@tests/bench/files.py $^ testdata/star.exr $(or $(ROUNDS),5) $(or $(FRAMES),48)
# What auto chooses beside CPU, GPU and the files alone: four scenes, 1 to 384 frames, 2 to 16 processors.
# DEVICE=, CORES=16,8,2, FRAMES=1,8,96,384, ROUNDS=N.
.PHONY: bench-devices
bench-devices: $(PROG) $(BUILD)/tests/bench_panel $(BUILD)/assets/make_scene
	@tests/bench/devices.py $(or $(FOLDER),/dev/shm) $(BUILD)/tests/bench_panel $(BUILD)/assets/make_scene $(PROG) \
	    "$(DEVICE)" "$(CORES)" "$(FRAMES)" "$(ROUNDS)" | tee $(BUILD)/devices.txt
	@$(if $(DEVICE)$(FRAMES),,cp $(BUILD)/devices.txt docs/devices.txt)
# The CPU engine beside a plain FFTW program; ROUNDS=N. FFTW's wisdom is kept between runs.
# The GPU beside VkFFT and, where there is PyTorch, cuFFT: make bench-gpu-peers [DEVICE=software];
# CASES="cases 1280x720/256" for other cases, see tests/bench/peers/peers.sh; VKFFT=FOLDER for another
# VkFFT than Debian's.
.PHONY: bench-gpu bench-gpu-peers bench-gpu-sweep
bench-gpu: $(PROG)
	@$< bench --device $(or $(DEVICE),gpu) --queue 50 --kernel 256,512 --size 1280x720,1920x1080,3840x2160,7680x4320
bench-gpu-peers: $(PROG)
	@tests/deps.sh $(DEPS_PEERS)
	@$(MAKE) --no-print-directory $(BUILD)/bench_vkfft || echo "VkFFT cannot be built here"
	@tests/bench/peers/peers.sh $(BUILD) $(CASES) | tee $(BUILD)/gpu-peers.txt
	@$(if $(DEVICE)$(CASES),,cp $(BUILD)/gpu-peers.txt docs/gpu-peers.txt)
bench-gpu-sweep: $(PROG)
	@tests/bench/peers/peers.sh $(BUILD) sweep $(CASES)

# Debian's header with three C++ initialisers made C's, and two members of a table named, since
# glslang has more of them by now. VKFFT=FOLDER takes another version: the folder of its vkFFT.h.
DEPS_PEERS := $(if $(VKFFT),,libvkfft-dev) glslang-dev spirv-tools
.PHONY: FORCE
$(BUILD)/vkfft/from: FORCE
	@mkdir -p $(@D)
	@echo '$(VKFFT)' | cmp -s - $@ || echo '$(VKFFT)' >$@
$(BUILD)/vkfft/vkFFT.h: Makefile $(BUILD)/vkfft/from
ifdef VKFFT
	echo '#include "$(abspath $(VKFFT))/vkFFT.h"' >$@
else
	sed -e 's/VkCommandBuffer commandBuffer = {};/VkCommandBuffer commandBuffer = NULL;/' \
	    -e 's#/\* .limits = \*/ {#.limits = {#' \
	    -e 's#/\* .maxDualSourceDrawBuffersEXT = \*/#.max_dual_source_draw_buffers_ext =#' \
	    /usr/include/vkFFT.h >$@
endif
$(BUILD)/bench_vkfft: tests/bench/peers/bench_vkfft.c
$(BUILD)/fft_vkfft: $(LAB)/fft_vkfft.c $(LAB_O)
$(BUILD)/fft_vkfft: C_FLAGS += -Itests/bench
$(BUILD)/bench_vkfft $(BUILD)/fft_vkfft: $(BUILD)/vkfft/vkFFT.h $(LIB)
	$(call say,CC,$(filter %.c,$^))
	$(Q)$(CC) $(filter-out -W%,$(C_FLAGS)) -std=gnu11 -isystem $(BUILD)/vkfft \
	    $(if $(VKFFT),-isystem $(VKFFT) -isystem /usr/include/glslang/Include) $(filter %.c %.o,$^) $(LIB) $(LD_FLAGS) -o $@ -lglslang \
	    -lMachineIndependent -lGenericCodeGen -lOSDependent -lOGLCompiler -lSPIRV -lSPIRV-Tools-opt -lSPIRV-Tools \
	    $(LIBS) -lvulkan

# The transforms of the lab beside VkFFT and, where there is PyTorch, cuFFT:
# make bench-fft-peers [DEVICE=software] [SIZES="128 256"] [ALGORITHM=ours,nabla]
.PHONY: bench-fft-peers
bench-fft-peers: $(FFTLAB)
	@tests/deps.sh $(DEPS_PEERS)
	@$(MAKE) --no-print-directory $(BUILD)/fft_vkfft || echo "VkFFT cannot be built here"
	@$(LAB)/peers.sh $(BUILD) $(SIZES)

# The Python module beside scipy, torch and OpenCV; PARTS="512 1080p 4k batch threads call solve" are all.
.PHONY: bench-python
bench-python: $(SO)
	@LIBFFTBLOOM=$(CURDIR)/$< PYTHONPATH=python /usr/bin/python3 tests/bench/python.py $(PARTS)

# The CPU engine beside plain programs with FFTW and, with DUCC=FOLDER of its sources, with ducc0 built for
# this machine; ROUNDS=N.
.PHONY: bench-cpu
bench-cpu: $(BUILD)/bench_cpu
	@mkdir -p $(BUILD)/bench-cache
	@BENCH_CACHE=$(BUILD)/bench-cache $< $(ROUNDS)
DUCC_O := $(if $(DUCC),$(BUILD)/ducc.o)
$(BUILD)/ducc.o: tests/bench/peers/ducc.cc
	$(call say,CXX,$<)
	$(Q)$(CXX) -std=c++17 -O3 -march=native -I$(DUCC)/src -c $< -o $@
$(BUILD)/bench_cpu $(BUILD)/bench_passes $(BUILD)/bench_first: $(BUILD)/bench_%: tests/bench/bench_%.c tests/bench/bench_engine.h $(LIB) Makefile $(DUCC_O)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -Itests $(filter %.c,$^) $(DUCC_O) $(LIB) $(LD_FLAGS) -o $@ -lfftw3f_threads -lfftw3f $(LIBS)

# The passes beside the first one, and that beside FFTW or a copy; fails where one takes 1.5 times what
# tests/bench/passes.txt says: make bench-passes [WRITE=1, which writes that file]
.PHONY: bench-passes
bench-passes: $(BUILD)/bench_passes $(PROG)
	@tests/bench/ratios.py $(if $(WRITE),--write) --software $(PROG) tests/bench/passes.txt $<

# Each shipped kernel, made at full size, beside a transform by FFTW; fails as bench-passes does, by
# tests/bench/first.txt: make bench-first [WRITE=1]
.PHONY: bench-first
bench-first: $(BUILD)/bench_first
	@tests/bench/ratios.py $(if $(WRITE),--write) tests/bench/first.txt $< $(shell grep -L '"field"' kernels/*.json)

# What the promise costs from file to file, on a panel of scenes: make bench-promise [ROUNDS=n]
.PHONY: bench-promise
bench-promise: $(PROG) $(BUILD)/tests/bench_panel $(BUILD)/assets/make_scene
	@mkdir -p $(BUILD)/bench-promise
	@FFTBLOOM_CACHE_DIR=$(BUILD)/bench-promise/cache tests/bench/promise.py $(BUILD)/bench-promise \
	    $(BUILD)/tests/bench_panel $(BUILD)/assets/make_scene $(or $(ROUNDS),5) $(PROG)

# The pictures of docs/inside/fft.md.
.PHONY: docs-images
docs-images: $(PROG) $(FFTLAB)
	@mkdir -p out docs/images
	@$(LAB)/docs_fft.py docs/images
	$(FFTLAB) ocean --size 1024 --algorithm ours --rounds 1 -o out/ocean.exr
	$(PROG) out/ocean.exr testdata/star.exr -o docs/images/ocean.png --kernel-scale 0.5 --exposure -0.3

# The gallery of kernels and the README's pictures, with ffmpeg.
.PHONY: gallery
gallery: $(PROG)
	@tests/docs_gallery.py $(PROG)
