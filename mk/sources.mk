# sources.mk - lists of sources, generated files, objects and results.

# ---- declarations and generated sources ----
DECLARATIONS := $(wildcard src/ops/*.lua)
SCRIPTED := $(wildcard lib/ops/*.lua)
GROUPS := $(patsubst src/ops/%.lua,%,$(DECLARATIONS))
GENERATORS := $(wildcard scripts/gen/*.lua scripts/gen/*.txt)
GEN_AUTOGRAD := $(GROUPS:%=$(GEN)/ops_autograd_%.c)
GEN_BIND := $(GROUPS:%=$(GEN)/bind_%.c)
GEN_CALLS := $(GROUPS:%=$(GEN)/calls_%.c) $(GEN)/calls_table.c
KERNEL_FAMILIES := activations arithmetic compare functions gamma rare special
GEN_HEADERS := $(addprefix $(GEN)/,ltensor_ops.h ltensor_ops.hpp formula_functions.h pointwise_ops.h kernel_families.h backend_hash.h bind_ops.h \
               $(patsubst %,kernels_%.h,$(KERNEL_FAMILIES) complex))
# backend_hash.h has the hash of these headers.
GEN_HASHED := $(addprefix src/core/,devices/backend.h devices/user_kernel.h devices/array.h devices/nn_args.h devices/cell.h \
              devices/optim_rules.h devices/reduction.h iter.h random/random.h)
GEN_STAMP := $(GEN)/.stamp
SLEEF_NAMES := $(GEN)/sleef_names
# arm64 calls SLEEF through functions that save registers.
SLEEF_CALLS := $(if $(filter aarch64,$(MACHINE)),$(GEN)/sleef_calls.c)

# ---- the library ----
# The services of the system: the files of its folder, and those of posix for the other services.
SYSTEM ?= posix
SYSTEM_SRC := $(foreach f,$(notdir $(wildcard src/core/system/posix/*.c)),\
                $(firstword $(wildcard $(addprefix src/core/system/,$(SYSTEM)/$f posix/$f))))
CORE_SRC := $(filter-out src/core/minimal/% src/core/cpu/vector/% src/core/system/%,\
            $(wildcard $(addprefix src/core/,*.c */*.c */*/*.c)) $(wildcard src/comm/*.c)) $(SYSTEM_SRC)
CORE_OBJ := $(CORE_SRC:%.c=$(OBJ)/%.o) $(OBJ)/gen/ops_pointwise.o $(GEN_AUTOGRAD:$(GEN)/%.c=$(OBJ)/gen/%.o) \
            $(GEN_CALLS:$(GEN)/%.c=$(OBJ)/gen/%.o) $(SLEEF_CALLS:$(GEN)/%.c=$(OBJ)/gen/%.o)
VECTOR_SRC := $(wildcard src/core/cpu/vector/*/*.c)
VECTOR_OBJ := $(foreach i,$(ISAS),$(VECTOR_SRC:%.c=$(OBJ)/%.$(i).o))

# ---- the binding and the program ----
LUA_SRC := $(wildcard src/lua/*.c src/lua/*/*.c)
BIND_OBJ := $(LUA_SRC:%.c=$(LUA_OBJ)/%.o) $(GEN_BIND:$(GEN)/%.c=$(LUA_OBJ)/gen/%.o) $(LUA_OBJ)/gen/embedded_lib.o
# Programs into which everything is linked (WASM, STATIC) have neither readline nor OpenBLAS. repl/plain replaces the line
# editor; repl/web is the part for WebAssembly, which replaces the files that need a terminal or much memory.
LINKED := $(or $(WASM),$(STATIC))
REPL_ABSENT := $(if $(LINKED),repl/edit/%.c repl/system/recorder.c,repl/plain/%) \
               $(if $(WASM),repl/system/shell.c repl/program/allocator.c,repl/web/%)
REPL_SRC := $(filter-out $(REPL_ABSENT),$(wildcard repl/*.c repl/*/*.c))
REPL_OBJ := $(REPL_SRC:%.c=$(LUA_OBJ)/%.o) $(LUA_OBJ)/gen/embedded_repl.o
# No program loads lib/meta: editors read it, and the prompt's help reads its text.
LIB_LUA := $(sort $(shell find lib -name '*.lua' -print))
REPL_LUA := $(sort $(filter-out $(REPL_ABSENT),$(wildcard repl/*.lua repl/*/*.lua)))

