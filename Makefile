# fftbloom. The README names the targets a user needs; `make help` lists all.
#
#   make                    the program, build/fftbloom
#   make demo               blooms the shipped scene (installs what is missing first)
#   make test               all tests (installs what they need, too); SAN=1 under ASan and UBSan, SAN=thread under TSan;
#                           make test ONLY='apply test_plan' runs some of them
#   make trials             random attacks from outside; RUNS=, SEED=, DEVICE=
#   make test-fresh         the README's commands in a bare Debian 12 (a chroot; needs root)
#   make check              formatting, layers, headers, generated files
#   make analyse            gcc's analyzer over the sources
#   make install PREFIX=    program, kernels, man pages, completions, documents; and the C library
#   make bundle             a folder that runs on other machines: dist/fftbloom; make kernels-archive: the kernels as EXR files
#   make deb                Debian packages: dist/fftbloom_VERSION_ARCH.deb, libfftbloom0, libfftbloom-dev
#   make ofx                the OpenFX plug-in: dist/fftbloom.ofx.bundle
#   make wheel              the Python module with all that it needs: dist/fftbloom-VERSION-py3-none-manylinux_2_28_x86_64.whl
#   make sdist              its sources, which pip builds with cc and make: dist/fftbloom-VERSION.tar.gz
#   make alone              the library of the wheel, with all that it needs inside: build/alone/libfftbloom.so.0
#   make lab                build/fftlab: textbook transforms beside ours (docs/inside/fft.md)
#   make docs-images        the pictures of README and docs, and their figures
#   make assets             the shipped scene and kernels, from their programs and recipes
#   make gallery            docs/gallery.md and the README's pictures (ffmpeg)
#
# Switches: CC=clang  OPENEXR=0 (no PXR24, B44, DWA)  OCIO=0 (no OpenColorIO)  SAN=1|thread

VERSION := $(shell sed -n 's|^## ||p' CHANGELOG.md | head -n 1)
PREFIX  ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
# A C compiler brings the C++ compiler of its own family.
CXX     := $(if $(findstring clang,$(CC)),clang++,g++)
OPENEXR ?= $(shell pkg-config --exists OpenEXR 2>/dev/null && echo 1 || echo 0)
OCIO    ?= $(shell pkg-config --exists OpenColorIO 2>/dev/null && echo 1 || echo 0)
SAN     ?= 0

# Each combination of switches has a folder of its own, so that none is built from another's objects.
BUILD ?= build$(if $(filter 1,$(SAN)),-san)$(if $(filter thread,$(SAN)),-tsan)$(if $(findstring clang,$(CC)),-clang)$(if $(filter 0,$(OPENEXR)),-noexr)$(if $(filter 0,$(OCIO)),-noocio)

# What gcc warns of depends on how far it optimises; its plain build is the one that decides.
WARN   := -Wall -Wextra -Wno-unused-parameter -Wshadow -Wvla $(if $(filter 0,$(SAN))$(findstring clang,$(CC)),-Werror)
WARN_C := $(WARN) -Wmissing-prototypes -Wstrict-prototypes
comma  := ,
# Overruns end the program instead of going on, jumps only land where they may, and the program is
# loaded at another place each time; measured to cost nothing. A caller who sets the level of
# FORTIFY, as dpkg-buildflags does, gets that one.
HARDEN := $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3) -D_GLIBCXX_ASSERTIONS -fstack-protector-strong \
          -fstack-clash-protection $(if $(filter x86_64,$(shell uname -m)),-fcf-protection=full) \
          -Wformat -Werror=format-security
