"""What programs do in MPI, and what of their time the measured curves explain."""
