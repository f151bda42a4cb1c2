"""Turns commands and hosts into processes and brings back what they said.

`processes.run_commands` starts them; a file here that defines `LAUNCHER` knows one MPI library's mpirun, and
`mpi_jobs` puts it before the program of a command that has `rank_hosts`.
"""
