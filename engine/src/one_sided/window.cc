#include "window.h"

#ifdef FABRISCOPE_WITH_MPI

#include <array>
#include <cstring>
#include <exception>
#include <map>

#include "fabriscope/error.h"

namespace fabriscope {

// Who makes the memory, and how the window comes to it.
struct Window::Memory {
  const char* name;
  int (Window::*make)(MPI_Aint size_bytes);
};

std::shared_ptr<Window> Window::of(const std::string& memory) {
  static const std::array<Memory, 3> kinds{{{"allocate", &Window::allocate},
                                            {"create", &Window::create_over_own},
                                            {"dynamic", &Window::attach_own}}};
  static std::map<std::string, std::weak_ptr<Window>> windows;
  for (const Memory& kind : kinds) {
    if (memory != kind.name) continue;
    std::shared_ptr<Window> window = windows[memory].lock();
    if (!window) window.reset(new Window(kind));
    windows[memory] = window;
    return window;
  }
  throw CaseError("there is no window_memory '" + memory +
                  "'; known are: allocate, create, dynamic");
}

Window::Window(const Memory& memory) : memory_(memory) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_split(MPI_COMM_WORLD, rank_ < 2 ? 0 : MPI_UNDEFINED, rank_, &pair_);
  if (!takes_part()) return;
  MPI_Group both = MPI_GROUP_NULL;
  MPI_Comm_group(pair_, &both);
  const int other = peer();
  MPI_Group_incl(both, 1, &other, &peer_group_);
  MPI_Group_free(&both);
}

Window::~Window() {
  // A run that ends by an error ends at one rank, and freeing would wait for the other.
  if (!takes_part() || std::uncaught_exceptions() > 0) return;
  release();
  MPI_Group_free(&peer_group_);
  MPI_Comm_free(&pair_);
}

void Window::reserve(std::size_t exposed_bytes, std::size_t source_bytes,
                     std::size_t result_bytes) {
  if (!takes_part()) return;
  if (source_bytes > source_bytes_) source_ = MessageBuffer(source_bytes_ = source_bytes);
  if (result_bytes > result_bytes_) result_ = MessageBuffer(result_bytes_ = result_bytes);
  if (exposed_bytes <= exposed_bytes_) return;
  release();
  // The default handler would end the job, and with it every other case.
  MPI_Comm_set_errhandler(pair_, MPI_ERRORS_RETURN);
  const int status = create(exposed_bytes);
  MPI_Comm_set_errhandler(pair_, MPI_ERRORS_ARE_FATAL);
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  throw CaseError("the MPI library makes no window with window_memory=" +
                  std::string(memory_.name) + ": " + text.data());
}

int Window::create(std::size_t exposed_bytes) {
  int status = (this->*memory_.make)(static_cast<MPI_Aint>(exposed_bytes));
  // Both have one or none: a window at one rank alone cannot even be freed.
  int worst = MPI_SUCCESS;
  MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, pair_);
  if (worst != MPI_SUCCESS) {
    handle_ = MPI_WIN_NULL;
    return worst;
  }
  std::memset(exposed_, 0, exposed_bytes);  // so that no page faults in the timed region
  exposed_bytes_ = exposed_bytes;
  MPI_Barrier(pair_);
  return MPI_SUCCESS;
}

int Window::allocate(MPI_Aint size_bytes) {
  return MPI_Win_allocate(size_bytes, 1, MPI_INFO_NULL, pair_, &exposed_, &handle_);
}

int Window::create_over_own(MPI_Aint size_bytes) {
  own_ = MessageBuffer(static_cast<std::size_t>(size_bytes));
  exposed_ = own_.data();
  return MPI_Win_create(exposed_, size_bytes, 1, MPI_INFO_NULL, pair_, &handle_);
}

// The peer's memory is found by its address there.
int Window::attach_own(MPI_Aint size_bytes) {
  own_ = MessageBuffer(static_cast<std::size_t>(size_bytes));
  exposed_ = own_.data();
  int status = MPI_Win_create_dynamic(MPI_INFO_NULL, pair_, &handle_);
  if (status == MPI_SUCCESS) status = MPI_Win_attach(handle_, exposed_, size_bytes);
  is_attached_ = status == MPI_SUCCESS;
  MPI_Aint address = 0;
  MPI_Get_address(exposed_, &address);
  MPI_Sendrecv(&address, 1, MPI_AINT, peer(), 0, &peer_displacement_, 1, MPI_AINT, peer(), 0, pair_,
               MPI_STATUS_IGNORE);
  return status;
}

void Window::release() {
  if (handle_ == MPI_WIN_NULL) return;
  MPI_Barrier(pair_);
  if (is_attached_) MPI_Win_detach(handle_, exposed_);
  is_attached_ = false;
  MPI_Win_free(&handle_);
  exposed_bytes_ = 0;
}

bool Window::is_unified() const {
  int* model = nullptr;
  int found = 0;
  MPI_Win_get_attr(handle_, MPI_WIN_MODEL, static_cast<void*>(&model), &found);
  return found != 0 && *model == MPI_WIN_UNIFIED;
}

}  // namespace fabriscope

#endif
