"""Statistics of plain numbers: medians, intervals, tests, what many at once cost. Knows no run, case or fabric."""
