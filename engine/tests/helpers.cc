#include "helpers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "program.h"

namespace fabriscope::test {
namespace {

void pause_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

[[noreturn]] void become(const std::vector<std::string>& arguments, const std::string& token,
                         const std::string& out, const std::string& err) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  ::dup2(::open(out.c_str(), kFlags, 0600), STDOUT_FILENO);
  ::dup2(::open(err.c_str(), kFlags, 0600), STDERR_FILENO);
  ::setenv("FABRISCOPE_TOKEN", token.c_str(), 1);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "fabriscope-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name)) << text;
  return path(name);
}

std::string TemporaryFolder::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path(name)).rdbuf();
  return text.str();
}

std::string spec_with(const std::string& cases, const std::string& items) {
  return "fabriscope-spec 1\n" + items + cases;
}

Ran run_in_threads(const std::string& transport, const std::string& spec, int rank_count) {
  const TemporaryFolder folder;
  Settings settings;
  settings.transport = transport;
  settings.rendezvous = "threads";
  settings.rank_count = rank_count;
  settings.spec_path = folder.write("spec", spec);
  settings.output_path = folder.path("out");
  const int exit_code = run_program(settings);
  return {exit_code, folder.read("out")};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string last_line(const std::string& text) {
  std::istringstream stream(text);
  std::string last;
  for (std::string line; std::getline(stream, line);) last = line;
  return last;
}

std::int64_t sent_bytes(const std::string& output, const std::string& ranks) {
  const std::size_t at = output.find('"' + ranks + "\":");
  return at == std::string::npos ? 0 : std::stoll(output.substr(at + ranks.size() + 3));
}

Process::Process(const TemporaryFolder& folder, const std::string& name,
                 const std::vector<std::string>& arguments, const std::string& token)
    : folder_(folder), name_(name) {
  std::vector<std::string> all{ENGINE_PATH};
  all.insert(all.end(), arguments.begin(), arguments.end());
  pid_ = ::fork();
  if (pid_ == 0) become(all, token, folder.path(name + ".out"), folder.path(name + ".err"));
}

Process::~Process() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

int Process::wait(int seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    pause_a_little();
  }
  return -1;
}

std::string Process::mappings() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/maps");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void Process::signal(int number) const { ::kill(pid_, number); }

bool Process::wrote(const std::string& part, int seconds) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (output().find(part) == std::string::npos) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    pause_a_little();
  }
  return true;
}

int Process::tcp_port() const {
  if (!wrote("}\n")) throw std::runtime_error("the engine does not listen: " + errors());
  const std::string text = output();
  const std::string key = "\"tcp_port\":";
  return std::stoi(text.substr(text.find(key) + key.size()));
}

std::vector<std::string> listening_rank(const std::string& transport,
                                        const std::string& spec_path) {
  return {"--transport", transport,   "--rendezvous", "tcp",     "--rank",         "0",
          "--listen",    "127.0.0.1", "--spec",       spec_path, "--data-address", "127.0.0.1"};
}

std::vector<std::string> connecting_rank(const std::string& transport, int tcp_port,
                                         const std::string& rank) {
  return {"--transport",    transport,  "--rendezvous", "tcp",
          "--rank",         rank,       "--connect",    "127.0.0.1:" + std::to_string(tcp_port),
          "--data-address", "127.0.0.1"};
}

int connect_stranger(int tcp_port, const std::string& text) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(tcp_port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    throw std::runtime_error("a stranger could not even connect");
  }
  if (::send(fd, text.data(), text.size(), MSG_NOSIGNAL) < 0) return fd;
  return fd;
}

std::string greeting(const std::string& token, const std::string& purpose) {
  const std::string text = token + "\n" + purpose;
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(text.size()));
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

}  // namespace fabriscope::test
