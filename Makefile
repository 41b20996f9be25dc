# ltensor - Lua 5.4 with tensors, on CPUs and GPUs.
#
#   make               build/ltensor, build/torch.so, build/libltensor.{so,a}, build/libltensor_lua.{so,a}, the GPU backends
#   make demo          set up what is missing, build, run the GPU chapter's notebook
#   make test          set up, build, run every test (CPU, 1 and 2 simulated GPUs)
#   make check         the fast tests, under 2 minutes
#   make test-asan     the C tests and the suite under AddressSanitizer and UBSan
#   make fuzz        hostile calls, damaged files and random typing for MINUTES=1, from SEED
#   make mutants     N=20 edits of the source, from SEED, in FILES: which of them no test notices
#   make test-tsan     the tests of contexts, of streams and of ranks under ThreadSanitizer
#   make test-checks   the suite on 2 simulated GPUs that look at every access, by SEEDS="1 2 ... 10": hours; SPECS="indexing optim": some of it
#   make soak [COUNT=n] a million operations of thirty kinds, whose memory has to stay flat
#   make soak-ranks    two ranks that exchange tensors of more than 2^31 elements, on each MPI: 14 GiB of memory
#   make bench         the table beside PyTorch's figures, when it is installed
#   make bench-distributed  two ranks beside PyTorch's with gloo and mpi4py's
#   make bench-compile  chains of ops beside PyTorch's Inductor, by $PYTHON, for docs/results; DEVICE=cuda: on a GPU
#   make bench-programs  whole programs, eager and compiled, beside PyTorch's and Inductor's, by $PYTHON, for docs/results; DEVICE=cuda: on a GPU
#   make bench-memory  the memory that training needs, eager and compiled, beside PyTorch's, by $PYTHON, for docs/results
#   make bench-fft     Fourier transforms beside PyTorch's, by $PYTHON, for docs/results
#   make bench-threads  threads of small ops, each in a context of its own, for docs/design
#   make bench-start   size and time of a small static program, beside libtorch's, for docs/results
#   make book          every notebook of docs/book trained in full (hours on a CPU), what they print into build/book; BOOK="03 07" some of them
#   make docs          a page per group of ops under build/docs, editors' annotations under build/meta
#   make site          the documentation as a site that needs no server, under build/site/html
#   make install       into PREFIX (default /usr/local)
#   make dist          a tarball that runs on any x86-64 Linux with glibc 2.36, under dist/
#   make test-dist     the same, unpacked and run where nothing else is installed
#   make deb           Debian's packages, under dist/; that of the CUDA backend where nvcc is
#   make test-deb      the same, installed and used in a bare Debian that debootstrap makes (root and a network)
#   make test-tutorial what make deb has left, and every command of docs/guide/start.md, in a bare Debian
#   make image         an image for docker and podman of what make deb has left, under dist/ (root and a network)
#   make test-same     two builds in two folders give the same bytes: libraries, tarball, packages
#   make test-cuda     the suite on the real GPU
#   make bench-cuda    what the real GPU does, beside PyTorch's figures, into docs/results/
#   make ptx-report    what nvcc made of the kernels, for PTX_ARCHS="75 90 100": registers, spills, accesses, estimated bandwidth
#   make check-vendor  what is declared of cuBLAS, cuSOLVER, cuFFT, cuSPARSE, cuDNN, NVRTC and NCCL, beside their headers and libraries in LTENSOR_VENDOR=dir
#   make lint          luacheck, shellcheck and mandoc find nothing to say
#   make layers        no include and no reference between objects goes against the arrows of the design
#
#   make MINIMAL=1     the libraries with the ops of OPS=path alone, in build/minimal; also make MINIMAL=1 install
#   make abi-baseline  keeps what this version promises to programs that are built with it
#
# Options: BUILD=dir, CUDA=no, THREADS=no (loops run on the calling thread), CUDA_ARCHS="75 90 120" (else those of the GPUs here, or 90), NVCC12=path (a second backend, for drivers older than R580), LIBEDIT=1, WERROR=1, SANITIZE=address,undefined, STRIP=no (of installed files),
# CROSS=aarch64-linux-gnu- (for another machine: docs/guide/install.md; RUN=qemu-aarch64-static runs its programs), LIBDIR=lib64 (where under PREFIX libraries are installed), RPATH=no (of libraries where the loader looks anyway), CPPFLAGS, CFLAGS, CXXFLAGS, LDFLAGS

VERSION := $(shell sed -n 's/^.define LT_VERSION  *"\(.*\)"/\1/p' include/ltensor.h)
BUILD ?= build
PREFIX ?= /usr/local
LIBDIR ?= lib
LUA ?= lua5.4
# Lua's library and its file for pkg-config: "lua" where there is no other version (Fedora).
LUA_NAME ?= lua5.4
GEN := $(BUILD)/gen
OBJ := $(BUILD)/obj

# The compiler is version 12 at least; where gcc is an older one (Ubuntu 22.04), the one beside it.
ifeq ($(origin CC),default)
CC := $(CROSS)gcc$(if $(filter 8 9 10 11,$(firstword $(subst ., ,$(shell $(CROSS)gcc -dumpversion 2>/dev/null)))),-12)
endif
ifeq ($(origin CXX),default)
CXX := $(CROSS)g++$(if $(filter 8 9 10 11,$(firstword $(subst ., ,$(shell $(CROSS)g++ -dumpversion 2>/dev/null)))),-12)
endif
ifeq ($(origin AR),default)
AR := $(CROSS)ar
endif
ifeq ($(origin LD),default)
LD := $(CROSS)ld
endif
OBJCOPY ?= $(CROSS)objcopy
NM ?= $(CROSS)nm
# Of another machine's libraries, as Debian's multiarch has them.
PKG_CONFIG ?= $(if $(CROSS),PKG_CONFIG_LIBDIR=/usr/lib/$(CROSS:-=)/pkgconfig:/usr/share/pkgconfig )pkg-config
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))

