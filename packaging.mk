# packaging.mk - what runs on other machines: the library that needs no other, the plug-in, the wheel, packages.

# The library that the wheel and plug-ins carry: arrays need neither OpenEXR nor OpenColorIO, and cJSON, libdeflate,
# zlib and the C++ library are inside. libgcc_s is not: each glibc has it beside itself, and Debian 12's static one needs
# glibc 2.35. A few objects are others than the program's, and on x86-64 one makes glibc 2.28 enough. Before 2.34 glibc
# has dlopen and threads in two libraries that are empty today, and before 2.30 its loader asks which library a
# symbol was in: the link sees them as they were. A sanitizer has calls of its own in place of these.
ALONE      := $(BUILD)/alone/libfftbloom.so.0
ALONE_LIB  := $(BUILD)/alone/libfftbloom.a
OLD        := $(if $(filter 0,$(SAN)),$(filter /%,$(shell $(CC) -print-file-name=ld-linux-x86-64.so.2)))
OLD_LIBS   := $(if $(OLD),$(BUILD)/alone/libdl.so.2 $(BUILD)/alone/libpthread.so.0)
OLD_GLIBC  := $(if $(OLD),$(BUILD)/alone/glibc.o) $(OLD_LIBS)
ALONE_LIBS := -l:libdeflate.a -l:libz.a -l:libstdc++.a -lm $(OLD_LIBS) -ldl -pthread
OTHERS     := image/exr/exr_chunk.o image/exr/exr_child.o image/flat/screen_ocio.o
$(BUILD)/alone/%.o: DEFS += -UWITH_OPENEXR -DWITH_OPENEXR=0 -DWITH_OCIO=0
$(BUILD)/alone/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/alone/%.o: src/%.cc Makefile
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(CXX) $(CXX_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/alone/glibc.o: src/alone/glibc.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -fno-builtin -c $< -o $@
$(BUILD)/alone/libdl.so.2: HAS := dlopen dlsym dladdr
$(BUILD)/alone/libpthread.so.0: HAS := pthread_create pthread_join pthread_detach pthread_once
$(OLD_LIBS): packaging.mk
	@mkdir -p $(@D)
	@echo 'GLIBC_2.2.5 { *; };' >$@.map
	$(Q)printf 'void %s(void) {}\n' $(HAS) | $(CC) -shared -nostdlib -fno-builtin -Wl,-soname,$(@F) -Wl,--version-script,$@.map -x c - -o $@
$(BUILD)/alone/cJSON.c:
	@mkdir -p $(@D)
	$(Q)tests/cjson.sh $@
$(BUILD)/alone/cJSON.o: $(BUILD)/alone/cJSON.c
	$(call say,CC,$<)
	$(Q)$(CC) -std=c11 $(OPT) -c $< -o $@
$(ALONE_LIB): $(filter-out $(addprefix $(BUILD)/,app/% image/exr/exr_ilm.o $(OTHERS)),$(OBJ)) $(addprefix $(BUILD)/alone/,$(OTHERS) cJSON.o)
	@rm -f $@
	$(call say,AR,$@)
	$(Q)ar rcs $@ $^
$(ALONE): $(SO_O) $(OLD_GLIBC) $(ALONE_LIB) src/lib/fftbloom.map
	$(call say,LINK,$@)
	$(Q)$(SO_LINK) $(ALONE_LIBS)
.PHONY: alone
alone: $(ALONE)

# The plug-in for OpenFX hosts has that library inside, and shows the three calls of a host alone. It stays in a
# process that unloads it, since a thread of the library may be at its last instructions.
OFX   := $(BUILD)/fftbloom.ofx
OFX_O := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/ofx/*.c))
$(OFX): $(OFX_O) $(SO_O) $(OLD_GLIBC) $(ALONE_LIB) src/ofx/ofx.map
	$(call say,LINK,$@)
	$(Q)$(subst libfftbloom.so.0,$(@F),$(subst src/lib/fftbloom.map,src/ofx/ofx.map,$(SO_LINK))) -Wl,-z,nodelete $(ALONE_LIBS)
-include $(OFX_O:.o=.d) $(wildcard $(BUILD)/alone/image/*/*.d)

.PHONY: install-ofx bundle ofx wheel sdist deb kernels-archive
# Hosts look into /usr/OFX/Plugins.
install-ofx: $(OFX)
	@tests/ofx/bundle.py $(OFX) $(DEST)/OFX/Plugins/fftbloom.ofx.bundle
bundle: all
	@rm -rf dist/fftbloom
	@$(MAKE) --no-print-directory -s install-program install-ofx DESTDIR= PREFIX=$(CURDIR)/dist/fftbloom
	@tests/bundle.sh dist/fftbloom

ofx: $(OFX)
	@tests/ofx/bundle.py $(OFX) dist/fftbloom.ofx.bundle
wheel: $(ALONE)
	@python/make_wheel.py $(ALONE) dist
sdist: $(BUILD)/shaders/all.inc
	@python/make_wheel.py sdist dist

kernels-archive: $(PROG)
	@tests/deps.sh openimageio-tools xz-utils
	@tests/kernels.sh $(PROG) dist

deb: all
	@tests/deps.sh dpkg-dev
	@rm -rf dist/deb
	@$(MAKE) --no-print-directory -s install install-ofx DESTDIR=$(CURDIR)/dist/deb PREFIX=/usr LIBDIR=/usr/lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH)
	@tests/deb.sh $(CURDIR)/dist/deb dist
