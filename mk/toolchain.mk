# toolchain.mk - compilers, their flags, and the libraries that the program links.

##@ Options
## BUILD=dir: the folder of the build (build)
## LUA_NAME=lua5.3: build for this Lua, in build-lua5.3, beside the objects of build (lua5.4)
## CUDA=no: build without nvcc
## CUDA_ARCHS="75 90 120": compute capabilities (default: the GPUs of this machine, or 90)
## NVCC12=path: build a second backend, for drivers older than R580
## THREADS=no: run loops on the calling thread
## LIBEDIT=1: link libedit instead of readline
## WERROR=1: treat warnings as errors
## ASSERT=no: build without assertions, as packages are (ASSERT=yes: with, as in a checkout)
## SANITIZE=address,undefined: build with sanitizers
## OPT="-O2 -g": optimization of the code that runs on CPUs
## CROSS=aarch64-linux-gnu-: build for another machine (docs/guide/install.md); RUN=qemu-aarch64-static
## PREFIX=dir LIBDIR=lib64: the folder of make install (/usr/local), that of libraries below it
## RPATH=no STRIP=no: without search paths in the libraries; with the symbols of installed files
## V=1: show each command; CPPFLAGS, CFLAGS, CXXFLAGS and LDFLAGS are added to ours

PREFIX ?= /usr/local
LIBDIR ?= lib
LUA ?= lua5.4
# The interpreter of a Lua other than the one that runs the scripts: embed.lua.
TARGET_LUA ?= $(OTHER_LUA)

# The compiler is GCC 12 or later. Where gcc is older (Ubuntu 22.04), use gcc-12.
old_gcc = $(filter 8 9 10 11,$(firstword $(subst ., ,$(shell $(CROSS)$(1) -dumpversion 2>/dev/null))))
ifeq ($(origin CC),default)
CC := $(CROSS)gcc$(if $(call old_gcc,gcc),-12)
endif
ifeq ($(origin CXX),default)
CXX := $(CROSS)g++$(if $(call old_gcc,g++),-12)
endif
ifeq ($(origin AR),default)
AR := $(CROSS)ar
endif
ifeq ($(origin LD),default)
LD := $(CROSS)ld
endif
OBJCOPY ?= $(CROSS)objcopy
NM ?= $(CROSS)nm
# A cross build uses the target's libraries in Debian's multiarch folders.
CROSS_PKG_PATH := /usr/lib/$(CROSS:-=)/pkgconfig:/usr/share/pkgconfig
PKG_CONFIG ?= $(if $(CROSS),PKG_CONFIG_LIBDIR=$(CROSS_PKG_PATH) )pkg-config
# The compiler for Windows, with the threads of POSIX.
MINGW ?= x86_64-w64-mingw32-gcc-posix
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
CLANG := $(findstring clang,$(CC))

# Assertions (src/core/assertion.h) are for work on ltensor: on in a checkout and with sanitizers, off
# in builds of a source package and in the tarball.
ASSERT ?= $(if $(SANITIZE),yes,$(if $(filter dist test-dist,$(MAKECMDGOALS)),no,$(if $(wildcard .git),yes,no)))
WARN := -Wall -Wextra $(if $(WERROR),-Werror)
OPT ?= -O2 -g
# Generated code and simulated GPUs are optimized less, which halves the compile time; an explicit OPT applies to them.
CHEAP_OPT := $(if $(filter file,$(origin OPT)),-O1 -g1)
SAN := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer)
# Simulated kernels are thousands of template instances. Optimized and with every check of UBSan, a file takes minutes.
# AddressSanitizer finds the faults of the checks that are left out.
SIM_SAN := $(if $(SANITIZE),-O0 -g1 $(addprefix -fno-sanitize=,null alignment vptr object-size))
LUA_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LUA_NAME) 2>/dev/null || echo -I/usr/include/$(LUA_NAME))
LUA_LDFLAGS := $(shell $(PKG_CONFIG) --libs-only-L $(LUA_NAME) 2>/dev/null)
# Libraries of the binding besides libltensor.
LUA_LIBS := -lz -lcjson -ldl -lm
LUA_STATIC := $(shell $(PKG_CONFIG) --variable=libdir $(LUA_NAME) 2>/dev/null || echo /usr/lib)/lib$(LUA_NAME).a
# Our sources include the prototypes of the ops that they call (op/<name>.h), not all of them (ltensor.h).
INCLUDES := $(if $(filter no,$(THREADS)),-DLT_NO_THREADS )-DLT_OPS_BY_NAME -Iinclude -Isrc/core -I$(GEN)
# With SOURCE_DATE_EPOCH, builds are reproducible in any folder: debug information has paths
# relative to the sources. Dates in the results are this time, otherwise the time of the last
# commit, otherwise of include/ltensor.h.
SAME_BYTES := $(if $(SOURCE_DATE_EPOCH),-ffile-prefix-map=$(CURDIR)=.)
EPOCH := $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),\
         $(shell date -u -r include/ltensor.h +%s))
