"""Which machines exist, what is true of them (`facts`), and which MPI libraries they have (`mpi`)."""
