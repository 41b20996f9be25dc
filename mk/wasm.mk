# wasm.mk - `make wasm`: the program, with the simulator of GPUs and the prompt of web pages, for WebAssembly.
#
# It calls make again with WASM=1, Emscripten's compilers and a build folder of its own. There are no threads, no
# processes and no shared libraries. The simulator is linked into the program; a block's threads are fibers by Asyncify
# (src/cuda/sim/wasm/switch.cpp).

WASM_BUILD := $(BUILD)/wasm

##@ WebAssembly
## wasm: build/wasm/ltensor.js, the program for a browser without a server and for node (scripts/deps.sh wasm)
.PHONY: wasm
wasm:
	@[ -f $(LIBRARY_SOURCES)/complete ] || sh scripts/deps.sh wasm
	EM_COMPILER_WRAPPER=$(if $(findstring ccache,$(shell command -v $(CC))),ccache) \
	$(MAKE) WASM=1 SYSTEM=static BUILD=$(WASM_BUILD) CLANG=clang CC=emcc CXX=em++ AR=emar OBJCOPY=true CUDA=no THREADS=no ASSERT=no WERROR= \
	  OPT=-O2 CHEAP_OPT=-O1 SIM_OPT=-O1 LUA_CFLAGS= PACKED= ONEDNN=none $(WASM_BUILD)/ltensor.js

## test-wasm: run the GPU chapter in headless Chromium, with 0, 1 and 2 simulated GPUs, and specs in node
.PHONY: test-wasm
test-wasm: wasm
	node tests/wasm/notebook.js docs/notebooks/use-gpu.md
	$(if $(wildcard $(BUILD)/site/html/play.html),node tests/wasm/site.js $(BUILD)/site/html)
	sh tests/wasm/specs.sh $(WASM_BUILD)

ifdef WASM
LIBRARY_FLAGS := -msimd128
# The options of GCC that clang lacks are ignored.
CPPFLAGS += -Qunused-arguments -fno-pic -msimd128 $(LIBRARY_INCLUDES)
# Only these files catch exceptions: of the simulator's runtime, and bad_alloc of the backend's. Elsewhere they would
# turn each call that may throw into a call through JavaScript.
$(filter $(OBJ)/src/cuda/runtime/%,$(SIM_OBJ)) $(OBJ)/src/cuda/sim/launch.o: private CXXFLAGS += -fexceptions
# The checks of users' kernels identify a thread by its pointer; there is one thread, and no compiler for these kernels.
$(filter $(addprefix $(OBJ)/src/cuda/sim/,check/% user/%),$(SIM_OBJ)): private CXXFLAGS += -D__builtin_thread_pointer=pthread_self

WASM_OBJ := $(CORE_OBJ) $(VECTOR_OBJ) $(BIND_OBJ) $(REPL_OBJ) $(SIM_OBJ) $(LIBRARY_OBJ)
WASM_LINK := -O1 -fexceptions -g2 -sMODULARIZE=1 -sEXPORT_NAME=createLtensor -sINVOKE_RUN=0 -sEXIT_RUNTIME=1 \
  -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=2MB -sFORCE_FILESYSTEM=1 -lnodefs.js \
  -sENVIRONMENT=web,worker,node --js-library src/cuda/sim/wasm/asyncify.js \
  -sEXPORTED_FUNCTIONS=_main,_lt_page_open,_lt_page_run,_lt_page_check \
  -sEXPORTED_RUNTIME_METHODS=callMain,ccall,FS,NODEFS,ENV
$(BUILD)/linked.js: $(WASM_OBJ)
	@echo '  LINK $@'
	$(CXX) $(WASM_LINK) -o $@ $^

# Asyncify instruments the functions that reach a switch of fibers by direct calls, and those of the list, which call a
# kernel by its address.
ASYNCIFY := --asyncify --pass-arg=asyncify-ignore-imports --pass-arg=asyncify-ignore-indirect \
  --pass-arg=asyncify-addlist@*lt_sim::MeetKernel*::run_thread*,lt_sim::Team::live*
WASM_FEATURES := $(addprefix --enable-,simd bulk-memory sign-ext nontrapping-float-to-int mutable-globals)
# One file with the compressed code: a page that is opened as a file can load only scripts.
$(BUILD)/ltensor.js: $(BUILD)/linked.js repl/web/load.js
	@echo '  WASM $@'
	wasm-opt $(WASM_FEATURES) $(ASYNCIFY) -O1 $(BUILD)/linked.wasm -o $(BUILD)/ltensor.wasm
	{ cat $<; printf 'const ltensorCode = "'; gzip -9nc $(BUILD)/ltensor.wasm | base64 -w0; printf '";\n'; \
	  cat repl/web/load.js; } >$@
	@ls -l $@ | awk '{ printf "%s: %.1f MB\n", $$NF, $$5 / 1e6 }'
endif