# No path of this machine is in what is built: two builds are the same bytes. No product is fused
# with a sum: all processors and compilers compute the same.
PLACE  := -ffile-prefix-map=$(CURDIR)=.
# clang's objects with SAN=1 are those of the fuzzers, too: make fuzz.
SANS   := $(if $(filter thread,$(SAN)),thread,address$(comma)undefined$(if $(findstring clang,$(CC)),$(comma)fuzzer-no-link -fno-sanitize=vptr$(comma)function) -fno-sanitize-recover=undefined)
# Traces have lines. Variables for gdb (CFLAGS='-O0 -g') would take a third of the time of compiling.
OPT    := $(PLACE) -ffp-contract=off -g1 $(if $(filter 0,$(SAN)),-O2 $(HARDEN),-O1 -fsanitize=$(SANS) -fno-omit-frame-pointer) -fPIC -fvisibility=hidden
PKGS   := libcjson libdeflate $(if $(filter 1,$(OPENEXR)),OpenEXR) $(if $(filter 1,$(OCIO)),OpenColorIO)
DEFS   := -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -DWITH_OPENEXR=$(OPENEXR) -DWITH_SAN=$(if $(filter 0,$(SAN)),0,1)
INC    := -Isrc -I$(BUILD) -I. $(patsubst -I%,-isystem %,$(shell pkg-config --cflags-only-I vulkan $(PKGS) 2>/dev/null))
# What the caller adds comes last: make CFLAGS=-O3, or dpkg-buildflags' variables.
C_FLAGS   = -std=c11 $(OPT) $(WARN_C) $(DEFS) $(INC) -pthread $(CPPFLAGS) $(CFLAGS)
CXX_FLAGS = -std=c++17 $(OPT) $(WARN) $(DEFS) $(INC) -pthread $(CPPFLAGS) $(CXXFLAGS)
KEEP   := $(if $(filter 1,$(SAN)),$(BUILD)/san/dlclose.o)
LIBS   := $(KEEP) $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lstdc++ -lm -lz -ldl -pthread
LD_FLAGS  = $(OPT) -pie -Wl,-z,relro,-z,now $(LDFLAGS)

