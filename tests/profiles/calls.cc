// What a program can do in MPI, by name: each way is a test of what a profile says of it.
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

int rank = 0;
int size = 1;

int next() { return (rank + 1) % size; }
int before() { return (rank + size - 1) % size; }

using Send = decltype(&MPI_Send);
using Receive = decltype(&MPI_Recv);

// Returns how long half a round trip of 8 bytes takes, by these functions.
double ping_pong(int count, Send send, Receive receive) {
  char data[8] = {};
  timespec begin{};
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < count && rank < 2; ++i) {
    if (rank == 0) {
      send(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      receive(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      receive(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      send(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double ns = static_cast<double>(end.tv_sec - begin.tv_sec) * 1e9 +
                    static_cast<double>(end.tv_nsec - begin.tv_nsec);
  return ns / 2 / count;
}

// Bursts in turn by the library's own functions, which nobody counts, and by what replaces them: a
// line for each two.
void overhead(int bursts) {
  void* library = nullptr;
  for (const char* name : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12"}) {
    if (library == nullptr) library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  }
  if (library == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
  const auto send = reinterpret_cast<Send>(dlsym(library, "PMPI_Send"));
  const auto receive = reinterpret_cast<Receive>(dlsym(library, "PMPI_Recv"));
  ping_pong(1000, send, receive);
  for (int i = 0; i < bursts; ++i) {
    const bool is_turned = i % 2 == 1;
    const double first =
        is_turned ? ping_pong(50, MPI_Send, MPI_Recv) : ping_pong(50, send, receive);
    const double second =
        is_turned ? ping_pong(50, send, receive) : ping_pong(50, MPI_Send, MPI_Recv);
    if (rank == 0)
      std::printf("%.2f %.2f\n", is_turned ? second : first, is_turned ? first : second);
  }
}

void edges() {
  int in = 0;
  int out = 7;
  MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Sendrecv(&out, 0, MPI_INT, next(), 0, &in, 0, MPI_INT, before(), 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  int sum = rank;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  std::vector<int> all(static_cast<std::size_t>(size), rank);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  // Of 10 elements every second one: 5 of 4 bytes.
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  MPI_Type_vector(5, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  std::vector<int> numbers(10);
  std::vector<int> others(10);
  MPI_Sendrecv(numbers.data(), 1, strided, next(), 1, others.data(), 1, strided, before(), 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&strided);
  std::vector<int> many(50);
  std::vector<int> more(50);
  for (int elements = 1; elements <= 50; ++elements) {  // handles that come again as other types
    MPI_Datatype several = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(elements, MPI_INT, &several);
    MPI_Type_commit(&several);
    MPI_Gather(many.data(), 1, several, more.data(), 1, several, 0, MPI_COMM_SELF);
    MPI_Type_free(&several);
  }
  MPI_Bcast(&out, 1, MPI_INT, 0, MPI_COMM_SELF);
}

// Ranks in the opposite order: a peer's number is that in the world.
void backwards() {
  MPI_Comm turned = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  int own = 0;
  MPI_Comm_rank(turned, &own);
  std::vector<char> data(100);
  if (own == 0) MPI_Send(data.data(), 100, MPI_BYTE, size - 1, 0, turned);
  if (own == size - 1) MPI_Recv(data.data(), 100, MPI_BYTE, 0, 0, turned, MPI_STATUS_IGNORE);
  MPI_Comm_free(&turned);
  // More than the library remembers at once; each of its own rank, which waits for no other.
  for (int i = 0; i < 300; ++i) {
    MPI_Comm one = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &one);
    MPI_Barrier(one);
    MPI_Comm_free(&one);
  }
}

void requests() {
  std::vector<char> in(1000);
  std::vector<char> out(1000);
  MPI_Request both[2];
  MPI_Irecv(in.data(), 1000, MPI_BYTE, before(), 0, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(out.data(), 1000, MPI_BYTE, next(), 0, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  MPI_Send_init(out.data(), 10, MPI_BYTE, next(), 1, MPI_COMM_WORLD, &both[0]);
  MPI_Recv_init(in.data(), 10, MPI_BYTE, before(), 1, MPI_COMM_WORLD, &both[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  int sum = 0;
  MPI_Request one = MPI_REQUEST_NULL;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &one);
  int done = 0;
  while (done == 0) MPI_Test(&one, &done, MPI_STATUS_IGNORE);
}

// Each way into the next rank's memory, and its form that gives a request.
void windows() {
  std::vector<int> memory(100);
  std::vector<int> out(100);
  std::vector<int> in(100);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory.data(), 400, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(0, window);
  MPI_Request all[4];
  const int to = next();
  MPI_Put(out.data(), 10, MPI_INT, to, 0, 10, MPI_INT, window);
  MPI_Get(in.data(), 20, MPI_INT, to, 0, 20, MPI_INT, window);
  MPI_Accumulate(out.data(), 30, MPI_INT, to, 0, 30, MPI_INT, MPI_SUM, window);
  MPI_Win_flush(to, window);
  MPI_Get_accumulate(out.data(), 40, MPI_INT, in.data(), 40, MPI_INT, to, 0, 40, MPI_INT, MPI_SUM,
                     window);
  MPI_Win_flush(to, window);
  MPI_Rput(out.data(), 50, MPI_INT, to, 0, 50, MPI_INT, window, &all[0]);
  MPI_Rget(in.data(), 60, MPI_INT, to, 0, 60, MPI_INT, window, &all[1]);
  MPI_Raccumulate(out.data(), 70, MPI_INT, to, 0, 70, MPI_INT, MPI_SUM, window, &all[2]);
  MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
  MPI_Rget_accumulate(out.data(), 80, MPI_INT, in.data(), 80, MPI_INT, to, 0, 80, MPI_INT, MPI_SUM,
                      window, &all[3]);
  MPI_Wait(&all[3], MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

// A line whose ends are not joined, a graph in which each sends to the next rank, and one in which
// each sends both ways.
void neighbours() {
  const std::vector<int> out(100);
  std::vector<int> in(100);
  const int none = 0;
  MPI_Comm line = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &none, 0, &line);
  MPI_Neighbor_alltoall(out.data(), 10, MPI_INT, in.data(), 10, MPI_INT, line);
  const int from = before();
  const int to = next();
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  MPI_Neighbor_alltoall(out.data(), 20, MPI_INT, in.data(), 20, MPI_INT, ring);
  std::vector<int> ends;
  std::vector<int> targets;
  for (int i = 0; i < size; ++i) {
    for (const int other : {(i + size - 1) % size, (i + 1) % size}) targets.push_back(other);
    ends.push_back(static_cast<int>(targets.size()));
  }
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Graph_create(MPI_COMM_WORLD, size, ends.data(), targets.data(), 0, &both);
  MPI_Neighbor_alltoall(out.data(), 40, MPI_INT, in.data(), 40, MPI_INT, both);
  for (MPI_Comm* one : {&line, &ring, &both}) MPI_Comm_free(one);
}

// Rank 1 comes late: rank 0 waits for it.
void late() {
  char byte = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) usleep(500000);
  if (rank == 1) MPI_Send(&byte, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void* to_myself(void* argument) {
  const int tag = *static_cast<int*>(argument);
  int in = 0;
  int out = tag;
  for (int i = 0; i < 2000; ++i) {
    MPI_Sendrecv(&out, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  return nullptr;
}

void threads() {
  pthread_t ids[4];
  int tags[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) pthread_create(&ids[i], nullptr, to_myself, &tags[i]);
  for (pthread_t id : ids) pthread_join(id, nullptr);
}

void forks() {
  const pid_t child = fork();
  if (child == 0) std::exit(0);  // with the handlers of the parent
  waitpid(child, nullptr, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

void many(int count) {
  int flag = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
}

void fails() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int data = 0;
  MPI_Send(&data, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
}

void section() {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(2);
  usleep(20000);
  MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Pcontrol(0);
  usleep(2000000);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1);
  MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

void end_badly(const std::string& way) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (way == "abort" && rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (way == "killed" && rank == size - 1) std::raise(SIGKILL);
  if (way == "exits") std::exit(5);
  if (way == "_exits") _exit(5);
  pause();
}

}  // namespace

int main(int count, char** words) {
  const std::string way = count > 1 ? words[1] : "edges";
  const int number = count > 2 ? std::atoi(words[2]) : 1000;
  int given = 0;
  if (way == "threads") {
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &given);
  } else {
    MPI_Init(&count, &words);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (way == "overhead") overhead(number);
  if (way == "edges") edges();
  if (way == "backwards") backwards();
  if (way == "requests") requests();
  if (way == "windows") windows();
  if (way == "neighbours") neighbours();
  if (way == "late") late();
  if (way == "threads" && given == MPI_THREAD_MULTIPLE) threads();
  if (way == "forks") forks();
  if (way == "many") many(number);
  if (way == "fails") fails();
  if (way == "section") section();
  if (way == "abort" || way == "killed" || way == "exits" || way == "_exits") end_badly(way);
  MPI_Finalize();
  return way == "status" ? 9 : 0;
}
