# minimal.mk - `make MINIMAL=1 [OPS=path]`: the libraries with selected ops only, in
# $(BUILD)/minimal. No simulated GPUs, no image formats.
#
# The objects of a normal build are reused, except the code that finds ops by name, the tables of
# kernels and the elementwise kernels. scripts/reached.lua finds the kernels that the selected ops
# reach, and writes headers that set the other entries of the tables to NULL (absent.h) and drop
# other members from the families of elementwise kernels. The linker drops unreachable functions
# (--gc-sections).

OPS ?= mk/minimal.txt
MIN := $(BUILD)/minimal
MIN_GEN := $(MIN)/gen
MIN_OBJ := $(MIN)/obj
MIN_STAMP := $(MIN_GEN)/.stamp
MIN_TARGETS := $(addprefix $(MIN)/,libltensor.so libltensor.a libltensor_lua.so libltensor_lua.a torch.so)

# Kernels in tables from which a subset can be selected.
MIN_FAMILIES := $(KERNEL_FAMILIES) complex
FAMILY_OBJ := $(foreach i,$(ISAS),$(MIN_FAMILIES:%=$(OBJ)/src/core/cpu/vector/pointwise/%.$(i).o))
TABLE_SRC := src/core/cpu/backend.c src/core/cpu/common/loops.c
TABLE_OBJ := $(TABLE_SRC:%.c=$(OBJ)/%.o)
MIN_CALLS_OBJ := $(GEN_CALLS:$(GEN)/%.c=$(MIN_OBJ)/%.o)
MIN_SHARED_OBJ := $(filter-out $(TABLE_OBJ) $(FAMILY_OBJ) $(OBJ)/gen/calls_% $(OBJ)/src/core/files/image.o \
                  $(OBJ)/src/core/files/image_encode.o,\
                  $(CORE_OBJ) $(VECTOR_OBJ)) \
                  $(OBJ)/src/core/minimal/no_image.o $(MIN_CALLS_OBJ)
MIN_FAMILY_OBJ := $(foreach i,$(ISAS),$(MIN_FAMILIES:%=$(MIN_OBJ)/%.$(i).o))
MIN_TABLE_OBJ := $(MIN_OBJ)/backend.o $(MIN_OBJ)/loops.o
MIN_BIND_OBJ := $(LUA_SRC:%.c=$(LUA_OBJ)/%.o) $(GEN_BIND:$(GEN)/%.c=$(MIN_OBJ)/%.o) $(MIN_OBJ)/embedded_lib.o
MIN_HEADERS := $(CORE_HEADERS) $(MIN_GEN)/ltensor_ops.h

minimal: $(MIN_TARGETS)
	@size $(MIN)/libltensor.so $(MIN)/libltensor_lua.so | awk 'NR > 1 { printf "%s: %.1f MB\n", $$6, ($$1 + $$2) / 1e6 }'
.PHONY: minimal

# The list of ops may differ between builds.
$(MIN_GEN)/ops: $(OPS) FORCE
	@mkdir -p $(MIN_GEN)/op $(MIN_OBJ)
	@cmp -s $(OPS) $@ || cp $(OPS) $@