# ---- the CUDA backends ----
CU_SRC := $(wildcard $(addprefix src/cuda/,kernels/*/*.cu libraries/*.cu libraries/*/*.cu runtime/*.cu))
# Files without a kernel or a device function: C++ with CUDA's headers, in a quarter of the time of nvcc's passes.
HOST_CU_SRC := $(filter-out src/cuda/runtime/graph.cu src/cuda/runtime/report.cu,\
               $(wildcard $(addprefix src/cuda/,libraries/*.cu libraries/*/*.cu runtime/*.cu))) \
               $(addprefix src/cuda/kernels/compile/,source.cu programs.cu cache.cu user_kernel.cu) \
               $(addprefix src/cuda/kernels/,nn/network_cudnn.cu products/convolution_algorithms.cu \
               products/convolution_cudnn.cu products/csr.cu products/matmul.cu)
CUDA_OBJ := $(CU_SRC:%.cu=$(OBJ)/%.cuda.o)
CUDA12_OBJ := $(CU_SRC:%.cu=$(OBJ)/%.cuda12.o)
CUDA_BACKENDS := $(if $(filter yes,$(CUDA)),$(BUILD)/libltensor_cuda.so \
                 $(if $(NVCC12),$(BUILD)/libltensor_cuda12.so))
SIM_CU_SRC := $(filter-out src/cuda/libraries/opening/%,$(CU_SRC))
CHECK_ENTRY := src/cuda/sim/check/entry.cpp
# The switch between fibers: Boost.Context's, or the one for WebAssembly. small_blas replaces OpenBLAS; linked
# registers the simulator as a library inside of the program.
SIM_SWITCH := $(if $(WASM),wasm,boost)
SIM_SRC := $(filter-out $(CHECK_ENTRY) $(if $(LINKED),src/cuda/sim/cusolver.cpp src/cuda/sim/exit_status.cpp),\
           $(wildcard $(addprefix src/cuda/sim/,*.cpp cudnn/*.cpp check/*.cpp user/*.cpp $(SIM_SWITCH)/*.cpp \
           $(if $(LINKED),small_blas/*.cpp linked/*.cpp))))
SIM_RUNTIME_OBJ := $(SIM_SRC:%.cpp=$(OBJ)/%.o)
SIM_OBJ := $(SIM_CU_SRC:%.cu=$(OBJ)/%.sim.o) $(SIM_RUNTIME_OBJ)
# The simulator with checks: each memory access of a kernel is checked.
CHECK_OBJ := $(CHECK_ENTRY:%.cpp=$(OBJ)/%.o)
CHECKED_OBJ := $(SIM_CU_SRC:%.cu=$(OBJ)/%.checked.o) $(SIM_RUNTIME_OBJ) $(CHECK_OBJ)

# ---- plugins ----
# Engines of torch.distributed: src/comm/mpi with the headers of each MPI that has its compiler
# installed.
MPIS := $(if $(CROSS),,$(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m) 2>/dev/null),$(m))))
ENGINES := $(MPIS:%=$(BUILD)/libltensor_%.so)
# The plugin for Jupyter's protocol, if the headers of ZeroMQ and Nettle are installed. The program
# opens it for --kernel.
JUPYTER := $(if $(shell $(PKG_CONFIG) --exists libzmq nettle 2>/dev/null && echo yes),$(BUILD)/libltensor_jupyter.so)
JUPYTER_OBJ := $(patsubst %.c,$(LUA_OBJ)/%.o,$(wildcard repl/jupyter/plugin/*.c))

# ---- results ----
# Programs that use the libraries of a build for another Lua find the generated headers in its folder.
SHARED_GEN := $(if $(filter-out $(CORE),$(BUILD)),$(BUILD)/gen)
PROGRAM := $(BUILD)/ltensor
TARGETS := $(PROGRAM) $(BUILD)/torch.so $(BUILD)/libltensor.so $(BUILD)/libltensor.a \
           $(BUILD)/libltensor_lua.so $(BUILD)/libltensor_lua.a $(BUILD)/libltensor_repl.a \
           $(BUILD)/libltensor_sim.so $(CUDA_BACKENDS) $(ENGINES) $(JUPYTER) $(GEN)/ltensor.json $(SHARED_GEN) \
           $(BUILD)/ltensor-ffi.lua
# The headers of libltensor.so; those of libltensor_lua.so and libltensor_repl.so are in link.mk.
CORE_HEADERS := $(filter-out %_lua.h %_script.h %_prompt.h %_plugin.h,$(wildcard include/ltensor*.h))
PUBLIC_HEADERS := $(CORE_HEADERS) $(GEN)/ltensor_ops.h
SONAME := 0
