// Where transports, benchmarks and rendezvous are found by name. Each registers at the end of its
// own file, so that adding one is adding a file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabriscope/error.h"

namespace fabriscope {

template <typename Product, typename... Arguments>
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Product>(Arguments...)>;

  struct Entry {
    Factory factory;
    std::string unavailable_reason;  // empty: it was built in
    // Says why a library that is loaded at run time cannot be; empty, or returning that: all is
    // there.
    std::function<std::string()> missing_library = {};
  };

  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  // Refuses a name that is taken: which of two would serve depends on the linker's order.
  void add(const std::string& name, Factory factory, std::string unavailable_reason = {},
           std::function<std::string()> missing_library = {}) {
    Entry entry{std::move(factory), std::move(unavailable_reason), std::move(missing_library)};
    const bool added = entries_.emplace(name, std::move(entry)).second;
    if (!added) throw std::logic_error("two " + kind_ + "s are registered as '" + name + "'");
  }

  // For registration before main(), where nobody could catch: the first error is kept for main().
  bool add_at_start(const std::string& name, Factory factory, std::string unavailable_reason = {},
                    std::function<std::string()> missing_library = {}) noexcept {
    try {
      add(name, std::move(factory), std::move(unavailable_reason), std::move(missing_library));
      return true;
    } catch (const std::exception& error) {
      if (start_error_.empty()) start_error_ = error.what();
      return false;
    }
  }

  // Throws UsageError naming the known ones on a miss, or the reason why it is unavailable.
  const Entry& find(const std::string& name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      throw UsageError("there is no " + kind_ + " '" + name + "'; known are: " + known_names());
    }
    if (!found->second.unavailable_reason.empty()) {
      throw UsageError("the " + kind_ + " '" + name +
                       "' is unavailable: " + found->second.unavailable_reason);
    }
    return found->second;
  }

  std::unique_ptr<Product> create(const std::string& name, Arguments... arguments) const {
    return find(name).factory(std::forward<Arguments>(arguments)...);
  }

  const std::map<std::string, Entry>& entries() const { return entries_; }
  const std::string& start_error() const { return start_error_; }

 private:
  std::string known_names() const {
    std::string names;
    for (const auto& [name, entry] : entries_) names += (names.empty() ? "" : ", ") + name;
    return names.empty() ? "none" : names;
  }

  std::string kind_;
  std::map<std::string, Entry> entries_;
  std::string start_error_;
};

}  // namespace fabriscope

// The one macro: at the end of a plug-in's file. `name` and `factory`, for a plug-in that was built
// without what it needs, the reason, and for one that loads a library, what says why it cannot.
#define FABRISCOPE_REGISTER(registry, name, ...) \
  FABRISCOPE_AT_START(::fabriscope::registry().add_at_start(name, __VA_ARGS__))

// Evaluates something before main; several times in one translation unit too.
#define FABRISCOPE_AT_START(...) FABRISCOPE_AT_START_AS(__COUNTER__, __VA_ARGS__)
#define FABRISCOPE_AT_START_AS(number, ...) FABRISCOPE_AT_START_NAMED(number, __VA_ARGS__)
#define FABRISCOPE_AT_START_NAMED(number, ...)                                \
  namespace {                                                                 \
  [[maybe_unused]] const bool fabriscope_registered_##number = (__VA_ARGS__); \
  }
