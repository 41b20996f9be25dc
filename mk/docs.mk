# docs.mk - pages, editors' annotations, the site, the manual page.

##@ Documentation
## docs: a page per subject of ops in build/docs, annotations for editors in build/meta
## site: the documentation as a site that needs no server, in build/site/html
.PHONY: docs site

# The text of the pages is that of the prompt's help; the annotations are LuaCATS.
RESULT := $(if $(MINIMAL),$(MIN),$(BUILD))
RESULT_GEN := $(if $(MINIMAL),$(MIN_GEN),$(GEN))
docs: $(if $(MINIMAL),$(MIN_STAMP),$(GEN_STAMP) $(PROGRAM))
	@mkdir -p $(RESULT)/docs $(RESULT)/meta
	$(if $(MINIMAL),LT_OPS=$(MIN_GEN)/ops) $(LUA) scripts/gen/pages.lua $(RESULT_GEN)/ops_docs.lua $(RESULT)/docs
	cp lib/meta/*.lua $(RESULT)/meta/
	cp $(RESULT_GEN)/ltensor.d.lua $(RESULT)/meta/ops.lua
	$(if $(MINIMAL),,$(RUN) $(PROGRAM) scripts/site/annotations.lua $(RESULT)/meta)

# Uses mkdocs with its theme material.
site: all
	@BUILD=$(BUILD) LUA=$(LUA) sh scripts/site/build.sh

# The manual page and the shell completions, generated from the texts of --help.
DATE = $(shell date -u -d @$(EPOCH) +%Y-%m-%d)
$(BUILD)/shell/ltensor.1: $(PROGRAM) scripts/manual.lua docs/guide/README.md
	@mkdir -p $(@D)
	for command in '' build chat embed generate; do $(RUN) $(PROGRAM) $$command --help; done | $(LUA) scripts/manual.lua $(VERSION) $(DATE) $(@D) docs/guide/README.md