$(MIN_STAMP): $(MIN_GEN)/ops $(GEN_STAMP) $(addprefix $(GEN)/,plugin_headers.lua formula_headers.lua c_source_parts.lua) $(FFI_PARTS) $(FFI_SCRIPTS)
	LT_OPS=$< $(LUA) scripts/gen/headers.lua $(MIN_GEN)
	LT_OPS=$< $(LUA) scripts/gen/cpp.lua $(MIN_GEN)
	LT_OPS=$< $(LUA) scripts/gen/calls.lua $(MIN_GEN)
	LT_OPS=$< $(LUA) scripts/gen/binding.lua $(MIN_GEN)
	LT_OPS=$< $(LUA) scripts/gen/description.lua $(VERSION) $(MIN_GEN)/ltensor.json $(sort $(wildcard include/*.h))
	$(LUA) scripts/gen/ffi.lua $(MIN_GEN)/ltensor.json $(SONAME) $(MIN)/ltensor-ffi.lua $(FFI_PARTS)
	TARGET_LUA=$(TARGET_LUA) $(LUA) scripts/embed.lua $(MIN_GEN)/embedded_lib.c lib $$($(LUA) scripts/embed_args.lua lib $(LIB_LUA)) \
	  $(call op_modules,$(MIN_GEN))
	@touch $@
$(patsubst $(GEN)/%,$(MIN_GEN)/%,$(GEN_CALLS) $(GEN_BIND)) $(MIN_GEN)/embedded_lib.c $(MIN_GEN)/ltensor_ops.h: \
  $(MIN_STAMP) ;

$(MIN_OBJ)/%.o: $(MIN_GEN)/%.c $(OBJ)/flags_of_c
	@echo '  CC $<'
	$(CC) $(CFLAGS_ALL) -Isrc/lua $(LUA_CFLAGS) -c $< -o $@

# The binding determines which core symbols are exported, in addition to the headers.
$(MIN_OBJ)/shared.o: $(MIN_SHARED_OBJ) $(TABLE_OBJ)
	@echo '  JOIN $@'
	$(JOIN)
$(MIN_OBJ)/ltensor_lua.o: $(MIN_BIND_OBJ)
	@echo '  JOIN $@'
	$(JOIN)
$(MIN_OBJ)/libltensor.map: $(MIN_OBJ)/shared.o $(MIN_OBJ)/ltensor_lua.o $(MIN_GEN)/ltensor_ops.h $(SYMBOL_SCRIPTS)
	$(LUA) scripts/symbols.lua $(VERSION) $(@:.map=) $(MIN_HEADERS) -- $(MIN_OBJ)/shared.o $(MIN_OBJ)/ltensor_lua.o
$(MIN_OBJ)/absent.h: $(MIN_OBJ)/libltensor.map scripts/reached.lua scripts/source_files.lua src/core/cpu/backend.c
	@echo '  REACH $@'
	$(LUA) scripts/reached.lua $(GEN) $(MIN_OBJ) $(MIN_OBJ)/libltensor.keep '$(MIN_FAMILIES)' $(MIN_SHARED_OBJ)

# The headers of selected kernels hide the complete ones.
MIN_CFLAGS = $(filter-out $(INCLUDES),$(CFLAGS_ALL)) -I$(MIN_OBJ) $(INCLUDES)
define min_table
$(MIN_OBJ)/$(basename $(notdir $(1))).o: $(1) $(MIN_OBJ)/absent.h $(OBJ)/flags_of_c
	@echo '  CC $$< (chosen)'
	$$(CC) $$(MIN_CFLAGS) $$(NO_TABLES) -DLT_CHOSEN_OPS -c $$< -o $$@
endef
$(foreach c,$(TABLE_SRC),$(eval $(call min_table,$(c))))

# Static functions of a family that only unselected ops call are unused.
define min_family
$(MIN_OBJ)/%.$(1).o: src/core/cpu/vector/pointwise/%.c $(MIN_OBJ)/absent.h $(OBJ)/flags_of_c $(SLEEF_NAMES)
	@echo '  CC $$< ($(1), chosen)'
	$$(CC) $$(MIN_CFLAGS) $$(VECTOR_FLAGS) $$(FAMILY_FLAGS) $(ISA_FLAGS_$(1)) -DLT_ISA=$(1) -Wno-unused-function \
	  -c $$< -o $$@
	$(OBJCOPY) --redefine-syms=$(SLEEF_NAMES) $$@
endef
$(foreach i,$(ISAS),$(eval $(call min_family,$(i))))

$(MIN_OBJ)/ltensor.o: $(MIN_SHARED_OBJ) $(MIN_TABLE_OBJ) $(MIN_FAMILY_OBJ)
	@echo '  JOIN $@'
	sed 's/^/-u /' $(MIN_OBJ)/libltensor.keep >$(MIN_OBJ)/roots
	$(LD) -r -d --unique --gc-sections @$(MIN_OBJ)/roots -o $@ $^

$(MIN)/libltensor.a $(MIN)/libltensor_lua.a: $(MIN)/lib%.a: $(MIN_OBJ)/%.o $(MIN_OBJ)/libltensor.map \
                                             $(LUA_OBJ)/libltensor_lua.map
	@echo '  AR $@'
	@rm -f $@
	$(OBJCOPY) --keep-global-symbols=$(if $(findstring _lua,$@),$(LUA_OBJ)/libltensor_lua.keep,$(MIN_OBJ)/libltensor.keep) \
	  $< $(MIN_OBJ)/lib$*.o
	$(AR) rcsD $@ $(MIN_OBJ)/lib$*.o
	@rm $(MIN_OBJ)/lib$*.o

$(MIN)/libltensor.so: $(MIN_OBJ)/ltensor.o $(MIN_OBJ)/libltensor.map
	@echo '  LINK $@'
	$(SHARED) -Wl,--version-script=$(MIN_OBJ)/libltensor.map -o $@ $< $(CORE_LIBS)
	@ln -sf $(@F) $@.$(SONAME)
$(eval $(call lua_libraries,$(MIN),$(MIN_OBJ)))
