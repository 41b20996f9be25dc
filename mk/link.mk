# link.mk - libraries, plugins, GPU backends and the program.

# The objects of a library are joined into one, so that symbols used only among them become local,
# also in the static library. --unique keeps the sections separate, for programs that link with
# --gc-sections. Link-time optimization makes static functions global and hidden; they become local
# again, so that two joined objects may define the same name.
COMMA := ,
LTO_FLAGS = $(filter-out -M% -I% -D%,$(CFLAGS_ALL)) $(if $(filter %/ltensor.o,$@),$(NO_TABLES)) \
            -r -nostdlib -flinker-output=nolto-rel
JOIN = $(if $(LTO),$(CC) $(LTO_FLAGS) -Wl$(COMMA)-d$(COMMA)--unique -o $@ $^ && $(OBJCOPY) --localize-hidden $@,\
       $(LD) -r -d --unique -o $@ $^)
$(OBJ)/ltensor.o: $(CORE_OBJ) $(VECTOR_OBJ)
$(LUA_OBJ)/ltensor_lua.o: $(BIND_OBJ)
REPL_HOST_OBJ := $(filter-out $(LUA_OBJ)/repl/program/%,$(REPL_OBJ))
$(LUA_OBJ)/ltensor_repl.o: $(REPL_HOST_OBJ)
JOINED := $(OBJ)/ltensor.o $(addprefix $(LUA_OBJ)/ltensor,_lua.o _repl.o)
$(JOINED):
	@echo '  JOIN $@'
	$(JOIN)