WARN := -Wall -Wextra $(if $(WERROR),-Werror)
OPT ?= -O2 -g
# Of what is generated, and of simulated GPUs, which are for tests: less optimized in half the time, unless OPT says how.
CHEAP_OPT := $(if $(filter file,$(origin OPT)),-O1 -g1)
SAN := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer)
# Simulated kernels are thousands of template instances: optimized and with every check of UBSan they take
# minutes a file. AddressSanitizer finds what the checks that are left out look for.
SIM_SAN := $(if $(SANITIZE),-O0 -g1 $(addprefix -fno-sanitize=,null alignment vptr object-size))
LUA_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LUA_NAME) 2>/dev/null || echo -I/usr/include/$(LUA_NAME))
# What the binding needs besides the library.
LUA_LIBS := -lz -lcjson -ldl -lm
LUA_STATIC := $(shell $(PKG_CONFIG) --variable=libdir $(LUA_NAME) 2>/dev/null || echo /usr/lib)/lib$(LUA_NAME).a
# Sources of ours include the prototypes of the ops that they call (op/<name>.h), not ltensor.h's of all.
INCLUDES := $(if $(filter no,$(THREADS)),-DLT_NO_THREADS )-DLT_OPS_BY_NAME -Iinclude -Isrc/core -I$(GEN)
# Who sets SOURCE_DATE_EPOCH gets the same bytes in whatever folder he builds: files are named from that of the sources. What has a date
# has this one, or else the last commit's, or that of the file which has the version.
SAME_BYTES := $(if $(SOURCE_DATE_EPOCH),-ffile-prefix-map=$(CURDIR)=.)
EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),$(shell date -u -r include/ltensor.h +%s))
# What a library exports is chosen as it is linked (scripts/symbols.lua); inside it a call goes where it says. A section for each
# function: a program with a static library takes those that it reaches.
CFLAGS_ALL = -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(SAN) -fPIC -fno-semantic-interposition -ffunction-sections \
             -fdata-sections -fopenmp-simd -ffp-contract=off -MMD -MP $(SAME_BYTES) $(INCLUDES) $(CPPFLAGS) $(CFLAGS)
CXXFLAGS_ALL = -std=c++17 -D_GNU_SOURCE $(OPT) $(WARN) $(SAN) -fPIC -fvisibility=hidden -MMD -MP \
               $(SAME_BYTES) $(INCLUDES) $(CPPFLAGS) $(CXXFLAGS)
# Nothing is thrown through core and its kernels: their tables for unwinding, a twentieth of the program, go where debuggers look for them, into
# the debug information. The binding keeps its own, for a Lua that was compiled as C++. Sanitizers print where they are.
NO_TABLES := $(if $(SANITIZE),,-fno-asynchronous-unwind-tables)
# Addresses in tables of constants that only move with the program, 24 bytes each otherwise: packed, which glibc reads from 2.36 on.
PACK := -Wl,-z,pack-relative-relocs
PACKED := $(if $(shell grep -sl GLIBC_ABI_DT_RELR "`$(CC) -print-file-name=libc.so.6`"),$(if $(shell echo | \
  $(CC) $(LDFLAGS) -shared $(PACK) -x c - -o /dev/null 2>&1),,$(PACK)))
# oneDNN, libpng and TurboJPEG are not among them: core/cpu/products/dnnl_plan.c and core/files/image.c open them when they are first needed.
# Distributions name the first after its version or a part of it, so the name is the library's own; none: built without.
ONEDNN := $(shell readelf -d "$$($(CC) -print-file-name=libdnnl.so)" 2>/dev/null | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
CORE_LIBS := -lsleef -lz -lcjson -lm -ldl -lpthread
READLINE_LIBS := $(if $(LIBEDIT),-ledit,-lreadline)

# ---- the CUDA Toolkit, when there is one ------------------------------------------------------------
NVCC ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
CUDA ?= $(if $(NVCC),yes,no)
# The toolkit of CUDA 12, for drivers that are older than R580: make NVCC12=/usr/local/cuda-12.9/bin/nvcc
NVCC12 ?=
# Of the GPUs in this machine; 90 where it has none. A release is for all of them.
present_archs := $(if $(filter yes,$(CUDA)),$(sort $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -E '^[0-9]+\.[0-9]+$$'))))
CUDA_ARCHS ?= $(if $(filter dist test-dist deb,$(MAKECMDGOALS)),75 80 86 89 90 100 120,$(or $(present_archs),90))
newest_arch := $(lastword $(CUDA_ARCHS))
GENCODE := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
           -gencode arch=compute_$(newest_arch),code=compute_$(newest_arch)
# Instances of one template are alike: compressed for size they take a thirtieth (CUDA 12.4 and later).
COMPRESS := $(if $(filter yes,$(CUDA)),$(if $(findstring --compress-mode,$(shell $(NVCC) --help 2>&1)),--compress-mode=size))
# -O is of the host's code, which launches; a kernel's is -O3 in any case.
NVCCFLAGS := -std=c++17 -O1 -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra $(INCLUDES) $(COMPRESS) \
             $(if $(WERROR),-Werror all-warnings -Xcompiler -Werror) $(GENCODE) --threads 2

# ---- sources ------------------------------------------------------------------------------------------
DECLARATIONS := $(wildcard src/ops/*.lua)
SCRIPTED := $(wildcard lib/ops/*.lua)
GROUPS := $(patsubst src/ops/%.lua,%,$(DECLARATIONS))
GENERATORS := $(wildcard scripts/gen/*.lua)
GEN_AUTOGRAD := $(GROUPS:%=$(GEN)/ops_autograd_%.c)
GEN_BIND := $(GROUPS:%=$(GEN)/bind_%.c)
GEN_CALLS := $(GROUPS:%=$(GEN)/calls_%.c) $(GEN)/calls_table.c
KERNEL_FAMILIES := activations arithmetic compare functions gamma rare special
GEN_HEADERS := $(addprefix $(GEN)/,ltensor_ops.h pointwise_ops.h kernel_families.h backend_hash.h bind_ops.h \
               $(patsubst %,kernels_%.h,$(KERNEL_FAMILIES) complex))
# Headers that the hash of backend_hash.h is of.
GEN_HASHED := $(addprefix src/core/,devices/backend.h devices/cell.h devices/optim_rules.h devices/reduction.h iter.h random/random.h)
GEN_STAMP := $(GEN)/.stamp
SLEEF_NAMES := $(GEN)/sleef_names

CORE_SRC := $(filter-out src/core/minimal/% src/core/cpu/vector/%,$(wildcard $(addprefix src/core/,*.c */*.c */*/*.c)) $(wildcard src/comm/*.c))
CORE_OBJ := $(CORE_SRC:%.c=$(OBJ)/%.o) $(OBJ)/gen/ops_pointwise.o $(GEN_AUTOGRAD:$(GEN)/%.c=$(OBJ)/gen/%.o) \
            $(GEN_CALLS:$(GEN)/%.c=$(OBJ)/gen/%.o)
# Vector kernels: every file of src/core/cpu/vector is compiled once per instruction set.
VECTOR_SRC := $(wildcard src/core/cpu/vector/*/*.c)
# Elsewhere the baseline is what every processor has, NEON with arm64.
ISA_FLAGS_baseline := $(if $(filter x86_64,$(MACHINE)),-msse2)
ISA_FLAGS_avx2 := -mavx2 -mfma -mf16c
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mf16c -mprefer-vector-width=512
ISAS := baseline $(if $(filter x86_64,$(MACHINE)),avx2 avx512)
VECTOR_OBJ := $(foreach i,$(ISAS),$(VECTOR_SRC:%.c=$(OBJ)/%.$(i).o))
# With sanitizers the optimizer takes minutes over one of these files. "omp simd" vectorizes without -O3, whose other passes take twice the
# time for nothing that could be measured, once arrays of accumulators are unrolled into registers (-fpeel-loops), branches that do not
# change taken out of loops (-funswitch-loops) and formulas put into them; where the optimizer has moved a variable to is not worth a quarter of it. Other compilers than GCC have other names for all this.
VECTOR_GCC := -O2 -falign-loops=32 -ftree-vectorize -fvect-cost-model=dynamic -fpeel-loops -funswitch-loops --param=max-inline-insns-single=200 -fno-var-tracking-assignments
VECTOR_FLAGS := $(if $(SANITIZE),-O1,$(if $(findstring clang,$(CC)),-O3,$(VECTOR_GCC))) -fno-math-errno -fno-trapping-math -Wno-psabi
# What a vector loop leaves over stays a loop: written out for each of thousands of loops it is half of the code, and of the time.
FAMILY_FLAGS := $(if $(findstring clang,$(CC)),,-fno-peel-loops --param=max-completely-peel-times=4)
$(foreach i,$(ISAS),$(OBJ)/src/core/cpu/vector/pointwise/%.$(i).o): private VECTOR_FLAGS += $(FAMILY_FLAGS)
# Accumulators that begin as zeros are registers, not memory for memset.
$(foreach i,$(ISAS),$(OBJ)/src/core/cpu/vector/reduce/%.$(i).o): private VECTOR_FLAGS += $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)

