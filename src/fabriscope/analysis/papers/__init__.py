"""A published evaluation held against a run: its claims judged, its tables beside ours."""
