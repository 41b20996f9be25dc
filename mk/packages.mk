# packages.mk - installation, the tarball, Debian's packages, the rock, the image.

##@ Installation and packages
## install [PREFIX=/usr/local]: install the program, libraries, headers and pages; also with MINIMAL=1
## install LUA_NAME=lua5.3: install the module for another Lua beside them
## uninstall [PREFIX=/usr/local]: remove the files that make install wrote
## dist: a tarball for any x86-64 Linux with glibc 2.36, in dist/
## test-dist [TESTS=quick|smoke]: the tarball, unpacked and tested where nothing else is installed
## deb [REUSE=1]: Debian's packages, in dist/; with the CUDA backend where nvcc is installed; of the build's objects
## test-deb: install and use the packages in a bare Debian (root and a network)
## test-tutorial: run each command of docs/guide/start.md in a bare Debian, with the packages in dist/
## test-same: two builds in two folders give the same bytes
## binary-rock [LUA_NAME=lua5.3]: a rock with the module and its libraries, in dist/, for luarocks install
## image: an image for docker and podman of the packages in dist/ (root and a network)
.PHONY: install uninstall dist test-dist deb test-deb test-tutorial test-same image rock install-rock binary-rock
MODULE_TARGETS := $(BUILD)/torch.so $(BUILD)/libltensor_sim.so $(CUDA_BACKENDS) $(ENGINES) $(GEN)/ltensor.json $(SHARED_GEN)
install: $(if $(SHARED_GEN),$(MODULE_TARGETS),all docs $(if $(MINIMAL),,$(BUILD)/shell/ltensor.1))
	@BUILD=$(RESULT) GEN=$(RESULT_GEN) VERSION=$(VERSION) SONAME=$(SONAME) DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" \
	  LIBDIR="$(LIBDIR)" STRIP=$(STRIP) RUN="$(RUN)" LIBS="$(CORE_LIBS)" LUA_LIBS="$(LUA_LIBS)" LUA_NAME=$(LUA_NAME) \
	  sh scripts/install$(if $(SHARED_GEN),_module).sh

uninstall:
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" sh scripts/uninstall.sh

dist: all docs $(BUILD)/shell/ltensor.1 test-programs $(BUILD)/dist/ltensor $(BUILD)/dist/prompt_host \
      $(DIST_LIBRARIES)
	@BUILD=$(BUILD) VERSION=$(VERSION) EPOCH=$(EPOCH) sh scripts/dist.sh

test-dist: dist
	@sh tests/dist.sh dist/ltensor-$(VERSION)-x86_64-linux.tar.gz $(TESTS)

deb:
	@BUILD=$(BUILD) VERSION=$(VERSION) CUDA=$(CUDA) CUDA_ARCHS="$(CUDA_ARCHS)" REUSE=$(REUSE) ASSERT=$(ASSERT) CROSS=$(CROSS) sh packaging/deb.sh

test-deb: deb
	@VERSION=$(VERSION) sh tests/packages/deb.sh

test-tutorial:
	@VERSION=$(VERSION) sh tests/packages/tutorial.sh

test-same:
	@sh tests/packages/same.sh all

image:
	@VERSION=$(VERSION) EPOCH=$(EPOCH) sh packaging/docker/image.sh

# `luarocks make` calls these (ltensor-*.rockspec). ROCK_LIBDIR is the rock's folder of modules.
ROCK_FILES = $(addprefix $(BUILD)/rock/,torch.so libltensor_lua.so.$(SONAME) libltensor.so.$(SONAME))
ROCK_BACKENDS = $(filter %_sim.so %_cuda.so %_cuda12.so,$(TARGETS))
rock: $(ROCK_FILES) $(ROCK_BACKENDS)
install-rock: rock
	install -d $(ROCK_LIBDIR)
	install -s -m 755 $(ROCK_FILES) $(ROCK_BACKENDS) $(ROCK_LIBDIR)
	$(if $(ROCK_BINARY),sh packaging/rock.sh bundle $(BUILD) $(ROCK_LIBDIR))

binary-rock:
	@LUA_NAME=$(LUA_NAME) BUILD=$(BUILD) sh packaging/rock.sh
