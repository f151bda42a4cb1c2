"""Statistics of plain numbers: intervals, tests, false discovery. Knows no run, no case and no fabric."""
