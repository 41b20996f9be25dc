# arm64.mk - the build for arm64 on another machine, and its tests under emulation.

##@ Other processors
## test-arm64 [SPECS="views topk"]: build in build-arm64 and run the tests under qemu, or the named specs
.PHONY: test-arm64
ARM64_BUILD := build-arm64
test-arm64:
	@sh scripts/deps.sh arm64
	@$(SUBMAKE) CROSS=aarch64-linux-gnu- BUILD=$(ARM64_BUILD) CUDA=no all test-programs
	@$(LUA) scripts/vector_code.lua --check $(ARM64_BUILD)
	@sh tests/arm64/run.sh $(ARM64_BUILD)
