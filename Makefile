# make demo   the main job on a cluster made out of this machine; ends with a report
# make demo-softroce  Soft RoCE against Ethernet between two guests with kernels of their own; builds that kernel first
# make test   every test
# make check  formats, lints, types, sanitizers, and every test
.PHONY: demo demo-softroce test check setup clean

VENV := .venv/bin
RUN := runs/demo-$(shell date +%Y%m%d-%H%M%S)

demo:
	@scripts/setup
	@$(VENV)/fabriscope mpi add openmpi
	@$(VENV)/fabriscope run examples/demo.yaml --output $(RUN)
	@$(VENV)/fabriscope report $(RUN)

demo-softroce:
	@scripts/demo-softroce

test:
	@scripts/setup dev
	@scripts/test

check:
	@scripts/setup dev
	@scripts/check
	@scripts/test

clean:
	rm -rf build .venv .mypy_cache .ruff_cache .pytest_cache
