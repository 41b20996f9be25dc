# bench.mk - benchmarks, most of them in comparison with PyTorch (run by $PYTHON), for docs/results.

PYTHON ?= python3

##@ Measurements
## bench: ops, layers and scripts beside PyTorch
## bench-compile [DEVICE=cuda]: fused expressions beside PyTorch's Inductor
## bench-programs [DEVICE=cuda]: whole programs, eager and compiled, beside PyTorch and Inductor
## bench-memory: memory that training needs, eager and compiled, beside PyTorch
## bench-fft: Fourier transforms beside PyTorch
## bench-distributed: two ranks beside PyTorch with gloo and mpi4py
## bench-threads: threads of small ops, each in its own context
## bench-start: size and time of a small static program beside libtorch
## bench-cuda: the real GPU beside PyTorch, into docs/results
## gpu-report [SIM=1]: test and measure a GPU in eight minutes, into docs/results; a dry run on simulated ones
## ptx-report [PTX_ARCHS="75 90 100"]: registers, spills and accesses of the kernels that nvcc compiled
## launch-cost [OP="a + b"]: instructions, locks and runtime calls of an op on a GPU, counted on a simulated one; needs valgrind
## book [BOOK="03 07"]: train the notebooks of docs/book in full; hours on a CPU
.PHONY: bench bench-compile bench-programs bench-memory bench-fft bench-distributed bench-threads bench-start \
        bench-cuda ptx-report ptx-objects launch-programs launch-cost gpu-report book
bench: all
	@BUILD=$(BUILD) sh tests/bench/run.sh
bench-compile: all
	@$(PYTHON) tests/bench/compile/beside.py $(BUILD)/ltensor
bench-programs: all
	@$(PYTHON) tests/bench/programs/beside.py $(BUILD)/ltensor
bench-memory: all
	@$(PYTHON) tests/bench/programs/memory.py $(BUILD)/ltensor
bench-fft: all
	@for lines in 1 64; do for threads in 1 2; do \
	  $(PYTHON) tests/bench/fft/beside.py $(BUILD)/ltensor $$threads $$lines; echo; done; done
bench-distributed: all
	@BUILD=$(BUILD) sh tests/bench/distributed/run.sh
bench-threads: all
	@$(CC) -O2 -std=gnu11 -Wall -Wextra -Iinclude -I$(BUILD)/gen tests/bench/threads/threads.c -o $(BUILD)/threads \
	  -L$(BUILD) -Wl,-rpath,$(abspath $(BUILD)) -lltensor_lua -lltensor -lm -lpthread
	@$(BUILD)/threads 0.3
bench-start: all
	@BUILD=$(BUILD) sh tests/bench/start/run.sh
bench-cuda: all
	@BUILD=$(BUILD) sh tests/bench/run_cuda.sh

gpu-report: all $(BUILD)/tests/prompt_host $(TEST_TOOLS)
	@SIM="$(SIM)" $(LUA) tests/gpu/report.lua $(BUILD)

PTX_ARCHS ?= 75 90 100
ptx-report:
	+@BUILD=$(BUILD) NVCC="$(NVCC)" ARCHS="$(if $(filter yes,$(CUDA)),$(CUDA_ARCHS))" PTX_ARCHS="$(PTX_ARCHS)" \
	  MAKE="$(MAKE)" LUA="$(LUA)" sh scripts/ptx/run.sh
ptx-objects: $(CUDA_OBJ)

$(BUILD)/launch_ops: tests/bench/launch/ops.c $(BUILD)/libltensor.so
	$(CC) -O2 -std=gnu11 -Wall -Wextra -Iinclude -I$(GEN) $< -o $@ -L$(BUILD) -Wl,-rpath,'$$ORIGIN' -lltensor
$(BUILD)/launch_membarrier.so: tests/bench/launch/membarrier.c
	$(CC) -O2 -std=gnu11 -Wall -Wextra -fPIC -shared $< -o $@
launch-programs: $(BUILD)/ltensor $(BUILD)/libltensor_sim.so $(BUILD)/launch_ops $(BUILD)/launch_membarrier.so
# Without assertions, and the backend with -O2, as in a release for GPUs.
launch-cost:
	@$(SUBMAKE) BUILD=build-launch OPT="-O2 -g1" ASSERT=no CUDA=no launch-programs
	@$(LUA) tests/bench/launch/count.lua build-launch "$(OP)"

book: all
	@BUILD=$(BUILD) sh scripts/book.sh $(BOOK)
