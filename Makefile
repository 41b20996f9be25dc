# ltensor - Lua 5.4 with tensors, on CPUs and GPUs. `make help` lists the targets and options.

VERSION := $(shell sed -n 's/^.define LT_VERSION  *"\(.*\)"/\1/p' include/ltensor.h)
# The name of Lua's library and its pkg-config file. Fedora, with a single version, calls it "lua".
LUA_NAME ?= lua5.4
# LuaRocks passes its interpreter. The scripts of the build need Lua 5.4 or later.
ifdef ROCK_LUA
LUA_NAME := lua$(shell $(ROCK_LUA) -e 'io.write(_VERSION:sub(5))')
LUA := $(if $(filter lua5.3,$(LUA_NAME)),lua5.4,$(ROCK_LUA))
TARGET_LUA := $(if $(filter lua5.4,$(LUA_NAME)),,$(ROCK_LUA))
endif
# A build for another Lua, build-lua5.3, uses the generated sources and the objects of the core of build. Its LUA_OBJ has the
# objects that depend on Lua.
OTHER_LUA := $(filter-out lua lua5.4,$(LUA_NAME))
BUILD ?= build$(OTHER_LUA:%=-%)
CORE := $(if $(OTHER_LUA),$(BUILD:%-$(OTHER_LUA)=%),$(BUILD))
GEN := $(CORE)/gen
OBJ := $(CORE)/obj
LUA_OBJ := $(BUILD)/obj

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
PARTS := $(addprefix mk/,toolchain.mk sources.mk generate.mk objects.mk link.mk minimal.mk single.mk library_sources.mk wasm.mk \
         static.mk macos.mk tests.mk arm64.mk docs.mk packages.mk bench.mk)
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
	rm -rf build build-asan build-tsan build-mutants build-lua* dist

-include $(shell find $(sort $(OBJ) $(LUA_OBJ)) $(MIN_OBJ) $(BUILD)/tests -name '*.d' 2>/dev/null)
