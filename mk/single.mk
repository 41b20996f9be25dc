# single.mk - `make single-file`: the amalgamation, build/single/ltensor.c and ltensor.h, which a
# program compiles with its own sources. Without the formats that only Lua reads, and process groups.

SINGLE := $(BUILD)/single$(if $(filter posix,$(SYSTEM)),,-$(SYSTEM))
SINGLE_SRC := $(filter-out src/comm/% $(addprefix src/core/,api/inline.c files/csv% files/image%),\
              $(CORE_SRC)) $(GEN)/ops_pointwise.c $(GEN_AUTOGRAD) $(GEN_CALLS) $(VECTOR_SRC)
SINGLE_CC := $(if $(filter windows,$(SYSTEM)),$(MINGW),$(CC))
SINGLE_HEADERS := include/ltensor.h $(filter-out %/ltensor.h %_model.h,$(CORE_HEADERS))

## single-file: build/single/ltensor.c and ltensor.h, the library in one file (x86-64 and Linux); SYSTEM=windows: for MinGW-w64
.PHONY: single-file
single-file: $(SINGLE)/ltensor.c
$(SINGLE)/ltensor.c: $(GEN_STAMP) $(GEN)/build_config.h $(GEN)/assert_config.h $(SINGLE_SRC) $(CORE_HEADERS) \
                     $(shell find src/core -name '*.h' -o -name '*.inc') $(addprefix scripts/gen/,single_file.lua c_names.lua)
	@mkdir -p $(@D)
	@echo '  JOIN $@'
	$(LUA) scripts/gen/single_file.lua $(@D) $(GEN) $(SINGLE_CC) $(SYSTEM) $(SINGLE_HEADERS) $(SINGLE_SRC)

.PHONY: single-object
single-object: $(SINGLE)/ltensor.o
$(SINGLE)/ltensor.o: $(SINGLE)/ltensor.c
	@echo '  CC $<'
	$(SINGLE_CC) -O2 -w -c $< -o $@

## test-windows [TESTS="call dtype"]: compile the amalgamation for Windows and run its C tests under Wine
.PHONY: test-windows
test-windows:
	@[ -f $(LIBRARY_SOURCES)/complete ] || sh scripts/deps.sh port
	$(MAKE) SYSTEM=windows single-object
	BUILD=$(BUILD) MINGW=$(MINGW) sh tests/windows/run.sh $(BUILD)/single-windows/ltensor.o $(LIBRARY_SOURCES)
