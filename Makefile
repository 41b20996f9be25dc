# ltensor - Lua 5.4 with tensors, on CPUs and GPUs. `make help` lists the targets and options.

VERSION := $(shell sed -n 's/^.define LT_VERSION  *"\(.*\)"/\1/p' include/ltensor.h)
BUILD ?= build
GEN := $(BUILD)/gen
OBJ := $(BUILD)/obj

##@ Building
## all: build/ltensor, build/torch.so, build/libltensor*.{so,a}, the GPU backends (the default)
## MINIMAL=1 [OPS=path]: the libraries with the ops of a list alone, in build/minimal
## clean: delete the builds
## help: print this list
.DEFAULT_GOAL := all
.PHONY: all clean help
.DELETE_ON_ERROR:
.SECONDARY:

# In order: a file uses variables of the files before it.
PARTS := $(addprefix mk/,toolchain.mk sources.mk generate.mk objects.mk link.mk minimal.mk single.mk tests.mk docs.mk \
         packages.mk bench.mk)
include $(PARTS)

$(if $(V),,$(eval .SILENT:))

all: $(if $(MINIMAL),minimal,$(TARGETS))

# Prints the lines of the parts that begin with "##@" (a heading) or "## " (a target, a colon, its
# description).
help:
	@awk '/^##@ / { print "\n" substr($$0, 5) } \
	  /^## / { at = index($$0, ": "); name = substr($$0, 4, at - 4); text = substr($$0, at + 2); \
	    if (length(name) > 33) { print "  " name; name = "" } printf "  %-33s %s\n", name, text }' \
	  Makefile $(filter-out mk/toolchain.mk,$(PARTS)) mk/toolchain.mk

clean:
	rm -rf build build-asan build-tsan build-mutants dist

-include $(shell find $(OBJ) $(MIN_OBJ) $(BUILD)/tests -name '*.d' 2>/dev/null)
