// A fabric of switches with priorities: queues, pauses by priority, marks, a shared buffer, and up
// to several switches in a row. Everything happens in the order of time, event by event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "fabric_model.h"
#include "mac_table.h"
#include "outlet.h"
#include "switch_memory.h"

namespace fabriscope::lab {

class QosFabric final : public FabricModel {
 public:
  // Needs a rate. Throws std::invalid_argument for a port of a switch that is not in the row.
  QosFabric(FabricSettings settings, std::size_t port_count, std::int64_t now_ns = 0);

  void accept(std::size_t port, FramePointer frame, std::int64_t sent_ns) override;
  void advance(std::int64_t known_ns) override;
  Delivery next_delivery(std::size_t port, std::int64_t now_ns) override;
  std::int64_t shortest_uplink_ns() const override { return shortest_uplink_ns_; }
  std::int64_t next_event_ns() const override;
  void record_delivery(std::size_t port, std::int64_t frame_bytes, std::int64_t late_ns) override;
  void record_refusal(std::size_t port) override { ++hosts_[port].counters.refused_frames; }
  std::int64_t uplink_free_ns(std::size_t port) const override;
  std::int64_t queue_bytes(std::size_t port, std::int64_t now_ns) override;
  std::int64_t take_queue_maximum(std::size_t port, std::int64_t now_ns) override;
  std::size_t trunk_count() const override { return ends_.size() - 2 * hosts_.size(); }
  std::pair<std::size_t, std::size_t> trunk_between(std::size_t trunk) const override;
  PortTotals take_trunk_totals(std::size_t trunk, std::int64_t now_ns) override;
  void set_faults(std::size_t port, const Faults& faults, std::int64_t now_ns) override;
  void set_on_full(OnFull on_full, std::int64_t now_ns) override;
  void set_cables(const Cables& cables, std::int64_t now_ns) override;
  void set_qos(const QosSettings& qos, std::int64_t now_ns) override;
  const FabricSettings& settings() const override { return settings_; }
  std::size_t port_count() const override { return hosts_.size(); }
  const PortCounters& counters(std::size_t port) const override { return hosts_[port].counters; }
  const Faults& faults(std::size_t port) const override { return hosts_[port].faults.settings(); }
  std::int64_t pause_count(std::size_t port) const override;
  std::int64_t paused_ns(std::size_t port, std::int64_t now_ns) const override;
  bool is_down(std::size_t port, std::int64_t now_ns) const override {
    return hosts_[port].faults.is_down(now_ns);
  }
  void reset_counters(std::int64_t now_ns) override;
  void write_more(std::ostream& json, std::size_t port, std::int64_t now_ns) const override;
  void write_trunks(std::ostream& json, const char* separator, std::int64_t now_ns) const override;

  // For tests: what a switch holds, and what of its output to a host waits by priority.
  const SwitchMemory& memory(std::size_t at = 0) const { return switches_[at].memory; }
  std::int64_t priority_bytes(std::size_t port, std::size_t priority) const {
    return ends_[switch_end(port)].outlet.bytes(priority);
  }
  std::int64_t marked_frames(std::size_t port) const override;
  std::int64_t dropped_everywhere() const;
  std::int64_t priority_pause_count(std::size_t port, std::size_t priority) const {
    return ends_[card_end(port)].outlet.pause(priority).count();
  }

 private:
  // Of a whole link that is paused (802.3), beside those of priorities.
  static constexpr std::size_t kLink = kPriorities;
  static constexpr std::size_t kNoGroup = kPriorities + 1;

