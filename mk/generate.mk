# generate.mk - sources that scripts/ makes: of the op declarations, of the embedded Lua, of the build's settings.

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

GENERATED := $(GEN_HEADERS) $(GEN_AUTOGRAD) $(GEN_BIND) $(GEN_CALLS) $(GEN)/ops_pointwise.c $(GEN)/ops_docs.lua \
             $(GEN)/ops_scripted.lua $(SLEEF_NAMES)
$(GENERATED): $(GEN_STAMP) ;

# Of a folder with generated sources: the two modules that describe the ops, in the form that embed.lua reads.
op_modules = $(1)/ops_docs.lua=torch.ops_docs:packed $(1)/ops_scripted.lua=torch.ops_scripted:compiled

$(GEN)/embedded_lib.c: $(LIB_LUA) $(GEN)/ops_docs.lua $(GEN)/ops_scripted.lua scripts/embed.lua scripts/embed_args.lua
	$(LUA) scripts/embed.lua $@ lib $$($(LUA) scripts/embed_args.lua lib $(LIB_LUA)) $(call op_modules,$(GEN))

$(GEN)/embedded_repl.c: $(REPL_LUA) scripts/embed.lua scripts/embed_args.lua
	@mkdir -p $(GEN)
	$(LUA) scripts/embed.lua $@ repl $$($(LUA) scripts/embed_args.lua repl $(REPL_LUA))

# Writes stdin into the target unless the target has that text already: its dependents are then up to date.
write_if_changed = new=$@.$$$$; cat >$$new; if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi

# The settings that --version prints. With CUDA=no the text does not depend on whether nvcc is installed, so that
# packages have the same bytes. A backend of an earlier build is deleted where this build has none.
CUDA_TEXT := $(if $(filter yes,$(CUDA)),CUDA backend for $(addprefix sm_,$(CUDA_ARCHS)),no CUDA backend: $(if \
  $(filter file,$(origin CUDA)),nvcc was not found,left out by CUDA=$(CUDA)))
$(GEN)/build_config.h: FORCE
	@mkdir -p $(GEN)
	@printf '#define LT_BUILD_%s "%s"\n' CUDA "$(CUDA_TEXT)" ONEDNN "$(or $(ONEDNN),none)" \
	  READLINE "$(if $(LIBEDIT),libedit,readline)" MPI "$(MPIS)" | { $(write_if_changed); }
	@rm -f $(filter-out $(CUDA_BACKENDS),$(BUILD)/libltensor_cuda.so $(BUILD)/libltensor_cuda12.so)

# Only the sources that include assertion.h are compiled again when ASSERT changes.
$(GEN)/assert_config.h: FORCE
	@mkdir -p $(GEN)
	@echo '#define LT_ASSERTIONS $(if $(filter no,$(ASSERT)),0,1)' | { $(write_if_changed); }

# Objects of C are compiled again when the compiler's flags change, those of CUDA for other architectures, too. -Werror
# does not count: it does not change an object.
FLAGS_OF_C = $(filter-out -Werror,$(CC) $(CFLAGS_ALL) $(NO_TABLES) $(VECTOR_FLAGS) $(FAMILY_FLAGS))
$(OBJ)/flags_of_c: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS_OF_C)' | { $(write_if_changed); }
$(CORE_OBJ) $(VECTOR_OBJ) $(BIND_OBJ) $(REPL_OBJ) $(JUPYTER_OBJ): $(OBJ)/flags_of_c
$(OBJ)/flags_of_cuda: FORCE
	@mkdir -p $(@D)
	@echo '$(NVCC) $(NVCC12) $(NVCCFLAGS)' | { $(write_if_changed); }
$(CUDA_OBJ) $(CUDA12_OBJ): $(OBJ)/flags_of_cuda
# Phony, as .SECONDARY (Makefile) lets a missing prerequisite count as old.
.PHONY: FORCE
FORCE:

# The files that the source of a generated kernel includes, as text in programs.cu's objects.
FUSED_SOURCES := $(GEN)/fused_sources.h
CHAIN_HEADERS := $(wildcard src/core/formulas/*.h src/core/formulas/*.inc $(addprefix src/cuda/,\
  kernels/conversion.cuh kernels/unrolled.cuh kernels/join.cuh kernels/row_passes.cuh kernels/reduce/steps.cuh \
  kernels/nn/softmax_rows.cuh kernels/nn/norm_rows.cuh kernels/compile/*.cuh kernels/compile/device/* \
  kernels/compile/device/nvrtc/* sim/include/sim/*.h))
$(FUSED_SOURCES): scripts/gen/fused_sources.lua $(CHAIN_HEADERS)
	@mkdir -p $(@D)
	$(LUA) scripts/gen/fused_sources.lua $@
$(foreach kind,sim checked cuda cuda12,$(OBJ)/src/cuda/kernels/compile/programs.$(kind).o): $(FUSED_SOURCES)