LUA_SRC := $(wildcard src/lua/*.c src/lua/*/*.c)
BIND_OBJ := $(LUA_SRC:%.c=$(OBJ)/%.o) $(GEN_BIND:$(GEN)/%.c=$(OBJ)/gen/%.o) $(OBJ)/gen/embedded_lib.o
REPL_SRC := $(wildcard repl/*.c repl/*/*.c)
REPL_OBJ := $(REPL_SRC:%.c=$(OBJ)/%.o) $(OBJ)/gen/embedded_repl.o
# lib/meta is for editors, no program loads it.
LIB_LUA := $(sort $(shell find lib -name meta -prune -o -name '*.lua' -print))
REPL_LUA := $(sort $(wildcard repl/*.lua repl/*/*.lua))

CU_SRC := $(wildcard $(addprefix src/cuda/,kernels/*/*.cu libraries/*.cu libraries/*/*.cu runtime/*.cu))
# Those without a kernel or a device function: C++ with CUDA's headers, a quarter of the time of nvcc's passes.
HOST_CU_SRC := $(filter-out src/cuda/runtime/graph.cu src/cuda/runtime/report.cu,$(wildcard $(addprefix src/cuda/,libraries/*.cu libraries/*/*.cu runtime/*.cu))) \
               $(addprefix src/cuda/kernels/chain/,source.cu programs.cu cache.cu) \
               $(addprefix src/cuda/kernels/,nn/network_cudnn.cu products/convolution_algorithms.cu products/convolution_cudnn.cu products/csr.cu products/matmul.cu)
CUDA_OBJ := $(CU_SRC:%.cu=$(OBJ)/%.cuda.o)
CUDA12_OBJ := $(CU_SRC:%.cu=$(OBJ)/%.cuda12.o)
CUDA_BACKENDS := $(if $(filter yes,$(CUDA)),$(BUILD)/libltensor_cuda.so $(if $(NVCC12),$(BUILD)/libltensor_cuda12.so))
SIM_CU_SRC := $(filter-out src/cuda/libraries/opening/%,$(CU_SRC))
SIM_SRC := $(wildcard src/cuda/sim/*.cpp src/cuda/sim/cudnn/*.cpp)
SIM_RUNTIME_OBJ := $(SIM_SRC:%.cpp=$(OBJ)/%.o)
SIM_OBJ := $(SIM_CU_SRC:%.cu=$(OBJ)/%.sim.o) $(SIM_RUNTIME_OBJ)
# The same with checks: every access of memory by a kernel is looked at.
CHECK_OBJ := $(patsubst %.cpp,$(OBJ)/%.o,$(wildcard src/cuda/sim/check/*.cpp))
CHECKED_OBJ := $(SIM_CU_SRC:%.cu=$(OBJ)/%.checked.o) $(SIM_RUNTIME_OBJ) $(CHECK_OBJ)

# Engines of torch.distributed, for each MPI whose compiler is here: src/comm/mpi with its headers.
MPIS := $(if $(CROSS),,$(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m) 2>/dev/null),$(m))))
ENGINES := $(MPIS:%=$(BUILD)/libltensor_%.so)

# What speaks Jupyter's protocol, where the headers of ZeroMQ and Nettle are: the program opens it for --kernel.
JUPYTER := $(if $(shell $(PKG_CONFIG) --exists libzmq nettle 2>/dev/null && echo yes),$(BUILD)/libltensor_jupyter.so)
JUPYTER_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard repl/jupyter/plugin/*.c))

PROGRAM := $(BUILD)/ltensor
TARGETS := $(PROGRAM) $(BUILD)/torch.so $(BUILD)/libltensor.so $(BUILD)/libltensor.a \
           $(BUILD)/libltensor_lua.so $(BUILD)/libltensor_lua.a $(BUILD)/libltensor_repl.a \
           $(BUILD)/libltensor_sim.so $(CUDA_BACKENDS) $(ENGINES) $(JUPYTER)

.PHONY: all deb test-deb test-tutorial test-same image book bench-compile bench-programs bench-memory bench-distributed bench-fft bench-threads ptx-report ptx-objects rock install-rock docs site demo test check soak soak-ranks bench install clean layers lint test-programs python-host fuzz mutants test-asan test-checks test-cuda bench-cuda check-vendor dist test-dist abi-baseline bench-start format FORCE
# V=1 shows the commands.
$(if $(V),,$(eval .SILENT:))
.DELETE_ON_ERROR:
.SECONDARY:

all: $(if $(MINIMAL),minimal,$(TARGETS))

# ---- generated sources ---------------------------------------------------------------------------------
$(GEN_STAMP): $(DECLARATIONS) $(SCRIPTED) $(GENERATORS) $(GEN_HASHED) src/core/cpu/vector/vector_math.h
	@mkdir -p $(GEN)/op $(GEN)/step
	$(LUA) scripts/gen/headers.lua $(GEN)
	$(LUA) scripts/gen/steps.lua $(GEN)
	$(LUA) scripts/gen/kernels.lua $(GEN)
	$(LUA) scripts/gen/autograd.lua $(GEN)
	$(LUA) scripts/gen/calls.lua $(GEN)
	$(LUA) scripts/gen/binding.lua $(GEN)
	$(LUA) scripts/gen/sleef.lua $(GEN)
	@touch $@

$(GEN_HEADERS) $(GEN_AUTOGRAD) $(GEN_BIND) $(GEN_CALLS) $(GEN)/ops_pointwise.c $(GEN)/ops_docs.lua $(GEN)/ops_scripted.lua $(SLEEF_NAMES): $(GEN_STAMP) ;

$(GEN)/embedded_lib.c: $(LIB_LUA) $(GEN)/ops_docs.lua $(GEN)/ops_scripted.lua scripts/embed.lua scripts/embed_args.lua
	$(LUA) scripts/embed.lua $@ lib $$($(LUA) scripts/embed_args.lua lib $(LIB_LUA)) $(GEN)/ops_docs.lua=torch.ops_docs:packed $(GEN)/ops_scripted.lua=torch.ops_scripted:compiled

$(GEN)/embedded_repl.c: $(REPL_LUA) scripts/embed.lua scripts/embed_args.lua
	@mkdir -p $(GEN)
	$(LUA) scripts/embed.lua $@ repl $$($(LUA) scripts/embed_args.lua repl $(REPL_LUA))

# What --version says was built in: rewritten only when it changes. The backend of an earlier build that had one goes. With CUDA=no it is
# the same where nvcc is and where it is not, as packages have to be.
CUDA_WORDS := $(if $(filter yes,$(CUDA)),CUDA backend for $(addprefix sm_,$(CUDA_ARCHS)),no CUDA backend: $(if \
  $(filter file,$(origin CUDA)),nvcc was not found,left out by CUDA=$(CUDA)))
$(GEN)/build_config.h: FORCE
	@mkdir -p $(GEN)
	@made=$@.$$$$; printf '#define LT_BUILD_CUDA "%s"\n#define LT_BUILD_ONEDNN "%s"\n#define LT_BUILD_READLINE "%s"\n#define LT_BUILD_MPI "%s"\n' \
	  "$(CUDA_WORDS)" "$(or $(ONEDNN),none)" \
	  "$(if $(LIBEDIT),libedit,readline)" "$(MPIS)" > $$made; if cmp -s $$made $@; then rm $$made; else mv $$made $@; fi
	@rm -f $(filter-out $(CUDA_BACKENDS),$(BUILD)/libltensor_cuda.so $(BUILD)/libltensor_cuda12.so)
# Objects of C are made again when the compiler's flags change.
FLAGS_OF_C = $(CC) $(CFLAGS_ALL) $(NO_TABLES) $(VECTOR_FLAGS) $(FAMILY_FLAGS)
$(OBJ)/flags_of_c: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS_OF_C)' | cmp -s - $@ || echo '$(FLAGS_OF_C)' >$@
$(CORE_OBJ) $(VECTOR_OBJ) $(BIND_OBJ) $(REPL_OBJ) $(JUPYTER_OBJ): $(OBJ)/flags_of_c
# Those of CUDA for other architectures, too.
$(OBJ)/flags_of_cuda: FORCE
	@mkdir -p $(@D)
	@echo '$(NVCC) $(NVCC12) $(NVCCFLAGS)' | cmp -s - $@ || echo '$(NVCC) $(NVCC12) $(NVCCFLAGS)' >$@
$(CUDA_OBJ) $(CUDA12_OBJ): $(OBJ)/flags_of_cuda
FORCE:

# What the source of a generated kernel includes, as text. Each of its files is a dependency of programs.cu's objects.
CHAIN_SOURCES := $(GEN)/chain_sources.h
$(CHAIN_SOURCES): scripts/gen/chain_sources.lua $(wildcard src/core/formulas/*.h src/core/formulas/*.inc \
  $(addprefix src/cuda/,kernels/conversion.cuh kernels/unrolled.cuh kernels/join.cuh kernels/row_passes.cuh kernels/reduce/steps.cuh kernels/nn/softmax_rows.cuh kernels/nn/norm_rows.cuh kernels/chain/*.cuh kernels/chain/device/* kernels/chain/device/nvrtc/* sim/include/sim/*.h))
	@mkdir -p $(@D)
	$(LUA) scripts/gen/chain_sources.lua $@
$(foreach kind,sim checked cuda cuda12,$(OBJ)/src/cuda/kernels/chain/programs.$(kind).o): $(CHAIN_SOURCES)

# ---- objects -------------------------------------------------------------------------------------------
$(CORE_OBJ) $(VECTOR_OBJ) $(BIND_OBJ) $(REPL_OBJ) $(SIM_OBJ) $(CHECKED_OBJ) $(CUDA_OBJ) $(CUDA12_OBJ): | $(GEN_STAMP) $(GEN)/build_config.h

$(CORE_OBJ) $(VECTOR_OBJ): private CFLAGS += $(NO_TABLES)
$(OBJ)/src/core/%.o: src/core/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) -c $< -o $@

$(OBJ)/src/comm/%.o: src/comm/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) -c $< -o $@
$(OBJ)/src/comm/reduce.o: private OPT := $(patsubst -O2,-O3,$(OPT))

$(MPIS:%=$(OBJ)/src/comm/mpi/mpi.%.o): $(OBJ)/src/comm/mpi/mpi.%.o: src/comm/mpi/mpi.c $(OBJ)/flags_of_c
	@mkdir -p $(@D)
	@echo '  CC $< ($*)'
	$(CC) $(CFLAGS_ALL) -fvisibility=hidden -DLT_MPI_NAME='"$*"' \
	  $(patsubst -I%,-isystem %,$(filter -I%,$(shell mpicc.$* -show))) -c $< -o $@

$(OBJ)/src/lua/%.o: src/lua/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) -Isrc/lua -Isrc $(LUA_CFLAGS) -c $< -o $@

$(OBJ)/repl/%.o: repl/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) -Irepl $(LUA_CFLAGS) $(if $(LIBEDIT),-DLT_LIBEDIT) -c $< -o $@

$(OBJ)/gen/%.o: $(GEN)/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) $(CHEAP_OPT) -Isrc/lua $(LUA_CFLAGS) -c $< -o $@

define isa_rule
$(OBJ)/src/core/cpu/vector/%.$(1).o: src/core/cpu/vector/%.c $(SLEEF_NAMES)
	@mkdir -p $$(@D)
	@echo '  CC $$< ($(1))'
	$(CC) $(CFLAGS_ALL) $$(VECTOR_FLAGS) $(ISA_FLAGS_$(1)) -DLT_ISA=$(1) -c $$< -o $$@
	$(OBJCOPY) --redefine-syms=$(SLEEF_NAMES) $$@
endef
$(foreach i,$(ISAS),$(eval $(call isa_rule,$(i))))

SIM_OPT := $(CHEAP_OPT)
# Elementwise kernels are the many that do little each.
$(OBJ)/src/cuda/kernels/pointwise/%.sim.o: private SIM_OPT := $(if $(SIM_OPT),-Og -g1)
$(OBJ)/src/cuda/%.sim.o: src/cuda/%.cu
	@mkdir -p $(@D)
	@echo '  CXX $<'
	$(CXX) $(CXXFLAGS_ALL) $(SIM_OPT) $(SIM_SAN) -Isrc/cuda/sim/include -Isrc/cuda -x c++ -c $< -o $@

# -fsanitize=thread for the calls that it makes, which sim/check answers in ThreadSanitizer's place. GCC's: clang has no room
# for the launch bounds of templates. Aggregates stay whole, so that an access has its width.
CHECK_FLAGS := -Og -g1 -fsanitize=thread --param tsan-instrument-func-entry-exit=0 -fno-tree-sra \
               -fsanitize=float-cast-overflow -DLT_SIM_CHECKED
CHECK_CXX := $(if $(findstring clang,$(CXX)),g++,$(CXX))
$(OBJ)/src/cuda/%.checked.o: src/cuda/%.cu
	@mkdir -p $(@D)
	@echo '  CXX $< (checked)'
	$(CHECK_CXX) $(CXXFLAGS_ALL) $(CHECK_FLAGS) -Isrc/cuda/sim/include -Isrc/cuda -x c++ -c $< -o $@

# What is called before every access of a kernel, and between the threads of a block.
$(CHECK_OBJ) $(OBJ)/src/cuda/sim/fiber.o: private SIM_OPT := $(if $(SIM_OPT),-O2 -g1)
$(OBJ)/src/cuda/sim/%.o: src/cuda/sim/%.cpp
	@mkdir -p $(@D)
	@echo '  CXX $<'
	$(CXX) $(CXXFLAGS_ALL) $(SIM_OPT) -Isrc/cuda/sim/include -Isrc/cuda -c $< -o $@

$(foreach kind,cuda cuda12,$(HOST_CU_SRC:%.cu=$(OBJ)/%.$(kind).o)): private NVCC_LANGUAGE := -x c++
$(OBJ)/src/cuda/%.cuda.o: src/cuda/%.cu
	@mkdir -p $(@D)
	@echo '  NVCC $<'
	$(NVCC) $(NVCCFLAGS) $(NVCC_LANGUAGE) -Xptxas -v -Isrc/cuda -MD -MP -MF $(@:.o=.d) -c $< -o $@ 2>$@.usage || { cat $@.usage >&2; exit 1; }
	@grep -v '^ptxas info\|bytes stack frame\|^$$' $@.usage >&2 || true

$(OBJ)/src/cuda/%.cuda12.o: src/cuda/%.cu
	@mkdir -p $(@D)
	@echo '  NVCC $< (CUDA 12)'
	$(NVCC12) $(NVCCFLAGS) $(NVCC_LANGUAGE) -Isrc/cuda -MD -MP -MF $(@:.o=.d) -c $< -o $@

# ---- libraries and the program ------------------------------------------------------------------------
# The library, and the Lua binding that stands on it. The objects of each are joined, so that what only they share can be local in the
# static library too; sections stay apart (--unique), for programs that take what they reach (--gc-sections).
LIBRARY_OBJ = $(CORE_OBJ) $(VECTOR_OBJ) $(BIND_OBJ)
PUBLIC_HEADERS := include/ltensor.h $(GEN)/ltensor_ops.h
SONAME := 0

$(OBJ)/ltensor.o: $(CORE_OBJ) $(VECTOR_OBJ)
$(OBJ)/ltensor_lua.o: $(BIND_OBJ)
REPL_HOST_OBJ := $(filter-out $(OBJ)/repl/program/%,$(REPL_OBJ))
$(OBJ)/ltensor_repl.o: $(REPL_HOST_OBJ)
JOINED := $(addprefix $(OBJ)/ltensor,.o _lua.o _repl.o)
$(JOINED):
	@echo '  JOIN $@'
	$(LD) -r -d --unique -o $@ $^

$(OBJ)/libltensor.map: $(OBJ)/ltensor.o $(OBJ)/ltensor_lua.o scripts/symbols.lua $(wildcard tests/abi/*/*.h)
	$(LUA) scripts/symbols.lua $(VERSION) $(@:.map=) $(PUBLIC_HEADERS) -- $(OBJ)/ltensor.o $(OBJ)/ltensor_lua.o
$(OBJ)/libltensor_lua.map: include/ltensor_lua.h include/ltensor_script.h scripts/symbols.lua $(wildcard tests/abi/*/*.h)
	$(LUA) scripts/symbols.lua $(VERSION) $(@:.map=) include/ltensor_lua.h include/ltensor_script.h
$(OBJ)/libltensor_repl.map: include/ltensor_prompt.h scripts/symbols.lua
	$(LUA) scripts/symbols.lua $(VERSION) $(@:.map=) include/ltensor_prompt.h

define static_library
$(BUILD)/libltensor$(1).a: $(OBJ)/ltensor$(1).o $(OBJ)/libltensor$(1).map
	@echo '  AR $$@'
	@rm -f $$@
	$(OBJCOPY) --keep-global-symbols=$(OBJ)/libltensor$(1).keep $$< $(OBJ)/libltensor$(1).o
	$(AR) rcsD $$@ $(OBJ)/libltensor$(1).o
	@rm $(OBJ)/libltensor$(1).o
endef
$(foreach library,- _lua _repl,$(eval $(call static_library,$(library:-=))))

# Never unmapped: threads that run their code, and what libraries opened by them registered, stay when a host closes its last Lua state.
STAY := -Wl,-z,nodelete
LINK_SHARED = $(LDFLAGS) $(PACKED) $(STAY) -Wl,--gc-sections -Wl,-Bsymbolic-functions -Wl,--as-needed
SHARED = $(CC) -shared $(SAN) -Wl,-soname,$(@F).$(SONAME) -Wl,-z,defs $(LINK_SHARED)
$(BUILD)/libltensor.so: $(OBJ)/ltensor.o $(OBJ)/libltensor.map
	@echo '  LINK $@'
	$(SHARED) -Wl,--version-script=$(OBJ)/libltensor.map -o $@ $< $(CORE_LIBS)
	@ln -sf $(@F) $@.$(SONAME)

# What builds on libltensor.so, in a folder, of the objects in another. torch.so is the module for a Lua interpreter: nothing but
# its need of the libraries, so that a process has them once.
rpath = $(if $(filter no,$(RPATH)),,-Wl,-rpath,$(1))
define lua_libraries
$(1)/libltensor_lua.so: $(2)/ltensor_lua.o $(OBJ)/libltensor_lua.map $(1)/libltensor.so
	@echo '  LINK $$@'
	$$(SHARED) -Wl,--version-script=$(OBJ)/libltensor_lua.map $(call rpath,'$$$$ORIGIN') -o $$@ $$< -L$(1) -lltensor $(LUA_LIBS) -l$(LUA_NAME)
	@ln -sf $$(@F) $$@.$(SONAME)
$(1)/torch.so: $(1)/libltensor_lua.so
	@echo '  LINK $$@'
	$(CC) -shared -nostdlib $(LDFLAGS) $(STAY) $(call rpath,'$$$$ORIGIN:$$$$ORIGIN/../..') -o $$@ -Wl,--no-as-needed -L$(1) -Wl,-rpath-link,$(1) -lltensor_lua
endef
$(eval $(call lua_libraries,$(BUILD),$(OBJ)))

# The same for a Lua interpreter of any make, whose own functions are found as it loads the module.
$(BUILD)/rock/libltensor_lua.so.$(SONAME): $(OBJ)/ltensor_lua.o $(OBJ)/libltensor_lua.map $(BUILD)/libltensor.so
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(CC) -shared $(SAN) -Wl,-soname,$(@F) $(LINK_SHARED) -Wl,--version-script=$(OBJ)/libltensor_lua.map \
	  -Wl,-rpath,'$$ORIGIN' -o $@ $< -L$(BUILD) -lltensor $(LUA_LIBS)
$(BUILD)/rock/torch.so: $(BUILD)/rock/libltensor_lua.so.$(SONAME)
	@echo '  LINK $@'
	$(CC) -shared -nostdlib $(STAY) -Wl,-rpath,'$$ORIGIN' -o $@ -Wl,--no-as-needed -Wl,--allow-shlib-undefined $<

# What the program shows to modules that scripts load: Lua, and the libraries' functions.
$(OBJ)/program.list: $(OBJ)/libltensor.map $(OBJ)/libltensor_lua.map
	@(echo '{ lua_*; luaL_*; luaopen_*;'; sed -n 's/^    \(lt_.*;\)$$/\1/p' $^; echo '};') >$@

PROGRAM_LIBS = $(LUA_STATIC) $(READLINE_LIBS) $(CORE_LIBS)
PROGRAM_LINK = $(CC) $(SAN) $(LDFLAGS) $(PACKED) -Wl,--gc-sections -Wl,--dynamic-list=$(OBJ)/program.list
$(PROGRAM): $(REPL_OBJ) $(OBJ)/ltensor.o $(OBJ)/ltensor_lua.o $(OBJ)/program.list
	@echo '  LINK $@'
	$(PROGRAM_LINK) -o $@ $(filter %.o,$^) $(PROGRAM_LIBS)

# The same for the tarball: an rpath of the old kind, which also holds for what its libraries and backends need.
$(BUILD)/dist/ltensor: $(REPL_OBJ) $(OBJ)/ltensor.o $(OBJ)/ltensor_lua.o $(OBJ)/program.list
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(PROGRAM_LINK) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib' -o $@ $(filter %.o,$^) $(PROGRAM_LIBS)

$(BUILD)/libltensor_sim.so: $(SIM_OBJ)
	@echo '  LINK $@'
	$(CXX) -shared $(SAN) $(LDFLAGS) $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $^ -lboost_context -lopenblas -lpthread

# What they need of MPI is there when they are opened: they are linked with none.
$(ENGINES): $(BUILD)/libltensor_%.so: $(OBJ)/src/comm/mpi/mpi.%.o
	@echo '  LINK $@'
	$(CC) -shared $(SAN) $(LDFLAGS) -o $@ $<

# Lua's functions are the program's, which opens it.
$(JUPYTER_OBJ): private CFLAGS += -fvisibility=hidden
$(BUILD)/libltensor_jupyter.so: $(JUPYTER_OBJ)
	@echo '  LINK $@'
	$(CC) -shared $(SAN) $(LDFLAGS) -o $@ $^ -lzmq -lnettle -lcjson -lpthread

# A program takes it where LTENSOR_LIB_DIR names its folder, which has the other plugins as well.
CHECKED_PLUGINS := $(patsubst $(BUILD)/%,$(BUILD)/checked/%,$(ENGINES) $(JUPYTER))
checked: $(BUILD)/checked/libltensor_sim.so $(CHECKED_PLUGINS)
$(CHECKED_PLUGINS): $(BUILD)/checked/%: $(BUILD)/%
	@mkdir -p $(@D)
	@ln -sf ../$* $@
$(BUILD)/checked/libltensor_sim.so: $(CHECKED_OBJ)
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(CHECK_CXX) -shared -Wl,-z,defs -o $@ $^ -lboost_context -lopenblas -lpthread

$(BUILD)/libltensor_cuda.so: $(CUDA_OBJ)
	@echo '  LINK $@'
	$(NVCC) -shared -cudart static -o $@ $^ -ldl -lpthread

$(BUILD)/libltensor_cuda12.so: $(CUDA12_OBJ)
	@echo '  LINK $@'
	$(NVCC12) -shared -cudart static -o $@ $^ -ldl -lpthread

include scripts/make/minimal.mk

# ---- tests -----------------------------------------------------------------------------------------------
# The checker of kernels and the sanitizers are called from the same places.
NO_TESTS := $(if $(SANITIZE),tests/core/sim_check_test.cpp)
C_TESTS := $(patsubst tests/core/%.c,$(BUILD)/tests/%,$(wildcard tests/core/*_test.c)) \
           $(patsubst tests/core/%.cpp,$(BUILD)/tests/%,$(filter-out $(NO_TESTS),$(wildcard tests/core/*_test.cpp)))
JUPYTER_TEST := $(JUPYTER:$(BUILD)/%.so=$(BUILD)/tests/jupyter_wire_test)
TEST_TOOLS := $(patsubst tests/tools/%.c,$(BUILD)/tests/%,$(wildcard tests/tools/*.c))

# Tests of what the library keeps to itself: one with nothing hidden, for all of them.
TEST_LIBRARY := $(BUILD)/tests/lib/libltensor_open.so
TEST_LINK = -L$(@D)/lib -Wl,-rpath,'$$ORIGIN/lib' -lltensor_open -lcmocka $(CORE_LIBS)
$(TEST_LIBRARY): $(OBJ)/ltensor.o
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(CC) -shared $(SAN) -Wl,-soname,$(@F) -Wl,-Bsymbolic -o $@ $< $(CORE_LIBS)

$(BUILD)/tests/%: tests/core/%.c $(TEST_LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MF $@.d $< -o $@ $(TEST_LINK)

$(BUILD)/tests/%_lua_test: tests/core/%_lua_test.c $(TEST_LIBRARY) $(OBJ)/ltensor_lua.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LUA_CFLAGS) -MF $@.d $(filter %.c %.o,$^) -o $@ $(LUA_STATIC) $(TEST_LINK)

$(BUILD)/tests/%: tests/core/%.cpp $(SIM_RUNTIME_OBJ)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS_ALL) -MF $@.d -Isrc/cuda/sim/include -Isrc/cuda -x c++ $< -x none -o $@ \
	  $(SIM_RUNTIME_OBJ) -lcmocka -lboost_context -lopenblas -lpthread

$(BUILD)/tests/sim_check_test: tests/core/sim_check_test.cpp $(SIM_RUNTIME_OBJ) $(CHECK_OBJ)
	@mkdir -p $(@D)
	$(CHECK_CXX) $(CXXFLAGS_ALL) $(CHECK_FLAGS) -MF $@.d -MT $@ -Isrc/cuda/sim/include -Isrc/cuda -c $< -o $@.o
	$(CHECK_CXX) -o $@ $@.o $(SIM_RUNTIME_OBJ) $(CHECK_OBJ) -lcmocka -lboost_context -lopenblas -lpthread

$(BUILD)/tests/jupyter_wire_test: tests/jupyter/wire_test.c $(filter-out %/module.o,$(JUPYTER_OBJ))
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -Irepl/jupyter/plugin -MF $@.d $(filter %.c %.o,$^) -o $@ -lzmq -lnettle -lcjson -lcmocka -lpthread

HOST_LIBS := $(addprefix $(BUILD)/libltensor,_repl.a _lua.a .a)

$(BUILD)/tests/prompt_host: tests/repl/prompt_host.c $(HOST_LIBS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LUA_CFLAGS) -MF $@.d $< -o $@ $(HOST_LIBS) $(PROGRAM_LIBS)

# A program with a Python in it, for exchanges with NumPy: made where its headers are, and NumPy is.
PYTHON_CONFIG ?= python3-config
PYTHON_PROGRAM = $(shell $(PYTHON_CONFIG) --prefix)/bin/python3
python-host: $(BUILD)/libltensor_lua.a $(BUILD)/libltensor.a
	@if $(PYTHON_CONFIG) --embed --ldflags >/dev/null 2>&1 && \
	  "$$($(PYTHON_CONFIG) --prefix)"/bin/python3 -c 'import numpy' 2>/dev/null; then \
	  $(MAKE) --no-print-directory $(BUILD)/tests/python_host; fi

$(BUILD)/tests/python_host: tests/interop/python_host.c $(BUILD)/libltensor_lua.a $(BUILD)/libltensor.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LUA_CFLAGS) $(addprefix -isystem,$(patsubst -I%,%,$(shell $(PYTHON_CONFIG) --includes))) \
	  -DPYTHON_PROGRAM='"$(PYTHON_PROGRAM)"' -MF $@.d $< -o $@ $(BUILD)/libltensor_lua.a $(BUILD)/libltensor.a $(LUA_STATIC) \
	  $(CORE_LIBS) $(shell $(PYTHON_CONFIG) --embed --ldflags)

FUZZ_TOOLS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz_%,$(wildcard tests/fuzz/*.c))

$(BUILD)/tests/fuzz_%: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(SAME_BYTES) $< -o $@ -lutil

$(BUILD)/tests/%: tests/tools/%.c tests/tools/screen.h
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(SAME_BYTES) $< -o $@ -lutil

# The host of the tarball finds its libraries as the tarball's program does.
$(BUILD)/dist/prompt_host: tests/repl/prompt_host.c $(HOST_LIBS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(LUA_CFLAGS) -MF $@.d $< -o $@ -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../../lib' \
	  $(HOST_LIBS) $(PROGRAM_LIBS)

# `make demo` and `make test` start on a bare machine: packages first, then a make that can see them. Who
# types them wants the result, so that make uses every core unless it was given -j itself.
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
demo:
	@sh scripts/deps.sh
	@$(MAKE) $(JOBS) --no-print-directory all
	$(PROGRAM) --cells docs/notebooks/use-gpu.md
	$(PROGRAM) --sim-gpus 2 --cells docs/notebooks/use-gpu.md

test:
	@sh scripts/deps.sh test
	@$(MAKE) $(JOBS) --no-print-directory all checked test-programs layers
	@BUILD=$(BUILD) sh tests/run.sh full

check: all test-programs layers
	@BUILD=$(BUILD) sh tests/run.sh quick

test-programs: $(C_TESTS) $(TEST_TOOLS) $(JUPYTER_TEST) $(BUILD)/tests/prompt_host python-host

# Hostile calls and random typing: tests/README.md. `make fuzz MINUTES=10`, `SEED=n` to do the same again, FUZZERS="calls keys".
fuzz: all $(FUZZ_TOOLS)
	@BUILD=$(BUILD) MINUTES=$(MINUTES) SEED=$(SEED) FUZZERS="$(FUZZERS)" sh tests/fuzz/run.sh

# Edits a line at a time and tells which edits no test notices: tests/README.md. N edits of KIND random, careless or both.
mutants: all test-programs
	@lua5.4 tests/mutants/run.lua $(BUILD) $(or $(N),20) $(or $(SEED),$(shell date +%s)) $(or $(KIND),both) $(FILES)

TSAN_TESTS := sim_test threads_test fork_test random_threads_test context_test context_stop_test context_lua_test
test-asan:
	@sh scripts/deps.sh test
	@$(MAKE) $(JOBS) --no-print-directory BUILD=build-asan SANITIZE=address,undefined CUDA=no OPT="-O1 -g" all test-programs
	@BUILD=build-asan sh tests/run.sh asan

test-checks:
	@sh scripts/deps.sh test
	@$(MAKE) $(JOBS) --no-print-directory all checked test-programs
	@BUILD=$(BUILD) sh tests/run.sh checks

# Threads with a context each, and those of a simulated GPU: the program, its backend and what tests streams. Clang's OpenMP, with
# the tool libarcher, tells the sanitizer what its threads wait for; GCC's does not.
test-tsan:
	@CC=clang sh scripts/deps.sh test
	@$(MAKE) --no-print-directory BUILD=build-tsan SANITIZE=thread CUDA=no OPT="-O1 -g" CC=clang CXX=clang++ \
	  build-tsan/ltensor build-tsan/libltensor_sim.so $(ENGINES:$(BUILD)/%=build-tsan/%) $(TSAN_TESTS:%=build-tsan/tests/%)
	@BUILD=build-tsan sh tests/run.sh tsan

test-cuda: all test-programs
	@BUILD=$(BUILD) sh tests/run.sh cuda

check-vendor: $(GEN_STAMP) $(CHAIN_SOURCES)
	@BUILD=$(BUILD) sh tests/vendor/check.sh

bench-cuda: all
	@BUILD=$(BUILD) sh tests/bench/run_cuda.sh

dist: all docs $(BUILD)/shell/ltensor.1 test-programs $(BUILD)/dist/ltensor $(BUILD)/dist/prompt_host
	@BUILD=$(BUILD) VERSION=$(VERSION) EPOCH=$(EPOCH) sh scripts/dist.sh

test-dist: dist
	@sh tests/dist.sh dist/ltensor-$(VERSION)-x86_64-linux.tar.gz

deb:
	@BUILD=$(BUILD) VERSION=$(VERSION) CUDA=$(CUDA) CUDA_ARCHS="$(CUDA_ARCHS)" sh packaging/deb.sh

test-deb: deb
	@VERSION=$(VERSION) sh tests/packages/deb.sh

# Of the packages that are in dist/.
test-tutorial:
	@VERSION=$(VERSION) sh tests/packages/tutorial.sh
image:
	@VERSION=$(VERSION) EPOCH=$(EPOCH) sh packaging/docker/image.sh

test-same:
	@sh tests/packages/same.sh all

# A static program that multiplies two matrices, beside libtorch's: a page for docs/results.
bench-start: all
	@BUILD=$(BUILD) sh tests/bench/start/run.sh

soak: all
	@LUA_PATH="tests/lua/?.lua;$${LUA_PATH-;}" $(PROGRAM) tests/soak/soak.lua $(COUNT)

soak-ranks: all
	@BUILD=$(BUILD) sh tests/soak/large_ranks.sh

book: all
	@BUILD=$(BUILD) sh scripts/book.sh $(BOOK)

bench-threads: all
	@$(CC) -O2 -std=gnu11 -Wall -Wextra -Iinclude -I$(BUILD)/gen tests/bench/threads/threads.c -L$(BUILD) -Wl,-rpath,$(abspath $(BUILD)) -lltensor_lua -lltensor -lm -lpthread -o $(BUILD)/threads
	@$(BUILD)/threads 0.3
bench: all
	@BUILD=$(BUILD) sh tests/bench/run.sh
bench-compile: all
	@$(or $(PYTHON),python3) tests/bench/compile/beside.py $(BUILD)/ltensor
bench-programs: all
	@$(or $(PYTHON),python3) tests/bench/programs/beside.py $(BUILD)/ltensor
bench-memory: all
	@$(or $(PYTHON),python3) tests/bench/programs/memory.py $(BUILD)/ltensor

bench-fft: all
	@for lines in 1 64; do for threads in 1 2; do $${PYTHON:-python3} tests/bench/fft/beside.py $(BUILD)/ltensor $$threads $$lines; echo; done; done

# Two ranks beside gloo's and mpi4py's.
bench-distributed: all
	@BUILD=$(BUILD) sh tests/bench/distributed/run.sh

# What nvcc made of the kernels: scripts/ptx.
PTX_ARCHS ?= 75 90 100
ptx-report:
	+@BUILD=$(BUILD) NVCC="$(NVCC)" ARCHS="$(if $(filter yes,$(CUDA)),$(CUDA_ARCHS))" PTX_ARCHS="$(PTX_ARCHS)" MAKE="$(MAKE)" LUA="$(LUA)" \
	  sh scripts/ptx/run.sh
ptx-objects: $(CUDA_OBJ)

layers: $(CORE_OBJ) $(VECTOR_OBJ) $(BIND_OBJ) $(SIM_OBJ)
	@NM=$(NM) $(LUA) scripts/layers.lua $(BUILD)

# Our Lua, the shell scripts and the manual page, by the programs that look at such; annotations by a language server, where one is.
LUA_SERVER ?= $(shell command -v emmylua_ls || command -v lua-language-server)
lint: $(BUILD)/shell/ltensor.1 docs
	@sh packaging/release.sh check
	luacheck -q .
	clang-format-14 --dry-run -Werror $(FORMATTED)
	$(if $(LUA_SERVER),LUA_SERVER=$(LUA_SERVER) python3 tests/editors/check.py $(BUILD)/meta tests/editors/uses.lua,@echo "lint: no language server (emmylua_ls or lua-language-server, or LUA_SERVER=path): annotations were not checked")
	shellcheck -x $$(git ls-files '*.sh') .ci/run
	mandoc -T lint $<

# What this version promises: tests/abi.
abi-baseline: all
	@BUILD=$(BUILD) sh scripts/abi_baseline.sh $(VERSION)

# The headers of released versions under tests/abi stay as they were.
FORMATTED = $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp' '*.inc' ':!tests/abi')
format:
	clang-format-14 -i $(FORMATTED)

# ---- docs --------------------------------------------------------------------------------------------------
# The text of the pages is the one of the REPL's help; the annotations are LuaCATS.
RESULT := $(if $(MINIMAL),$(MIN),$(BUILD))
RESULT_GEN := $(if $(MINIMAL),$(MIN_GEN),$(GEN))
docs: $(if $(MINIMAL),$(MIN_STAMP),$(GEN_STAMP) $(PROGRAM))
	@mkdir -p $(RESULT)/docs $(RESULT)/meta
	$(if $(MINIMAL),LT_OPS=$(MIN_GEN)/ops) $(LUA) scripts/gen/pages.lua $(RESULT_GEN)/ops_docs.lua $(RESULT)/docs
	cp lib/meta/*.lua $(RESULT)/meta/
	cp $(RESULT_GEN)/ltensor.d.lua $(RESULT)/meta/ops.lua
	$(if $(MINIMAL),,$(RUN) $(PROGRAM) scripts/site/annotations.lua $(RESULT)/meta)

# The documentation site, with mkdocs and its theme material.
site: all
	@BUILD=$(BUILD) LUA=$(LUA) sh scripts/site/build.sh

# The manual page and what shells complete, from the text of --help.
DATE = $(shell date -u -d @$(EPOCH) +%Y-%m-%d)
$(BUILD)/shell/ltensor.1: $(PROGRAM) scripts/manual.lua docs/guide/README.md
	@mkdir -p $(@D)
	$(RUN) $(PROGRAM) --help | $(LUA) scripts/manual.lua $(VERSION) $(DATE) $(@D) docs/guide/README.md

# ---- install ---------------------------------------------------------------------------------------------
install: all docs $(if $(MINIMAL),,$(BUILD)/shell/ltensor.1)
	@BUILD=$(RESULT) GEN=$(RESULT_GEN) VERSION=$(VERSION) SONAME=$(SONAME) DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" STRIP=$(STRIP) \
	  LIBS="$(CORE_LIBS)" LUA_LIBS="$(LUA_LIBS)" LUA_NAME=$(LUA_NAME) sh scripts/install.sh

# What `luarocks make` calls (ltensor-*.rockspec); ROCK_LIBDIR is the rock's folder of modules.
ROCK_FILES = $(addprefix $(BUILD)/rock/,torch.so libltensor_lua.so.$(SONAME))
rock: $(ROCK_FILES) $(BUILD)/libltensor.so $(filter %_sim.so %_cuda.so %_cuda12.so,$(TARGETS))
install-rock: rock
	install -d $(ROCK_LIBDIR)
	install -s -m 755 $(ROCK_FILES) $(filter %_sim.so %_cuda.so %_cuda12.so,$(TARGETS)) $(ROCK_LIBDIR)
	install -s -m 755 $(BUILD)/libltensor.so $(ROCK_LIBDIR)/libltensor.so.$(SONAME)

clean:
	rm -rf build build-asan build-tsan build-mutants dist

-include $(shell find $(OBJ) $(MIN_OBJ) $(BUILD)/tests -name '*.d' 2>/dev/null)