  struct PriorityCounters {
    std::int64_t frames = 0;
    std::int64_t bytes = 0;
    std::int64_t dropped_frames = 0;
    std::int64_t marked_frames = 0;
    std::int64_t maximum_queue_bytes = 0;
  };
  struct Aside {
    FramePointer frame;
    std::size_t from;
  };
  // One end of a cable. That of a host's card and that of its port have neighbouring numbers, and
  // so have the two ends of a cable between switches.
  struct End {
    End(std::int64_t rate_bits_per_s, Turn turn, std::size_t at)
        : outlet(rate_bits_per_s, turn), switch_at(at) {}
    Outlet outlet;
    std::size_t switch_at;  // in the row; of a card that of its port
    std::deque<FramePointer> arriving;
    std::deque<PauseOrder> orders;  // of a card: on their way to it
    std::deque<Aside> aside;        // on the way to this port, overtaken by others
    std::array<InputShare, kPriorities + 1> inputs;
    std::array<std::int64_t, kPriorities + 1> stopped_at_ns{};
    std::array<bool, kPriorities + 1> is_refresh_due{};
    std::int64_t alarm_ns = kNever;  // the first of its pauses is over then
    std::array<PriorityCounters, kPriorities> counted;
    DirectionCounters left;        // without what was made here: pause frames
    std::int64_t xoff_frames = 0;  // sent from here
    std::int64_t xon_frames = 0;
  };
  struct Host {
    Host(const FabricSettings& settings, std::size_t index);
    Coalescer card;
    PortFaults faults;
    PortCounters counters;
  };
  struct Switch {
    MacTable addresses;
    SwitchMemory memory;
    std::vector<std::size_t> ends;
  };
  // What happens at one moment happens in this order: room is made before it is asked for.
  enum class Step { kLeft, kObey, kArrival, kAside, kAlarm, kRefresh, kSend };
  struct Event {
    std::int64_t at_ns;
    Step step;
    std::int64_t number;  // in the order in which they were made
    std::size_t end;
    std::size_t group;
    bool operator>(const Event& other) const;
  };
  using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

  static std::size_t card_end(std::size_t port) { return 2 * port; }
  static std::size_t switch_end(std::size_t port) { return 2 * port + 1; }
  static std::size_t peer_of(std::size_t end) { return end ^ 1U; }
  bool is_of_host(std::size_t end) const { return end < 2 * hosts_.size(); }
  bool is_card(std::size_t end) const { return is_of_host(end) && end % 2 == 0; }

  void make_ends(std::size_t port_count);
  Turn turn() const;
  void set_memory();
  void schedule(std::int64_t at_ns, Step step, std::size_t end, std::size_t group = kNoGroup);
  void perform(const Event& event);
  void start(std::size_t end, std::int64_t now_ns);
  void carry(std::size_t from, Outlet::Departure departure);
  void leave(std::size_t end, std::int64_t now_ns);
  void obey(std::size_t end, const PauseOrder& order, std::int64_t now_ns);
  void arrive(std::size_t end, std::int64_t now_ns);
  void forward(std::size_t from, FramePointer frame, std::int64_t now_ns);
  void send_out(std::size_t to, std::size_t from, FramePointer frame, std::int64_t now_ns);
  void enqueue(std::size_t to, std::size_t from, FramePointer frame, std::int64_t now_ns);
  bool is_marked(std::int64_t queue_bytes);
  std::size_t group_of(std::size_t priority) const;
  void stop(std::size_t end, std::size_t group, std::int64_t now_ns);
  void refresh(std::size_t end, std::size_t group, std::int64_t now_ns);
  void resume_where_possible(std::size_t switch_at, std::int64_t now_ns);
  void let_go(std::int64_t now_ns);
  void order(std::size_t end, std::size_t group, std::uint16_t quanta, std::int64_t now_ns);
  void count_drop(std::size_t to, std::size_t priority, std::int64_t frame_bytes);
  std::int64_t refresh_after_ns() const;

  FabricSettings settings_;
  QosSettings qos_;
  std::int64_t shortest_frame_ns_;
  std::int64_t shortest_uplink_ns_;
  std::mt19937_64 chance_;
  std::int64_t event_count_ = 0;
  // What cards do is known only up to the frames that are; what they have sent is on its way for a
  // while, and so switches may go on a little further.
  Events card_events_;
  Events switch_events_;
  std::int64_t card_now_ns_ = 0;
  std::int64_t switch_now_ns_ = 0;
  FramePool made_;        // frames of our own and copies; outlives the frames that ends hold
  std::deque<End> ends_;  // a deque never moves its elements, which hold frames
  std::deque<Host> hosts_;
  std::deque<Switch> switches_;
  std::vector<std::size_t> stopped_count_;  // of each switch's inputs
};

}  // namespace fabriscope::lab