# Folders below src/ are two or three deep.
sources = $(wildcard src/*/*.$1 src/*/*/*.$1 src/*/*/*/*.$1)
ALL_C  := $(filter-out src/ofx/% src/alone/%,$(call sources,c))
# These are compiled for each form of processor: on any, with AVX2, with AVX-512.
FORMS  := $(filter %_form.c,$(ALL_C))
ALL_CC := $(filter-out $(if $(filter 0,$(OPENEXR)),src/image/exr/exr_ilm.cc),$(call sources,cc))
# The slow ones first, so that no core waits for them at the end.
OBJ    := $(ALL_CC:src/%.cc=$(BUILD)/%.o) $(foreach f,any avx2 avx512,$(FORMS:src/%.c=$(BUILD)/%_$f.o)) \
          $(patsubst src/%.c,$(BUILD)/%.o,$(filter-out $(FORMS),$(ALL_C)))
LIB    := $(BUILD)/libfftbloom.a
PROG   := $(BUILD)/fftbloom
SO     := $(BUILD)/libfftbloom.so.0

MAN    := $(BUILD)/man/fftbloom.1

.PHONY: all
all: $(PROG) $(SO) $(MAN)

# The manual pages, one for each command, of the program's tables.
$(MAN): $(PROG)
	@mkdir -p $(@D)
	@for c in $$($(PROG) docs commands); do $(PROG) docs man $$c >$(@D)/fftbloom-$$c.1 || exit 1; done
	@$(PROG) docs man >$@

# The log is one line a file. V=1 shows whole commands, make -s shows neither.
Q   := $(if $(V),,@)
say = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),@:,@printf '%-5s %s\n' $1 $2)

# --- shaders: GLSL -> SPIR-V -> numbers that C includes. One file per pass and precision. -------
COMP := $(wildcard shaders/*.comp)
SPV  := $(patsubst %.comp,$(BUILD)/%_f32.inc,$(COMP)) $(patsubst %.comp,$(BUILD)/%_f64.inc,$(filter-out %/copy.comp,$(COMP))) \
        $(BUILD)/shaders/inverse_groups_f32.inc $(BUILD)/shaders/inverse_groups_f64.inc
GLSL := glslc --target-env=vulkan1.1 -O0 -Werror -I. -mfmt=num -MD

$(BUILD)/shaders/%_f32.inc: shaders/%.comp
	@mkdir -p $(@D)
	$(call say,GLSL,$<)
	$(Q)$(GLSL) -MF $@.d -MT $@ $< -o $@
$(BUILD)/shaders/%_f64.inc: shaders/%.comp
	@mkdir -p $(@D)
	$(call say,GLSL,$<)
	$(Q)$(GLSL) -DFLOAT64 -MF $@.d -MT $@ $< -o $@
# The last pass where a device has subgroup arithmetic.
$(BUILD)/shaders/%_groups_f32.inc: shaders/%.comp
	@mkdir -p $(@D)
	$(call say,GLSL,$<)
	$(Q)$(GLSL) -DSUBGROUPS -MF $@.d -MT $@ $< -o $@
$(BUILD)/shaders/%_groups_f64.inc: shaders/%.comp
	@mkdir -p $(@D)
	$(call say,GLSL,$<)
	$(Q)$(GLSL) -DSUBGROUPS -DFLOAT64 -MF $@.d -MT $@ $< -o $@

# All of them in one file: an array for each. The package of the sources for pip has that file.
arrays = for f in $^; do echo "static const uint32_t $$(basename $$f .inc)[] = {"; cat $$f; echo '};'; done >$@
ifeq ($(wildcard shaders.inc),)
$(BUILD)/shaders/all.inc: $(SPV)
	$(Q)$(arrays)
else
$(BUILD)/shaders/all.inc: shaders.inc
	@mkdir -p $(@D)
	$(Q)cp $< $@
endif

# --- pages: HTML, its style and its script, as numbers that C includes ---------------------------
PAGES := $(patsubst src/%,$(BUILD)/%.inc,$(wildcard src/pages/*)) $(BUILD)/pages/LICENSE.inc
$(BUILD)/pages/LICENSE.inc: LICENSE
$(filter-out %/LICENSE.inc,$(PAGES)): $(BUILD)/pages/%.inc: src/pages/%
$(PAGES):
	@mkdir -p $(@D)
	$(call say,PAGE,$<)
	$(Q)od -An -v -td1 $< | sed 's/[-0-9][0-9]*/&,/g' >$@

# --- program ------------------------------------------------------------------------------------
$(BUILD)/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/%.o: src/%.cc Makefile
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(CXX) $(CXX_FLAGS) -MMD -MP -c $< -o $@

# The same sources for each form of processor: the same operations in the same order, so the same bytes.
# Sanitizers take minutes to compile them at -O3, and UBSan at any level: the plain form has ASan or TSan.
LANES_O := $(filter $(BUILD)/math/lanes% $(BUILD)/engine/cpu/cpu_passes%,$(OBJ))
$(LANES_O): C_FLAGS += $(if $(filter 0,$(SAN)),-O3) $(if $(filter 1,$(SAN)),-fno-sanitize=undefined) -Wno-psabi
$(filter %_any.o,$(LANES_O)): C_FLAGS += -DFORM=0
$(filter %_avx2.o,$(LANES_O)): C_FLAGS += -DFORM=1 $(if $(filter x86_64,$(shell uname -m)),-mavx2 -mf16c)
$(filter %_avx512.o,$(LANES_O)): C_FLAGS += -DFORM=2 \
    $(if $(filter x86_64,$(shell uname -m)),-mavx512f -mavx512vl -mavx512dq -mavx512bw -mf16c -mprefer-vector-width=512)
ifneq ($(SAN),0)
$(filter %_avx2.o %_avx512.o,$(LANES_O)): C_FLAGS += -fno-sanitize=all
endif
define form
$$(BUILD)/%_$1.o: src/%.c Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(C_FLAGS) -MMD -MP -c $$< -o $$@
endef
$(foreach f,any avx2 avx512,$(eval $(call form,$f)))
$(BUILD)/image/flat/screen_ocio.o: CXX_FLAGS += -DWITH_OCIO=$(OCIO)
$(BUILD)/app/cli/help.o: C_FLAGS += -DWITH_OCIO=$(OCIO)
# tinyexr's PIZ coder makes shifts that the sanitizer reports; they are harmless.
$(BUILD)/image/exr/exr_tiny.o: CXX_FLAGS += -fno-sanitize=shift -w
# Inner loops of 4 to 16 rounds must be unrolled or made vectors.
$(BUILD)/lib/lib_pixels.o $(BUILD)/lib/lib_image.o $(BUILD)/engine/cpu/cpu_join.o $(BUILD)/bloom/view.o \
$(patsubst %,$(BUILD)/%.o,$(addprefix image/exr/exr_,zip code split) $(addprefix kernel/make/,lines model model_table pattern pupil)): C_FLAGS += $(if $(filter 0,$(SAN)),-O3)
# Sanitizers take long to optimise: they do it where much is computed.
ifneq ($(SAN),0)
$(filter $(BUILD)/app/% $(BUILD)/lib/%,$(OBJ)): C_FLAGS += -O0
endif
# Where a chunk of a PNG file is empty, stb adds 0 to a null pointer and copies 0 bytes to it.
$(BUILD)/image/flat/png.o: C_FLAGS += -Wno-unused-function -fno-sanitize=pointer-overflow,nonnull-attribute
$(BUILD)/engine/gpu/gpu_shaders.o: $(BUILD)/shaders/all.inc
$(BUILD)/app/check/html.o $(BUILD)/app/check/cmd_check.o $(BUILD)/app/kernel/kernel_sheet.o $(BUILD)/app/kernel/kernel_make.o: $(PAGES)

$(BUILD)/san/%.o: tests/san/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -MMD -MP -c $< -o $@

$(LIB): $(filter-out $(BUILD)/app/main.o,$(OBJ)) | $(KEEP)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)ar rcs $@ $^
$(PROG): $(BUILD)/app/main.o $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LD_FLAGS) -o $@ $^ $(LIBS)

