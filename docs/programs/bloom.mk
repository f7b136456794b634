# Blooms each image of a folder that is newer than its result: make -f bloom.mk -j KERNEL=star.exr
KERNEL  ?= star.exr
OPTIONS ?=
PLATES  := $(filter-out %.bloom.exr $(KERNEL),$(wildcard *.exr))

all: $(PLATES:.exr=.bloom.exr)
%.bloom.exr: %.exr $(KERNEL)
	fftbloom $< $(KERNEL) -o $@ --jobs 1 $(OPTIONS)