# ---- exported symbols ----
SYMBOLS = $(LUA) scripts/symbols.lua $(VERSION) $(@:.map=)
SYMBOL_SCRIPTS := scripts/symbols.lua scripts/source_files.lua
RELEASED_HEADERS := $(wildcard tests/abi/*/*.h)
LUA_HEADERS := include/ltensor_lua.h include/ltensor_script.h include/ltensor_model.h include/ltensor_lm.h
$(LUA_OBJ)/libltensor.map: $(OBJ)/ltensor.o $(LUA_OBJ)/ltensor_lua.o $(SYMBOL_SCRIPTS) $(RELEASED_HEADERS)
	$(SYMBOLS) $(PUBLIC_HEADERS) -- $(OBJ)/ltensor.o $(LUA_OBJ)/ltensor_lua.o
$(LUA_OBJ)/libltensor_lua.map: $(LUA_HEADERS) $(SYMBOL_SCRIPTS) $(RELEASED_HEADERS)
	$(SYMBOLS) $(LUA_HEADERS)
$(LUA_OBJ)/libltensor_repl.map: include/ltensor_prompt.h $(SYMBOL_SCRIPTS)
	$(SYMBOLS) include/ltensor_prompt.h

# ---- libraries ----
define static_library
$(BUILD)/libltensor$(1).a: $(filter %/ltensor$(1).o,$(JOINED)) $(LUA_OBJ)/libltensor$(1).map
	@echo '  AR $$@'
	@rm -f $$@
	$(OBJCOPY) --keep-global-symbols=$(LUA_OBJ)/libltensor$(1).keep $$< $(LUA_OBJ)/libltensor$(1).o
	$(AR) rcsD $$@ $(LUA_OBJ)/libltensor$(1).o
	@rm $(LUA_OBJ)/libltensor$(1).o
endef
$(foreach library,- _lua _repl,$(eval $(call static_library,$(library:-=))))

# Never unmapped: when a host closes its last Lua state, threads still run the libraries' code, and libraries opened by
# them have registered handlers.
STAY := -Wl,-z,nodelete
LINK_SHARED = $(LDFLAGS) $(PACKED) $(STAY) -Wl,--gc-sections -Wl,-Bsymbolic-functions -Wl,--as-needed
SHARED = $(CC) -shared $(SAN) -Wl,-soname,$(@F).$(SONAME) -Wl,-z,defs $(LINK_SHARED)
$(BUILD)/libltensor.so: $(OBJ)/ltensor.o $(LUA_OBJ)/libltensor.map
	@echo '  LINK $@'
	$(SHARED) -Wl,--version-script=$(LUA_OBJ)/libltensor.map -o $@ $< $(CORE_LIBS)
	@ln -sf $(@F) $@.$(SONAME)

# Arguments: the folder of libltensor.so, the folder of the objects. torch.so is the module for a Lua interpreter: it
# has no code, only the dependency on the libraries, so that a process has them once.
rpath = $(if $(filter no,$(RPATH)),,-Wl,-rpath,$(1))
TORCH_RPATH = $(call rpath,'$$ORIGIN:$$ORIGIN/../..')
# The binding for a second Lua is installed beside its torch.so.
LUA_RPATH = '$$ORIGIN$(if $(SHARED_GEN),:$$ORIGIN/../..)'
define lua_libraries
$(1)/libltensor_lua.so: $(2)/ltensor_lua.o $(LUA_OBJ)/libltensor_lua.map $(1)/libltensor.so
	@echo '  LINK $$@'
	$$(SHARED) -Wl,--version-script=$(LUA_OBJ)/libltensor_lua.map $$(call rpath,$$(LUA_RPATH)) -o $$@ $$< \
	  -L$(1) -lltensor $(LUA_LIBS) $(LUA_LDFLAGS) -l$(LUA_NAME)
	@ln -sf $$(@F) $$@.$(SONAME)
$(1)/torch.so: $(1)/libltensor_lua.so
	@echo '  LINK $$@'
	$(CC) -shared -nostdlib $(LDFLAGS) $(STAY) $$(TORCH_RPATH) -o $$@ -Wl,--no-as-needed \
	  -L$(1) -Wl,-rpath-link,$(1) -lltensor_lua
endef
$(eval $(call lua_libraries,$(BUILD),$(LUA_OBJ)))

# For any Lua interpreter: Lua's functions are resolved when it loads the module.
$(BUILD)/rock/libltensor_lua.so.$(SONAME): $(LUA_OBJ)/ltensor_lua.o $(LUA_OBJ)/libltensor_lua.map $(BUILD)/libltensor.so
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(CC) -shared $(SAN) -Wl,-soname,$(@F) $(LINK_SHARED) -Wl,--version-script=$(LUA_OBJ)/libltensor_lua.map \
	  -Wl,-rpath,'$$ORIGIN' -o $@ $< -L$(BUILD) -lltensor $(LUA_LIBS)
# Searches its own folder, where a binary rock has the libraries that it links.
$(BUILD)/rock/libltensor.so.$(SONAME): $(OBJ)/ltensor.o $(OBJ)/libltensor.map
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(CC) -shared $(SAN) -Wl,-soname,$(@F) -Wl,-z,defs $(LINK_SHARED) -Wl,--version-script=$(OBJ)/libltensor.map \
	  -Wl,-rpath,'$$ORIGIN' -o $@ $< $(CORE_LIBS)
$(BUILD)/rock/torch.so: $(BUILD)/rock/libltensor_lua.so.$(SONAME)
	@echo '  LINK $@'
	$(CC) -shared -nostdlib $(STAY) -Wl,-rpath,'$$ORIGIN' -o $@ -Wl,--no-as-needed -Wl,--allow-shlib-undefined $<

# ---- the program ----
# It exports Lua and the libraries' functions to modules that scripts load.
$(LUA_OBJ)/program.list: $(LUA_OBJ)/libltensor.map $(LUA_OBJ)/libltensor_lua.map
	@(echo '{ lua_*; luaL_*; luaopen_*;'; sed -n 's/^    \(lt_.*;\)$$/\1/p' $^; echo '};') >$@

PROGRAM_LIBS = $(LUA_STATIC) $(READLINE_LIBS) $(CORE_LIBS)
PROGRAM_LINK = $(CC) $(SAN) $(LDFLAGS) $(PACKED) -Wl,--gc-sections -Wl,--dynamic-list=$(LUA_OBJ)/program.list
$(PROGRAM): $(REPL_OBJ) $(OBJ)/ltensor.o $(LUA_OBJ)/ltensor_lua.o $(LUA_OBJ)/program.list
	@echo '  LINK $@'
	$(PROGRAM_LINK) -o $@ $(filter %.o,$^) $(PROGRAM_LIBS)

# For the tarball: DT_RPATH, which also applies to the libraries and backends that the program
# opens.
$(BUILD)/dist/ltensor: $(REPL_OBJ) $(OBJ)/ltensor.o $(LUA_OBJ)/ltensor_lua.o $(LUA_OBJ)/program.list
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(PROGRAM_LINK) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib' -o $@ $(filter %.o,$^) $(PROGRAM_LIBS)

# The libraries of the tarball, for the module for LuaJIT.
DIST_LIBRARIES := $(addsuffix .so.$(SONAME),$(addprefix $(BUILD)/dist/,libltensor libltensor_lua))
DIST_SHARED = $(CC) -shared $(SAN) -Wl,-soname,$(@F) -Wl,-z,defs $(LINK_SHARED) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN'
$(BUILD)/dist/libltensor.so.$(SONAME): $(OBJ)/ltensor.o $(LUA_OBJ)/libltensor.map
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(DIST_SHARED) -Wl,--version-script=$(LUA_OBJ)/libltensor.map -o $@ $< $(CORE_LIBS)
$(BUILD)/dist/libltensor_lua.so.$(SONAME): $(LUA_OBJ)/ltensor_lua.o $(LUA_OBJ)/libltensor_lua.map $(BUILD)/dist/libltensor.so.$(SONAME)
	@echo '  LINK $@'
	$(DIST_SHARED) -Wl,--version-script=$(LUA_OBJ)/libltensor_lua.map -o $@ $< $(BUILD)/dist/libltensor.so.$(SONAME) \
	  $(LUA_LIBS) $(LUA_LDFLAGS) -l$(LUA_NAME)

# ---- plugins and GPU backends ----
# MPI's functions are present when an engine is opened, so link none.
$(ENGINES): $(BUILD)/libltensor_%.so: $(OBJ)/src/comm/mpi/mpi.%.o
	@echo '  LINK $@'
	$(CC) -shared $(SAN) $(LDFLAGS) -o $@ $<

$(BUILD)/libltensor_jupyter.so: $(JUPYTER_OBJ)
	@echo '  LINK $@'
	$(CC) -shared $(SAN) $(LDFLAGS) -o $@ $^ -lzmq -lnettle -lcjson -lpthread

SIM_LIBS := -lboost_context -lopenblas -lpthread
$(BUILD)/libltensor_sim.so: $(SIM_OBJ)
	@echo '  LINK $@'
	$(CXX) -shared $(SAN) $(LDFLAGS) $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $^ $(SIM_LIBS)

# LTENSOR_LIB_DIR=build/checked selects this simulator; the folder contains the other plugins, too.
CHECKED_PLUGINS := $(patsubst $(BUILD)/%,$(BUILD)/checked/%,$(ENGINES) $(JUPYTER))
.PHONY: checked
checked: $(BUILD)/checked/libltensor_sim.so $(CHECKED_PLUGINS)
$(CHECKED_PLUGINS): $(BUILD)/checked/%: $(BUILD)/%
	@mkdir -p $(@D)
	@ln -sf ../$* $@
$(BUILD)/checked/libltensor_sim.so: $(CHECKED_OBJ)
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(CHECK_CXX) -shared -Wl,-z,defs -o $@ $^ $(SIM_LIBS)

$(BUILD)/libltensor_cuda.so: $(CUDA_OBJ)
	@echo '  LINK $@'
	$(NVCC) -shared -cudart static -o $@ $^ -ldl -lpthread

$(BUILD)/libltensor_cuda12.so: $(CUDA12_OBJ)
	@echo '  LINK $@'
	$(NVCC12) -shared -cudart static -o $@ $^ -ldl -lpthread