# The shared library takes from the archive what its calls need, and shows these alone.
SO_O   := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/lib/*.c))
# make check reads of these what types programs see.
$(SO_O): C_FLAGS += $(if $(filter 0,$(SAN)),-g)
SO_LINK = $(CC) $(filter-out -pie,$(LD_FLAGS)) -shared -Wl,-soname,libfftbloom.so.0 -Wl,--version-script,src/lib/fftbloom.map \
          $(if $(findstring fuzzer,$(SANS)),,-Wl,--no-undefined) -Wl,--gc-sections -o $@ $(filter-out %.map %.so.2 %.so.0,$^)
$(SO): $(SO_O) $(LIB) src/lib/fftbloom.map
	$(call say,LINK,$@)
	$(Q)$(SO_LINK) -Wl,--no-as-needed -lstdc++ -Wl,--as-needed $(LIBS)

-include $(OBJ:.o=.d) $(wildcard $(BUILD)/shaders/*.d)

# Who builds, tests and installs the program needs only this file. The package of the sources for pip has no tests.
# packaging.mk has what runs on other machines: the bundle, the wheel, Debian packages, the plug-in for OpenFX hosts.
include packaging.mk
# bench.mk has benchmarks with their peers, the lab and pictures; tests.mk has the programs that tests run.
include $(wildcard tests/bench/bench.mk) $(wildcard tests/tests.mk)

# --- what is needed -----------------------------------------------------------------------------
DEPS_BUILD := gcc g++ make pkg-config libvulkan-dev glslc libstb-dev libtinyexr-dev libcjson-dev \
              libdeflate-dev libopenexr-dev libopencolorio-dev libxxhash-dev zlib1g-dev mesa-vulkan-drivers
DEPS_TEST  := libfftw3-dev qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross clang clang-format libcmocka-dev bats openimageio-tools ffmpeg vulkan-validationlayers spirv-tools \
              mypy python3-jsonschema python3-numpy python3-scipy python3-venv python3-openimageio mandoc libclang-rt-14-dev patchelf chromium chromium-driver acl abigail-tools dpkg-dev lintian python3-yaml

.PHONY: deps deps-build
deps:
	@tests/deps.sh $(DEPS_BUILD) $(DEPS_TEST)
deps-build:
	@tests/deps.sh $(DEPS_BUILD)

# The packages change what pkg-config says, and with it the names above. So everything that follows
# deps runs in a make of its own, which computes them again.
.PHONY: demo test check run-demo
demo: deps-build
	@$(MAKE) --no-print-directory run-demo

# The README's commands in a bare Debian, as a newcomer runs them.
.PHONY: test-fresh
test-fresh:
	@tests/fresh.sh all

run-demo: all
	@tests/demo.sh $(PROG)

test: deps
	@$(MAKE) --no-print-directory run-tests
check: deps
	@$(MAKE) --no-print-directory run-checks

# --- shipped images: made by programs here, committed, and checked to be what these make ----------
MAKERS := $(addprefix $(BUILD)/assets/make_,scene psf)
$(BUILD)/assets/%: testdata/%.c $(LIB) Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -I. -MMD -MP -MF $@.d -MT $@ $< $(LIB) $(LD_FLAGS) -o $@ $(LIBS)
-include $(wildcard $(BUILD)/assets/*.d)

.PHONY: assets
assets: $(MAKERS) $(PROG)
	@tests/make_assets.sh $(BUILD)/assets .

.PHONY: run-checks format
run-checks: $(PROG) $(SO) $(MAKERS)
	@tests/check_format.sh
	@tests/check_layers.py
	@tests/check_circles.py $(BUILD)
	@CC="$(CC)" INC="$(INC) $(DEFS)" tests/check_headers.sh
	@tests/check_generated.sh $(PROG)
	@tests/check_assets.sh $(BUILD)/assets $(PROG)
	@tests/check_abi.sh $(SO)
	@echo "all checks passed"

# gcc's analyzer over all C files, for what is freed twice or used afterwards, open files that are
# forgotten, addresses of dead frames and the like; about a minute of one core. Switched off are six
# kinds that gcc 12 reports only where there is nothing: it forgets what a call has filled or checked,
# takes loops for empty that are not, and loses blocks that are kept in arrays.
ANALYSE := -O1 -fanalyzer -Werror $(patsubst %,-Wno-analyzer-%,malloc-leak null-dereference null-argument \
           possible-null-dereference possible-null-argument use-of-uninitialized-value)
.PHONY: analyse
analyse: $(PROG)
	@ls -S $(filter-out src/math/lanes% src/engine/cpu/cpu_passes%,$(ALL_C)) | \
	    xargs -P "$$(nproc)" -I@ gcc -std=c11 $(DEFS) -DWITH_OCIO=$(OCIO) $(INC) $(ANALYSE) -S @ -o /dev/null
	@echo "nothing was found"
format:
	clang-format -i $(call sources,[ch]) $(call sources,cc) $(wildcard tests/*/*.[ch] tests/*/*.cc $(LAB)/*.[ch] testdata/*.[ch] docs/examples/*.c)

# Pages that the program makes of its tables; committed, so that they can be read without building.
.PHONY: generated
generated: $(PROG)
	@tests/generate.sh $(PROG) docs

# --- installation -------------------------------------------------------------------------------
COMPLETIONS := bash:share/bash-completion/completions/fftbloom zsh:share/zsh/site-functions/_fftbloom \
               fish:share/fish/vendor_completions.d/fftbloom.fish
DEST := $(DESTDIR)$(PREFIX)

# Each entry is a folder and the files that go into it.
SHARE := man/man1:$(BUILD)/man/*.1 fftbloom/kernels:kernels/*.json \
         doc/fftbloom:README.md doc/fftbloom:CHANGELOG.md doc/fftbloom:LICENSE doc/fftbloom:SECURITY.md \
         doc/fftbloom/docs:docs/*.* doc/fftbloom/docs/inside:docs/inside/* doc/fftbloom/docs/images:docs/images/*.* \
         doc/fftbloom/docs/images/gallery:docs/images/gallery/* \
         doc/fftbloom/docs/images/look:docs/images/look/* \
         doc/fftbloom/docs/programs:docs/programs/*

.PHONY: install install-program install-lib uninstall clean help
install: install-program install-lib
# LIBDIR is /usr/lib/x86_64-linux-gnu in a package.
LIBDIR ?= $(PREFIX)/lib
install-lib: $(SO)
	install -Dm644 $(SO) $(DESTDIR)$(LIBDIR)/libfftbloom.so.0
	ln -sf libfftbloom.so.0 $(DESTDIR)$(LIBDIR)/libfftbloom.so
	install -Dm644 src/lib/fftbloom.h $(DEST)/include/fftbloom.h
	install -Dm644 docs/examples/bloom.c $(DEST)/share/doc/libfftbloom-dev/examples/bloom.c
	install -Dm644 src/lib/libfftbloom.3 $(DEST)/share/man/man3/libfftbloom.3
	@install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	@sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' src/lib/fftbloom.pc.in \
	    >$(DESTDIR)$(LIBDIR)/pkgconfig/fftbloom.pc
install-program: $(PROG) $(MAN)
	install -Dm755 $(PROG) $(DEST)/bin/fftbloom
	@for s in $(SHARE); do \
	    install -d "$(DEST)/share/$${s%%:*}" && install -m644 $${s#*:} "$(DEST)/share/$${s%%:*}" || exit 1; \
	done
	@for c in $(COMPLETIONS); do \
	    install -d "$(DEST)/$$(dirname $${c#*:})" && $(PROG) completion $${c%%:*} >"$(DEST)/$${c#*:}" || exit 1; \
	done
uninstall:
	rm -f $(DEST)/bin/fftbloom $(DEST)/share/man/man1/fftbloom.1 $(DEST)/share/man/man1/fftbloom-*.1 \
	    $(foreach c,$(COMPLETIONS),$(DEST)/$(lastword $(subst :, ,$(c)))) $(DEST)/include/fftbloom.h \
	    $(DESTDIR)$(LIBDIR)/libfftbloom.so $(DESTDIR)$(LIBDIR)/libfftbloom.so.0 \
	    $(DESTDIR)$(LIBDIR)/pkgconfig/fftbloom.pc $(DEST)/share/man/man3/libfftbloom.3
	rm -rf $(DEST)/OFX/Plugins/fftbloom.ofx.bundle $(DEST)/share/fftbloom $(DEST)/share/doc/fftbloom $(DEST)/share/doc/libfftbloom-dev

clean:
	rm -rf build build-* dist out
help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile
