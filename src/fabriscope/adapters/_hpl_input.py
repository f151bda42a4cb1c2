"""The input of HPL (HPL.dat) and of HPCC (hpccinf.txt), which is the same with five lines more."""

from __future__ import annotations

from collections.abc import Mapping

_TEXT = """\
HPLinpack benchmark input file
written by fabriscope
HPL.out output file name (if any)
6 device out (6=stdout,7=stderr,file)
1 # of problems sizes (N)
{n} Ns
1 # of NBs
{nb} NBs
0 PMAP process mapping (0=Row-,1=Column-major)
1 # of process grids (P x Q)
{rows} Ps
{columns} Qs
16.0 threshold
1 # of panel fact
2 PFACTs (0=left, 1=Crout, 2=Right)
1 # of recursive stopping criterium
4 NBMINs (>= 1)
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs (0=left, 1=Crout, 2=Right)
1 # of broadcast
1 BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1 # of lookahead depth
1 DEPTHs (>=0)
2 SWAP (0=bin-exch,1=long,2=mix)
64 swapping threshold
0 L1 in (0=transposed,1=no-transposed) form
0 U  in (0=transposed,1=no-transposed) form
1 Equilibration (0=no,1=yes)
8 memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0 Number of additional problem sizes for PTRANS
1200 values of N
0 number of additional blocking sizes for PTRANS
40 values of NB
"""
"""The variants are those that HPL's authors suggest to begin with: recursive right-looking panels, a ring that takes
the next panel first, look-ahead of one. The last lines are HPCC's: its transpose has HPL's own sizes."""


def lines(told: Mapping[str, str]) -> tuple[str, ...]:
    """Return the lines for one problem: order `n`, block `nb`, a grid of `rows` by `columns`."""
    return tuple(_TEXT.format_map(told).splitlines())
