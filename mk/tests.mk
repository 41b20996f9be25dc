# tests.mk - test programs, test suites, fuzzing, mutants and checks of the sources.

# ---- programs ----
# The checker of kernels and the sanitizers define the same functions.
NO_TESTS := $(if $(SANITIZE),tests/core/sim_check_test.cpp)
C_TESTS := $(patsubst tests/core/%.c,$(BUILD)/tests/%,$(wildcard tests/core/*_test.c)) \
           $(patsubst tests/core/%.cpp,$(BUILD)/tests/%,$(filter-out $(NO_TESTS),$(wildcard tests/core/*_test.cpp)))
JUPYTER_TEST := $(JUPYTER:$(BUILD)/%.so=$(BUILD)/tests/jupyter_wire_test)
TEST_TOOLS := $(patsubst tests/tools/%.c,$(BUILD)/tests/%,$(wildcard tests/tools/*.c))
FUZZ_TOOLS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz_%,$(wildcard tests/fuzz/*.c))

.PHONY: test-programs python-host
test-programs: $(C_TESTS) $(TEST_TOOLS) $(JUPYTER_TEST) $(BUILD)/tests/prompt_host $(if $(CROSS),,python-host)

# The tests of internal functions link a library that exports all symbols.
OPEN_LIBRARY := $(BUILD)/tests/lib/libltensor_open.so
TEST_LIBRARY := $(if $(STATIC),$(OBJ)/ltensor.o,$(OPEN_LIBRARY))
TEST_LINK = $(if $(STATIC),,-L$(@D)/lib -Wl$(COMMA)-rpath$(COMMA)'$$ORIGIN/lib' -lltensor_open) $(CMOCKA) $(CORE_LIBS)
CMOCKA ?= -lcmocka
$(OPEN_LIBRARY): $(OBJ)/ltensor.o
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(CC) -shared $(SAN) -Wl,-soname,$(@F) -Wl,-Bsymbolic -o $@ $< $(CORE_LIBS)

$(BUILD)/tests/%: tests/core/%.c $(TEST_LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MF $@.d $(filter %.c %.o,$^) -o $@ $(TEST_LINK)

$(BUILD)/tests/%_lua_test: tests/core/%_lua_test.c $(TEST_LIBRARY) $(LUA_OBJ)/ltensor_lua.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Isrc/lua $(LUA_CFLAGS) -MF $@.d $(filter %.c %.o,$^) -o $@ $(LUA_STATIC) $(TEST_LINK)

# The objects of the library but thread.o, which is compiled as THREADS=no does.
$(OBJ)/no_threads/thread.o: src/core/context/thread.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -DLT_NO_THREADS -c $< -o $@
$(BUILD)/tests/no_threads_test: tests/core/no_threads_test.c $(OBJ)/no_threads/thread.o \
  $(filter-out %/context/thread.o,$(CORE_OBJ)) $(VECTOR_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MF $@.d $(filter %.c %.o,$^) -o $@ $(CMOCKA) $(CORE_LIBS)

SIM_INCLUDES := -Isrc/cuda/sim/include -Isrc/cuda
$(BUILD)/tests/%: tests/core/%.cpp $(SIM_RUNTIME_OBJ)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS_ALL) -MF $@.d $(SIM_INCLUDES) -x c++ $< -x none -o $@ $(SIM_RUNTIME_OBJ) -lcmocka $(SIM_LIBS)

$(BUILD)/tests/sim_check_test: tests/core/sim_check_test.cpp $(SIM_RUNTIME_OBJ) $(CHECK_OBJ)
	@mkdir -p $(@D)
	$(CHECK_CXX) $(CXXFLAGS_ALL) $(CHECK_FLAGS) -MF $@.d -MT $@ $(SIM_INCLUDES) -c $< -o $@.o
	$(CHECK_CXX) -o $@ $@.o $(SIM_RUNTIME_OBJ) $(CHECK_OBJ) -lcmocka $(SIM_LIBS)

$(BUILD)/tests/jupyter_wire_test: tests/jupyter/wire_test.c $(filter-out %/module.o,$(JUPYTER_OBJ))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Irepl/jupyter/plugin -MF $@.d $(filter %.c %.o,$^) -o $@ \
	  -lzmq -lnettle -lcjson -lcmocka -lpthread

HOST_LIBS := $(addprefix $(BUILD)/libltensor,_repl.a _lua.a .a)
$(BUILD)/tests/prompt_host: tests/repl/prompt_host.c $(HOST_LIBS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LUA_CFLAGS) -MF $@.d $< -o $@ $(HOST_LIBS) $(PROGRAM_LIBS)

# The tarball's test host finds its libraries in the same way as the tarball's program.
$(BUILD)/dist/prompt_host: tests/repl/prompt_host.c $(HOST_LIBS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LUA_CFLAGS) -MF $@.d $< -o $@ -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../../lib' \
	  $(HOST_LIBS) $(PROGRAM_LIBS)

# A program that embeds Python and exchanges tensors with NumPy. Built if Python's headers and NumPy
# are installed.
PYTHON_CONFIG ?= python3-config
PYTHON_PROGRAM = $(shell $(PYTHON_CONFIG) --prefix)/bin/python3
PYTHON_INCLUDES = $(addprefix -isystem,$(patsubst -I%,%,$(shell $(PYTHON_CONFIG) --includes)))
LUA_ARCHIVES := $(BUILD)/libltensor_lua.a $(BUILD)/libltensor.a
python-host: $(LUA_ARCHIVES)
	@if $(PYTHON_CONFIG) --embed --ldflags >/dev/null 2>&1 && \
	  "$$($(PYTHON_CONFIG) --prefix)"/bin/python3 -c 'import numpy' 2>/dev/null; then \
	  $(MAKE) --no-print-directory $(BUILD)/tests/python_host; fi

$(BUILD)/tests/python_host: tests/interop/python_host.c $(LUA_ARCHIVES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LUA_CFLAGS) $(PYTHON_INCLUDES) -DPYTHON_PROGRAM='"$(PYTHON_PROGRAM)"' -MF $@.d $< -o $@ \
	  $(LUA_ARCHIVES) $(LUA_STATIC) $(CORE_LIBS) $(shell $(PYTHON_CONFIG) --embed --ldflags)

TOOL_FLAGS = -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(SAME_BYTES)
$(BUILD)/tests/fuzz_%: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOL_FLAGS) $< -o $@ -lutil

$(BUILD)/tests/%: tests/tools/%.c tests/tools/screen.h
	@mkdir -p $(@D)
	$(CC) $(TOOL_FLAGS) $< -o $@ -lutil

# ---- suites ----
# `make demo` and `make test` work on a bare machine: scripts/deps.sh installs the missing packages
# and lists them; then a new make, which finds them, uses all cores unless -j was passed.
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE = $(MAKE) $(JOBS) --no-print-directory
RUN_TESTS = BUILD=$(BUILD) sh tests/run.sh
# A single spec does not need nvcc's objects.
SPEC_TARGETS = $(filter-out $(CUDA_BACKENDS),$(TARGETS)) $(TEST_TOOLS) $(BUILD)/tests/prompt_host

##@ Tests
## deps: install the packages that building and testing needs
## test [SUITE=ci]: run all tests, on the CPU and on simulated GPUs, or the tests of .ci/run
## test LUA_NAME=lua5.3 [SUITE=lua]: run the C tests and the specs under another Lua, or a choice of specs
## test SPEC=reductions [GPUS=0|1|2|real] [FILTER=title]: run one spec, or one of its tests
## check: run the fast tests
## lint: check Lua, shell scripts, formatting, the manual page and names in the documentation
## layers: check the direction of includes and of references between objects
## ci: run the checks of .ci/run, for a commit
## ci-full: run all checks, nvcc and whole sweeps included, for a night
## cuda-check: compile with nvcc the CUDA sources that changed since .ci/cuda-checked, and write that file
## demo: build, then run the notebook about GPUs
.PHONY: deps demo test check ci ci-full cuda-check layers lint format
deps:
	@sh scripts/deps.sh test

demo:
	@sh scripts/deps.sh
	@$(SUBMAKE) all
	$(PROGRAM) --cells docs/notebooks/use-gpu.md
	$(PROGRAM) --sim-gpus 2 --cells docs/notebooks/use-gpu.md

test:
	@LUA_NAME=$(LUA_NAME) sh scripts/deps.sh test
ifdef SPEC
	@$(SUBMAKE) $(SPEC_TARGETS)
	@$(RUN_TESTS) spec
else
	@$(SUBMAKE) $(TEST_TARGETS)
	@$(RUN_TESTS) $(SUITE)
endif
SUITE ?= full
# SUITE=lua: the parts that depend on Lua.
LUA_TARGETS := $(PROGRAM) $(BUILD)/torch.so $(BUILD)/libltensor_sim.so $(TEST_TOOLS) $(filter %_lua_test,$(C_TESTS))
TEST_TARGETS := $(if $(filter lua,$(SUITE)),$(LUA_TARGETS),all checked test-programs $(if $(SHARED_GEN),,layers))
export SPEC GPUS FILTER

check: all test-programs $(if $(SHARED_GEN),,layers)
	@$(RUN_TESTS) quick

ci:
	@.ci/run
ci-full:
	@.ci/run full

# The simulator's objects have the lists of the files that each source includes.
CHANGED_OBJ = $$(BUILD=$(BUILD) sh scripts/cuda_changed.sh list | sed 's|\(.*\)\.cu$$|$(OBJ)/\1.cuda.o|')
cuda-check: $(SIM_OBJ)
	+@objects="$(CHANGED_OBJ)"; [ -z "$$objects" ] || $(SUBMAKE) CUDA=$(CUDA) $$objects
	@BUILD=$(BUILD) sh scripts/cuda_changed.sh record

layers: $(CORE_OBJ) $(VECTOR_OBJ) $(BIND_OBJ) $(SIM_OBJ)
	@NM=$(NM) $(LUA) scripts/layers.lua $(BUILD)

# A language server, if installed, checks the annotations for editors.
LUA_SERVER ?= $(shell command -v emmylua_ls || command -v lua-language-server)
lint: $(BUILD)/shell/ltensor.1 docs $(BUILD)/ltensor-ffi.lua
	@sh packaging/release.sh check
	luacheck -q .
	lua5.4 scripts/prose.lua
	lua5.4 scripts/messages.lua
	$(LUA) scripts/sizes.lua
	$(LUA) scripts/tuning.lua
	$(LUA) scripts/identifiers.lua
	$(LUA) scripts/licences.lua $(BUILD)
	clang-format-14 --dry-run -Werror $(FORMATTED)
	$(if $(LUA_SERVER),LUA_SERVER=$(LUA_SERVER) python3 tests/editors/check.py $(BUILD)/meta tests/editors/uses.lua,\
	  @echo "lint: annotations were not checked: install emmylua_ls or lua-language-server, or set LUA_SERVER=path")
	shellcheck -x $$(git ls-files '*.sh') .ci/run
	mandoc -T lint $<
	$(LUA) scripts/site/names.lua $(BUILD)

## format: format all C, C++ and CUDA code
# Do not format the headers of released versions under tests/abi.
FORMATTED = $$(git ls-files '*.c' '*.h' '*.hpp' '*.cu' '*.cuh' '*.cpp' '*.inc' ':!tests/abi')
format:
	clang-format-14 -i $(FORMATTED)

##@ More tests
## test-asan: the C tests and the suite under AddressSanitizer and UBSan
## test-tsan: the tests of contexts, streams and ranks under ThreadSanitizer
## test-checks [SEEDS="1 2"] [SPECS="optim"]: the suite on 2 simulated GPUs with each access checked; hours
## test-cuda: the suite on the real GPU
## test-hosts [HOSTS="nginx cpp"] [RUNS=20] [INSTALL=yes]: the examples of docs/guide/hosts.md
## fuzz [MINUTES=1] [SEED=n] [FUZZERS="calls keys"]: hostile calls, damaged files, random typing
## mutants [N=20] [SEED=n] [KIND=careless] [FILES=...]: edits of the source that no test notices
## soak [COUNT=n]: a million operations of thirty kinds in constant memory
## soak-ranks: two ranks exchange more than 2^31 elements on each MPI; 14 GiB of memory
## check-vendor LTENSOR_VENDOR=dir: our declarations of NVIDIA's libraries beside NVIDIA's headers
## abi-baseline: record the ABI of this version
.PHONY: fuzz mutants test-asan test-checks test-tsan test-cuda test-hosts check-vendor soak soak-ranks abi-baseline
TSAN_TESTS := sim_test threads_test threads_config_test fork_test random_threads_test context_test context_stop_test context_lua_test \
              own_test model_lua_test
test-asan:
	@sh scripts/deps.sh test
	@$(SUBMAKE) BUILD=build-asan SANITIZE=address,undefined CUDA=no OPT="-O1 -g" all test-programs
	@BUILD=build-asan sh tests/run.sh asan

test-checks:
	@sh scripts/deps.sh test
	@$(SUBMAKE) all checked test-programs
	@$(RUN_TESTS) checks

# Tests of threads: the program, the simulator and the tests of streams.
test-tsan:
	@CC=clang sh scripts/deps.sh test
	@$(MAKE) --no-print-directory BUILD=build-tsan SANITIZE=thread CUDA=no OPT="-O1 -g" CC=clang CXX=clang++ \
	  build-tsan/ltensor build-tsan/libltensor_sim.so $(ENGINES:$(BUILD)/%=build-tsan/%) \
	  $(TSAN_TESTS:%=build-tsan/tests/%)
	@BUILD=build-tsan sh tests/run.sh tsan

test-cuda: all test-programs
	@$(RUN_TESTS) cuda

# Hosts with Lua 5.3 need a module of their own.
test-hosts: $(BUILD)/torch.so $(BUILD)/ltensor
	+@! $(PKG_CONFIG) --exists lua5.3 || $(SUBMAKE) LUA_NAME=lua5.3 CUDA=no build-lua5.3/torch.so
	@BUILD=$(BUILD) RUNS="$(or $(RUNS),1)" INSTALL="$(INSTALL)" MEASURE="$(MEASURE)" tests/hosts/run.sh $(HOSTS)

fuzz: all $(FUZZ_TOOLS)
	@BUILD=$(BUILD) MINUTES=$(MINUTES) SEED=$(SEED) FUZZERS="$(FUZZERS)" sh tests/fuzz/run.sh

mutants: all test-programs
	@$(LUA) tests/mutants/run.lua $(BUILD) $(or $(N),20) $(or $(SEED),$(shell date +%s)) $(or $(KIND),both) $(FILES)

check-vendor: $(GEN_STAMP) $(FUSED_SOURCES)
	@BUILD=$(BUILD) sh tests/vendor/check.sh

soak: all
	@LUA_PATH="tests/lua/?.lua;$${LUA_PATH-;}" $(PROGRAM) tests/soak/soak.lua $(COUNT)

soak-ranks: all
	@BUILD=$(BUILD) sh tests/soak/large_ranks.sh

abi-baseline: all
	@BUILD=$(BUILD) sh scripts/abi_baseline.sh $(VERSION)
