# library_sources.mk - libraries that are compiled from their sources, for builds for which Debian has no packages of them.
# scripts/library_sources.sh fetches the sources.

LIBRARY_SOURCES ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ltensor/libraries
LIBRARY_INCLUDES := -Isrc/cuda/sim/small_blas $(addprefix -isystem $(LIBRARY_SOURCES),/. /lua5.4/src /zlib /cmocka/include)
LIBRARY_SRC := $(filter-out %/lua.c %/luac.c,$(wildcard $(LIBRARY_SOURCES)/lua5.4/src/*.c)) $(LIBRARY_SOURCES)/cjson/cJSON.c \
               $(addprefix $(LIBRARY_SOURCES)/zlib/,$(addsuffix .c,adler32 compress crc32 deflate gzclose gzlib gzread gzwrite \
               inffast inflate inftrees trees uncompr zutil))
LIBRARY_OBJ := $(LIBRARY_SRC:$(LIBRARY_SOURCES)/%.c=$(OBJ)/libraries/%.o)
$(OBJ)/libraries/%.o: $(LIBRARY_SOURCES)/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	$(CC) -O2 -DHAVE_UNISTD_H $(LIBRARY_FLAGS) -c $< -o $@