# Link-time optimization (OPT="-O2 -g -flto=auto") runs where the objects of a library are joined
# (link.mk). The vector kernels do without it, since objcopy renames the functions of SLEEF in their
# objects, and so do libraries of selected ops, which are linked from ordinary objects.
WITH_LTO := $(filter -flto%,$(OPT) $(CFLAGS))
NO_LTO := $(if $(WITH_LTO),-fno-lto)
LTO := $(if $(MINIMAL),,$(WITH_LTO))
# scripts/symbols.lua selects the exported symbols at link time; calls inside a library are direct.
# Each function has its own section, so that a program with a static library keeps only reachable
# functions.
CFLAGS_ALL = -std=c11 -D_GNU_SOURCE $(OPT) $(WARN) $(SAN) -fPIC -fno-semantic-interposition -ffunction-sections \
             -fdata-sections -fopenmp-simd -ffp-contract=off -MMD -MP $(SAME_BYTES) $(INCLUDES) $(CPPFLAGS) $(CFLAGS) \
             $(if $(MINIMAL),$(NO_LTO))
CXXFLAGS_ALL = -std=c++17 -D_GNU_SOURCE $(OPT) $(WARN) $(SAN) -fPIC -fvisibility=hidden -MMD -MP \
               $(SAME_BYTES) $(INCLUDES) $(CPPFLAGS) $(CXXFLAGS)
# No exception passes through core and its kernels. Their unwind tables, a twentieth of the program, go into the debug
# information. The binding keeps its tables, for a Lua compiled as C++; sanitizers need all of them.
NO_TABLES := $(if $(SANITIZE),,-fno-asynchronous-unwind-tables)
# Pack relative relocations, 24 bytes each otherwise. glibc reads them since 2.36.
PACK := -Wl,-z,pack-relative-relocs
PACKED := $(if $(shell grep -sl GLIBC_ABI_DT_RELR "`$(CC) -print-file-name=libc.so.6`"),$(if $(shell echo | \
  $(CC) $(LDFLAGS) -shared $(PACK) -x c - -o /dev/null 2>&1),,$(PACK)))
# oneDNN, libpng and TurboJPEG are opened on first use (core/libraries/dnnl.c, core/files/image*.c), not linked.
# Distributions name oneDNN after its version or a part of it; the name of the installed library is tried first.
ONEDNN := $(shell readelf -d "$$($(CC) -print-file-name=libdnnl.so)" 2>/dev/null | \
  sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
CORE_LIBS := -lsleef -lz -lcjson -lm -ldl -lpthread
READLINE_LIBS := $(if $(LIBEDIT),-ledit,-lreadline)

# ---- vector kernels ----
# Each file of src/core/cpu/vector is compiled once per instruction set. The baseline is the one that every processor
# has; with arm64 that includes NEON.
ISA_FLAGS_baseline := $(if $(filter x86_64,$(MACHINE)),-msse2)
ISA_FLAGS_avx2 := -mavx2 -mfma -mf16c
ISA_FLAGS_avx512 := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mf16c -mprefer-vector-width=512
ISAS := baseline $(if $(filter x86_64,$(MACHINE)),avx2 avx512)
# -O2 with "omp simd" vectorizes. The other passes of -O3 double the compile time without a measured gain, except
# -fpeel-loops (accumulators in registers), -funswitch-loops (loop-invariant branches) and inlined formulas. Tracking of
# optimized variables would add a quarter of the time. clang has none of these flags. With sanitizers the optimizer
# takes minutes a file, so -O1.
VECTOR_GCC := -O2 -falign-loops=32 -ftree-vectorize -fvect-cost-model=dynamic -fpeel-loops -funswitch-loops \
              --param=max-inline-insns-single=200 -fno-var-tracking-assignments
VECTOR_FLAGS := $(if $(SANITIZE),-O1,$(if $(CLANG),-O3,$(VECTOR_GCC))) -fno-math-errno -fno-trapping-math -Wno-psabi \
                $(NO_LTO)
# The remainder of a vector loop stays a loop. Unrolled in thousands of loops it would double code and compile time.
FAMILY_FLAGS := $(if $(CLANG),,-fno-peel-loops --param=max-completely-peel-times=4)
# Zeroed accumulators stay registers instead of memory for memset.
REDUCE_FLAGS := $(if $(CLANG),,-fno-tree-loop-distribute-patterns)

# ---- CUDA ----
NVCC ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
CUDA ?= $(if $(NVCC),yes,no)
# The toolkit of CUDA 12, for drivers older than R580: make NVCC12=/usr/local/cuda-12.9/bin/nvcc
NVCC12 ?=
# The architectures of this machine's GPUs; 90 without any. Releases support all.
LIST_ARCHS := nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -E '^[0-9]+\.[0-9]+$$'
present_archs := $(if $(filter yes,$(CUDA)),$(sort $(subst .,,$(shell $(LIST_ARCHS)))))
CUDA_ARCHS ?= $(if $(filter dist test-dist deb,$(MAKECMDGOALS)),75 80 86 89 90 100 120,$(or $(present_archs),90))
newest_arch := $(lastword $(CUDA_ARCHS))
GENCODE := $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
           -gencode arch=compute_$(newest_arch),code=compute_$(newest_arch)
# Instances of one template are similar: compression for size shrinks them to a thirtieth (CUDA 12.4
# and later).
COMPRESS := $(if $(filter yes,$(CUDA)),$(if $(findstring --compress-mode,$(shell $(NVCC) --help 2>&1)),\
  --compress-mode=size))
# -O2 is for the host code, which launches kernels; kernels are always compiled with -O3.
NVCCFLAGS := -std=c++17 -O2 -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra $(INCLUDES) $(COMPRESS) \
             $(if $(WERROR),-Werror all-warnings -Xcompiler -Werror) $(GENCODE) --threads 2
