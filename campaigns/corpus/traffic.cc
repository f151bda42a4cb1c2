/* A job of which every payload byte is known: ranks send each other messages in one pattern, and
 * rank 0 says how many.
 *
 *   corpus_traffic PATTERN MESSAGES BYTES [SLEEP_BEFORE_MS [SLEEP_BETWEEN_MS]]
 *
 * Patterns: ping_pong (of ranks r and r + half), one_way (likewise, r sends alone), ring (all at
 * once), all_to_all (every rank to every other), put (one-sided, 0 into 1), silence (nothing is
 * sent), reduce (MPI_Allreduce: what it sends is the library's own matter). Rank 0 prints
 * `corpus-traffic {"patterns": ..., "sent": {"0>1": bytes}, "messages": n, "least_us": t}`; t is
 * the least half round trip of a ping-pong. Nothing is sent for the count itself: every rank does
 * what the words say.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void pause_ms(long ms) {
  struct timespec wait = {ms / 1000, (ms % 1000) * 1000000L};
  nanosleep(&wait, NULL);
}

static double least_us = 1e12;

static void ping_pong(int rank, int half, long messages, int bytes, char* buffer, long between_ms) {
  int is_first = rank < half, peer = is_first ? rank + half : rank - half;
  for (long i = 0; i < messages; ++i) {
    double start = MPI_Wtime();
    if (is_first) MPI_Send(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!is_first) MPI_Send(buffer, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    double us = (MPI_Wtime() - start) * 1e6 / 2;
    if (us < least_us) least_us = us;
    if (between_ms) pause_ms(between_ms);
  }
}

static void one_way(int rank, int half, long messages, int bytes, char* buffer) {
  for (long i = 0; i < messages; ++i) {
    if (rank < half)
      MPI_Send(buffer, bytes, MPI_BYTE, rank + half, 1, MPI_COMM_WORLD);
    else
      MPI_Recv(buffer, bytes, MPI_BYTE, rank - half, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void shift(int rank, int size, int distance, int bytes, char* out, char* in) {
  MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + distance) % size, 1, in, bytes, MPI_BYTE,
               (rank + size - distance) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void put(int rank, long messages, int bytes, char* buffer) {
  MPI_Win window;
  MPI_Win_create(buffer, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (long i = 0; i < messages; ++i) {
    MPI_Win_fence(0, window);
    if (rank == 0) MPI_Put(buffer, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
    MPI_Win_fence(0, window);
  }
  MPI_Win_free(&window);
}

static long print_sent(const char* pattern, int size, long messages, int bytes) {
  int half = size / 2, is_all = !strcmp(pattern, "all_to_all");
  int sends = is_all || !strcmp(pattern, "ring") || !strcmp(pattern, "ping_pong");
  int sends_one_way = !strcmp(pattern, "one_way") || !strcmp(pattern, "put");
  long count = 0;
  const char* comma = "";
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to) {
      int is_pair = is_all                     ? from != to
                    : !strcmp(pattern, "ring") ? to == (from + 1) % size
                    : !strcmp(pattern, "put")  ? from == 0 && to == 1
                                               : to == from + half || (sends && to == from - half);
      if (!is_pair || !(sends || sends_one_way)) continue;
      printf("%s\"%d>%d\": %ld", comma, from, to, messages * bytes);
      comma = ", ";
      count += messages;
    }
  return count;
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr,
            "usage: corpus_traffic PATTERN MESSAGES BYTES [SLEEP_BEFORE_MS [SLEEP_BETWEEN_MS]]\n");
    return 2;
  }
  const char* pattern = argv[1];
  long messages = atol(argv[2]), before_ms = argc > 4 ? atol(argv[4]) : 0,
       between_ms = argc > 5 ? atol(argv[5]) : 0;
  int bytes = atoi(argv[3]), rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char *out = static_cast<char*>(calloc(bytes + 1, 1)),
       *in = static_cast<char*>(calloc(bytes + 1, 1));
  for (int i = 0; i < bytes; ++i) out[i] = (char)(i * 31 + rank);
  pause_ms(before_ms);
  if (!strcmp(pattern, "ping_pong")) ping_pong(rank, size / 2, messages, bytes, out, between_ms);
  if (!strcmp(pattern, "one_way")) one_way(rank, size / 2, messages, bytes, out);
  if (!strcmp(pattern, "put")) put(rank, messages, bytes, out);
  for (long i = 0; i < messages && !strcmp(pattern, "ring"); ++i)
    shift(rank, size, 1, bytes, out, in);
  for (long i = 0; i < messages && !strcmp(pattern, "all_to_all"); ++i)
    for (int distance = 1; distance < size; ++distance) shift(rank, size, distance, bytes, out, in);
  for (long i = 0; i < messages && !strcmp(pattern, "reduce"); ++i)
    MPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
  if (!strcmp(pattern, "silence")) pause_ms(500);
  if (rank == 0) {
    printf("corpus-traffic {\"pattern\": \"%s\", \"sent\": {", pattern);
    long count = print_sent(pattern, size, messages, bytes);
    printf("}, \"messages\": %ld, \"least_us\": %.3f}\n", count, least_us < 1e12 ? least_us : -1.0);
    fflush(stdout);
  }
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
