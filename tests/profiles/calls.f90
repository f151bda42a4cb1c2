! The calls of a Fortran program, by its three bindings: mpif.h, the module mpi, the module mpi_f08.
program calls
  BINDING
  implicit none
  integer :: rank, ranks, error, total
  double precision :: numbers(100)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  numbers = rank
  if (rank == 0) call MPI_Send(numbers, 100, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, error)
  if (rank == 1) call MPI_Recv(numbers, 100, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print *, total
  call MPI_Finalize(error)
end program
