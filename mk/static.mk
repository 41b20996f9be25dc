# static.mk - `make static`: the program as one static file for x86-64 Linux, with musl, the simulator of GPUs and the Lua
# libraries in it.
#
# It calls make again with STATIC=1, the compiler of zig, which brings musl and a C++ library, and a build folder of its
# own. There is no readline: the prompt reads plain lines. Without dlopen there are no plugins and no optional libraries.

STATIC_BUILD := $(BUILD)/static
# scripts/deps.sh port fetches the compiler from PyPI.
ZIG ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ltensor/zig/ziglang/zig

##@ Static program
## static: build/static/ltensor, the program with musl, without shared libraries (scripts/deps.sh port)
.PHONY: static
static:
	@[ -f $(LIBRARY_SOURCES)/complete ] && [ -x $(ZIG) ] || sh scripts/deps.sh port
	$(SUBMAKE) $(STATIC_OPTIONS) $(STATIC_BUILD)/ltensor

## test-static: the program in an empty chroot with 0, 1 and 2 simulated GPUs; the C tests and specs with it
.PHONY: test-static
test-static: static
	$(SUBMAKE) $(STATIC_OPTIONS) $(addprefix $(STATIC_BUILD)/,$(CORE_TESTS))
	sh tests/static/run.sh $(STATIC_BUILD)

CORE_TESTS := $(patsubst tests/core/%.c,tests/%,$(wildcard tests/core/*_test.c))
STATIC_TARGET := -target x86_64-linux-musl
STATIC_OPTIONS := STATIC=1 SYSTEM=static BUILD=$(STATIC_BUILD) CLANG=clang CC='$(ZIG) cc $(STATIC_TARGET)' CXX='$(ZIG) c++ $(STATIC_TARGET)' \
  OBJCOPY=true CUDA=no ASSERT=no WERROR= OPT=-O2 CHEAP_OPT=-O1 SIM_OPT=-O1 LUA_CFLAGS= PACKED= ONEDNN=none MPIS=

ifdef STATIC
LIBRARY_FLAGS := -fno-sanitize=all -ffunction-sections
# The options of GCC that clang lacks are ignored.
CPPFLAGS += -Qunused-arguments -fno-sanitize=all $(LIBRARY_INCLUDES) -isystem $(BUILD)/include

# Boost's headers without those of glibc. Of its archive only the switch of stacks in assembly is linked.
$(SIM_OBJ): | $(BUILD)/include/boost
$(BUILD)/include/boost:
	@mkdir -p $(@D)
	@ln -s /usr/include/boost $@

$(PROGRAM): $(SIM_OBJ) $(LIBRARY_OBJ)
PROGRAM_LINK = $(CXX) -static -s -Wl,--gc-sections
# The library of zig's compiler does not detect the instruction sets; GCC's does.
PROGRAM_LIBS = $(shell gcc -print-file-name=libboost_context.a) $(shell gcc -print-libgcc-file-name)

# The tests also find the simulator inside.
CORE_LIBS := $(SIM_OBJ) $(LIBRARY_OBJ) $(PROGRAM_LIBS) -lc++ -static
LUA_STATIC :=
CMOCKA := $(OBJ)/libraries/cmocka/src/cmocka.o
$(addprefix $(BUILD)/,$(CORE_TESTS)): | $(SIM_OBJ) $(LIBRARY_OBJ) $(CMOCKA)
$(CMOCKA): LIBRARY_FLAGS += $(LIBRARY_INCLUDES) -D_GNU_SOURCE -DHAVE_INTTYPES_H -DHAVE_MALLOC_H -DHAVE_SIGNAL_H -DHAVE_GCC_THREAD_LOCAL_STORAGE
endif
