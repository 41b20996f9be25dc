# macos.mk - `make check-macos`: compiles libltensor for macOS on arm64 by the compiler of zig. The objects are neither
# linked nor run.

##@ Other systems
## check-macos: compile the C library for macOS with zig (scripts/deps.sh port)
.PHONY: check-macos macos-objects
check-macos:
	@[ -f $(LIBRARY_SOURCES)/complete ] && [ -x $(ZIG) ] || sh scripts/deps.sh port
	$(SUBMAKE) SYSTEM=macos BUILD=$(BUILD)/macos CLANG=clang CC='$(ZIG) cc -target aarch64-macos' OBJCOPY=true CUDA=no ASSERT=no WERROR= \
	  CPPFLAGS='-Qunused-arguments -fno-sanitize=all $(LIBRARY_INCLUDES)' OPT=-O2 CHEAP_OPT=-O1 ONEDNN=none MPIS= macos-objects

macos-objects: $(CORE_OBJ) $(VECTOR_OBJ)
	@echo "$(words $^) objects for macOS on arm64: $$(cat $^ | wc -c) bytes"
