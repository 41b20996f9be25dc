# objects.mk - rules that compile: C, vector kernels per instruction set, the simulator, nvcc.

$(CORE_OBJ) $(VECTOR_OBJ) $(BIND_OBJ) $(REPL_OBJ) $(SIM_OBJ) $(CHECKED_OBJ) $(CUDA_OBJ) $(CUDA12_OBJ): \
  | $(GEN_STAMP) $(GEN)/build_config.h $(GEN)/assert_config.h

# ---- C ----
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

$(LUA_OBJ)/src/lua/%.o: src/lua/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) -Isrc/lua -Isrc $(LUA_CFLAGS) -c $< -o $@

# The Jupyter plugin calls the Lua functions of the program that opens it.
$(JUPYTER_OBJ): private CFLAGS += -fvisibility=hidden
$(LUA_OBJ)/repl/%.o: repl/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) -Irepl -Isrc/lua $(LUA_CFLAGS) $(if $(LIBEDIT),-DLT_LIBEDIT) -c $< -o $@

$(OBJ)/gen/%.o: $(GEN)/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) $(CHEAP_OPT) -c $< -o $@

define binding_rule
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) $(CHEAP_OPT) -Isrc/lua $(LUA_CFLAGS) -c $< -o $@
endef
$(LUA_OBJ)/gen/bind_%.o: $(GEN)/bind_%.c
	$(binding_rule)
$(LUA_OBJ)/gen/embedded_%.o: $(LUA_OBJ)/gen/embedded_%.c
	$(binding_rule)

# ---- vector kernels ----
$(foreach i,$(ISAS),$(OBJ)/src/core/cpu/vector/pointwise/%.$(i).o): private VECTOR_FLAGS += $(FAMILY_FLAGS)
$(foreach i,$(ISAS),$(OBJ)/src/core/cpu/vector/reduce/%.$(i).o): private VECTOR_FLAGS += $(REDUCE_FLAGS)
define isa_rule
$(OBJ)/src/core/cpu/vector/%.$(1).o: src/core/cpu/vector/%.c $(SLEEF_NAMES)
	@mkdir -p $$(@D)
	@echo '  CC $$< ($(1))'
	$(CC) $(CFLAGS_ALL) $$(VECTOR_FLAGS) $(ISA_FLAGS_$(1)) -DLT_ISA=$(1) -c $$< -o $$@
	$(OBJCOPY) --redefine-syms=$(SLEEF_NAMES) $$@
endef
$(foreach i,$(ISAS),$(eval $(call isa_rule,$(i))))

# ---- the simulator ----
SIM_OPT := $(CHEAP_OPT)
# There are many elementwise kernels, and each is small.
$(OBJ)/src/cuda/kernels/pointwise/%.sim.o: private SIM_OPT := $(if $(SIM_OPT),-Og -g1)
$(OBJ)/src/cuda/%.sim.o: src/cuda/%.cu
	@mkdir -p $(@D)
	@echo '  CXX $<'
	$(CXX) $(CXXFLAGS_ALL) $(SIM_OPT) $(SIM_SAN) -Isrc/cuda/sim/include -Isrc/cuda -x c++ -c $< -o $@

# -fsanitize=thread makes the compiler call a function at each access; sim/check implements these functions instead of
# ThreadSanitizer. GCC only: clang does not accept the launch bounds of templates. Aggregates stay whole, so that an
# access has its width. Link-time optimization would move the compilation to the link, which lacks the option.
CHECK_FLAGS := -Og -g1 -fsanitize=thread --param tsan-instrument-func-entry-exit=0 -fno-tree-sra \
               -fsanitize=float-cast-overflow -fno-lto -DLT_SIM_CHECKED
CHECK_CXX := $(if $(findstring clang,$(CXX)),g++,$(CXX))
# The simulator shares their functions of std::string, which must not be checked while a kernel runs.
$(patsubst %,$(OBJ)/src/cuda/kernels/compile/%.checked.o,cache plan programs source user_kernel): \
  private CHECK_FLAGS := -Og -g1 -DLT_SIM_CHECKED
$(OBJ)/src/cuda/%.checked.o: src/cuda/%.cu
	@mkdir -p $(@D)
	@echo '  CXX $< (checked)'
	$(CHECK_CXX) $(CXXFLAGS_ALL) $(CHECK_FLAGS) -Isrc/cuda/sim/include -Isrc/cuda -x c++ -c $< -o $@

# These functions run before each access of a kernel, and between the threads of a block.
$(filter $(OBJ)/src/cuda/sim/check/%,$(SIM_RUNTIME_OBJ)) $(CHECK_OBJ) \
  $(addprefix $(OBJ)/src/cuda/sim/,fiber.o $(SIM_SWITCH)/switch.o): private SIM_OPT := $(if $(SIM_OPT),-O2 -g1)
$(OBJ)/src/cuda/sim/%.o: src/cuda/sim/%.cpp
	@mkdir -p $(@D)
	@echo '  CXX $<'
	$(CXX) $(CXXFLAGS_ALL) $(SIM_OPT) -Isrc/cuda/sim/include -Isrc/cuda -c $< -o $@

# ---- nvcc ----
$(foreach kind,cuda cuda12,$(HOST_CU_SRC:%.cu=$(OBJ)/%.$(kind).o)): private NVCC_LANGUAGE := -x c++
$(OBJ)/src/cuda/%.cuda.o: src/cuda/%.cu
	@mkdir -p $(@D)
	@echo '  NVCC $<'
	$(NVCC) $(NVCCFLAGS) $(NVCC_LANGUAGE) -Xptxas -v -Isrc/cuda -MD -MP -MF $(@:.o=.d) -c $< -o $@ 2>$@.usage || \
	  { cat $@.usage >&2; exit 1; }
	@grep -v '^ptxas info\|bytes stack frame\|^$$' $@.usage >&2 || true

$(OBJ)/src/cuda/%.cuda12.o: src/cuda/%.cu
	@mkdir -p $(@D)
	@echo '  NVCC $< (CUDA 12)'
	$(NVCC12) $(NVCCFLAGS) $(NVCC_LANGUAGE) -Isrc/cuda -MD -MP -MF $(@:.o=.d) -c $< -o $@
