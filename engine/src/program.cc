#include "program.h"

#include <cstdio>
#include <memory>
#include <optional>

#include "engine_version.h"
#include "fabriscope/benchmark.h"
#include "fabriscope/error.h"
#include "fabriscope/rendezvous.h"
#include "fabriscope/transport.h"
#include "interrupt.h"
#include "json.h"
#include "processors.h"
#include "reporter.h"
#include "session.h"
#include "spec_source.h"

namespace fabriscope {
namespace {

void complain(int rank, const std::string& reason) {
  std::fprintf(stderr, "fabriscope-engine: rank %d: %s\n", rank, reason.c_str());
}

// What the ranks of this process share: only rank 0 reads a specification and writes a stream.
class Program {
 public:
  explicit Program(const Settings& settings) : settings_(settings), source_(settings.spec_path) {}

  int run() {
    settings_.on_listening = [this](int tcp_port) {
      const JsonObject line = JsonObject().add("type", "listening").add("tcp_port", tcp_port);
      if (std::printf("%s\n", line.text().c_str()) < 0 || std::fflush(stdout) != 0) {
        throw system_failure("write to standard output");
      }
      source_.text();
    };
    const auto kind = rendezvous_registry().create(settings_.rendezvous);
    transport_registry().find(settings_.transport);
    try {
      return kind->run(settings_, [this](Rendezvous& rendezvous) { return run_rank(rendezvous); });
    } catch (const UsageError&) {
      throw;
    } catch (const Interrupted& error) {
      return end_before_start("interrupted", error.what(), 128 + error.signal_number());
    } catch (const std::exception& error) {
      return end_before_start("failed", error.what(), kExitFailure);
    }
  }

 private:
  // The ranks did not find each other.
  int end_before_start(const std::string& status, const std::string& reason, int exit_code) {
    if (settings_.rank == 0) Reporter(settings_.output_path).finish(status, {}, reason);
    complain(settings_.rank, reason);
    return exit_code;
  }

  int run_rank(Rendezvous& rendezvous) {
    std::unique_ptr<Reporter> reporter;
    const std::optional<Spec> spec = share_spec(rendezvous);
    if (!spec) return kExitUsage;
    if (rendezvous.rank() == 0) reporter = std::make_unique<Reporter>(settings_.output_path);
    std::optional<std::string> case_id;
    const auto end = [&](const std::string& status, const std::string& reason, int exit_code) {
      end_early(rendezvous, reporter.get(), status, case_id, reason);
      if (exit_code == kExitFailure) rendezvous.abort(exit_code);
      return exit_code;
    };
    // Still there when a failure is told: what MPI gives back it gives back with all ranks, and
    // they might not be there any more.
    std::optional<Session> session;
    const auto run = [&] {
      session.emplace(settings_, rendezvous, *spec, reporter.get());
      try {
        return session->run();
      } catch (...) {
        case_id = session->current_case();
        throw;
      }
    };
    try {
      return run();
    } catch (const UsageError& error) {
      end("failed", error.what(), kExitFailure);
      return kExitUsage;
    } catch (const Interrupted& error) {
      return end("interrupted", error.what(), 128 + error.signal_number());
    } catch (const std::exception& error) {
      return end("failed", error.what(), kExitFailure);
    }
  }

  static void end_early(const Rendezvous& rendezvous, Reporter* reporter, const std::string& status,
                        const std::optional<std::string>& case_id, const std::string& reason) {
    complain(rendezvous.rank(), (case_id ? "case " + *case_id + ": " : std::string()) + reason);
    if (reporter == nullptr) return;
    try {
      reporter->finish(status, case_id, reason);
    } catch (const RunError& error) {
      complain(rendezvous.rank(), error.what());
    }
  }

  // Nothing at the ranks that only have to follow rank 0 in its complaint.
  std::optional<Spec> share_spec(Rendezvous& rendezvous) {
    std::string text;
    if (rendezvous.rank() == 0) {
      try {
        text = source_.text();
        check_benchmarks(parse_spec(text));
      } catch (const UsageError&) {
        rendezvous.broadcast({});
        throw;
      }
    }
    text = rendezvous.broadcast(text);
    if (text.empty()) return std::nullopt;
    return parse_spec(text);
  }

  static void check_benchmarks(const Spec& spec) {
    for (const CaseSpec& item : spec.cases) {
      try {
        benchmark_registry().find(item.benchmark);
      } catch (const UsageError& error) {
        throw UsageError("the specification, case " + item.id + ": " + error.what());
      }
    }
  }

  Settings settings_;
  SpecSource source_;
};

template <typename AnyRegistry>
std::string list_of(const AnyRegistry& registry) {
  std::string text = "[";
  for (const auto& [name, entry] : registry.entries()) {
    if (text.size() > 1) text += ',';
    JsonObject object;
    object.add("name", std::string_view(name)).add("available", entry.unavailable_reason.empty());
    if (!entry.unavailable_reason.empty()) {
      object.add("reason", std::string_view(entry.unavailable_reason));
    } else if (entry.missing_library) {
      const std::string reason = entry.missing_library();
      if (!reason.empty()) object.add("missing_library", std::string_view(reason));
    }
    text += object.text();
  }
  return text + "]";
}

}  // namespace

int run_program(const Settings& settings) {
  confine_early(settings);
  return Program(settings).run();
}

std::string list_text() {
  return JsonObject()
      .add("engine_version", kEngineVersion)
      .add_raw("transports", list_of(transport_registry()))
      .add_raw("benchmarks", list_of(benchmark_registry()))
      .add_raw("rendezvous", list_of(rendezvous_registry()))
      .text();
}

void refuse_broken_registries() {
  for (const std::string* error :
       {&transport_registry().start_error(), &benchmark_registry().start_error(),
        &rendezvous_registry().start_error()}) {
    if (!error->empty()) throw UsageError(*error);
  }
}

}  // namespace fabriscope
