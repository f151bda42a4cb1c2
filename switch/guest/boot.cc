#include "boot.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace fabriscope::guest {
namespace {

void require(bool is_done, const std::string& attempted) {
  if (!is_done) throw std::system_error(errno, std::generic_category(), attempted);
}

void make_folder(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    ::mkdir(path.substr(0, slash).c_str(), 0755);
  }
  require(::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST, "make the folder " + path);
}

void mount_at(const char* type, const std::string& place, const std::string& options = "",
              unsigned long flags = 0) {
  require(::mount(type, place.c_str(), type, flags, options.c_str()) == 0,
          "mount " + std::string(type) + " at " + place);
}

// The machine's own / as it is, and over it a file system in memory that takes what is written.
void lay_memory_over_root() {
  mount_at("tmpfs", "/tmp", "mode=0755");
  for (const char* part : {"/tmp/upper", "/tmp/work", "/tmp/root"}) make_folder(part);
  // Without set-user-ID: where an ordinary user made the lab, the machine's root is nobody in its
  // user namespace, and `mount` (and su, ping ...) would give up the guest's root for nobody's
  // rights.
  mount_at("overlay", "/tmp/root", "lowerdir=/,upperdir=/tmp/upper,workdir=/tmp/work", MS_NOSUID);
  require(::chdir("/tmp/root") == 0, "enter the new root");
  require(::mount(".", "/", nullptr, MS_MOVE, nullptr) == 0, "move the new root to /");
  require(::chroot(".") == 0 && ::chdir("/") == 0, "enter the new root");
}

void open_console() {
  const int console = ::open("/dev/console", O_RDWR | O_NOCTTY);
  require(console >= 0, "open the console");
  for (int standard = 0; standard < 3; ++standard) ::dup2(console, standard);
  if (console > 2) ::close(console);
}

void mount_surroundings(const std::string& lab_folder) {
  mount_at("proc", "/proc");
  mount_at("sysfs", "/sys");
  mount_at("devtmpfs", "/dev");
  open_console();
  make_folder("/dev/pts");
  make_folder("/dev/shm");
  mount_at("devpts", "/dev/pts", "ptmxmode=0666,mode=0620");
  mount_at("tmpfs", "/dev/shm", "mode=1777");
  mount_at("tmpfs", "/run", "mode=0755");
  require(::symlink("/proc/self/fd", "/dev/fd") == 0, "make /dev/fd");
  for (int standard = 0; standard < 3; ++standard) {
    static const char* const kNames[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    const std::string target = "/proc/self/fd/" + std::to_string(standard);
    require(::symlink(target.c_str(), kNames[standard]) == 0, "make /dev/stdin");
  }
  make_folder(lab_folder);
  require(::mount("lab", lab_folder.c_str(), "hostfs", MS_RDONLY, lab_folder.c_str()) == 0,
          "mount the lab's folder");
}

void run_script(const std::string& path) {
  const pid_t child = ::fork();
  require(child >= 0, "start a process");
  if (child == 0) {
    ::execl("/bin/sh", "sh", path.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  require(::waitpid(child, &status, 0) == child, "wait for the boot script");
  if (status != 0) throw std::runtime_error("the boot script " + path + " failed");
}

}  // namespace

void boot(const BootSettings& settings) {
  ::umask(0022);
  lay_memory_over_root();
  mount_surroundings(settings.folder);
  require(::sethostname(settings.host.c_str(), settings.host.size()) == 0, "set the host name");
  // What verbs register stays in memory; nobody else shares this machine.
  const rlimit no_limit{RLIM_INFINITY, RLIM_INFINITY};
  require(::setrlimit(RLIMIT_MEMLOCK, &no_limit) == 0, "lift the limit on locked memory");
  ::setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
  require(::close(::open("/run/fabriscope-guest", O_CREAT | O_WRONLY, 0444)) == 0,
          "mark the guest");
  run_script(settings.folder + "/" + settings.host + ".boot");
}

}  // namespace fabriscope::guest
