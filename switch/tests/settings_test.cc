// What the command line may say, and what is said about the rest.
#include "settings.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"

namespace fabriscope::lab {
namespace {

std::string refusal_of(const std::vector<std::string>& arguments) {
  try {
    read_settings(arguments);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "(nothing)";
}

std::string refusal_of_fabric(const std::string& text) {
  return refusal_of({"--control", "c", "--fabric", text});
}

std::string refusal_of_port(const std::string& text) {
  return refusal_of({"--control", "c", "--port", text});
}

TEST(everything_is_read) {
  const Settings settings = read_settings(
      {"--control", "/tmp/c", "--awake-ns", "77", "--no-realtime", "--fabric",
       "name=f,rate=1000000000,delay=5000,buffer=65536,coalesce_ns=80000,coalesce_frames=15",
       "--port", "fabric=f,host=a,netns=/proc/1/ns/net,device=eth0,address=02:00:00:00:00:01",
       "--port", "fabric=f,host=b,kind=packet,netns=/proc/2/ns/net,device=eth0,peer=f0h1"});
  CHECK_EQUAL(settings.control_path, "/tmp/c");
  CHECK_EQUAL(settings.awake_ns, 77);
  CHECK_EQUAL(settings.realtime, false);
  CHECK_EQUAL(settings.fabrics.size(), 1U);
  CHECK_EQUAL(settings.fabrics[0].name, "f");
  CHECK_EQUAL(settings.fabrics[0].rate_bits_per_s, 1'000'000'000);
  CHECK_EQUAL(settings.fabrics[0].delay_ns, 5'000);
  CHECK_EQUAL(settings.fabrics[0].buffer_bytes, 65'536);
  CHECK_EQUAL(settings.fabrics[0].rx_coalesce_ns, 80'000);
  CHECK_EQUAL(settings.fabrics[0].rx_coalesce_frames, 15);
  CHECK_EQUAL(settings.ports.size(), 2U);
  CHECK_EQUAL(settings.ports[0].kind, "tap");
  CHECK_EQUAL(settings.ports[0].address, "02:00:00:00:00:01");
  CHECK_EQUAL(settings.ports[1].kind, "packet");
  CHECK_EQUAL(settings.ports[1].peer, "f0h1");
}

TEST(a_fabric_is_unlimited_unless_told) {
  const Settings settings = read_settings({"--control", "c", "--fabric", "name=f"});
  CHECK_EQUAL(settings.fabrics[0].rate_bits_per_s, 0);
  CHECK_EQUAL(settings.fabrics[0].buffer_bytes, 0);
  CHECK_EQUAL(settings.fabrics[0].rx_coalesce_ns, 0);
  CHECK_EQUAL(settings.realtime, true);
}

TEST(wrong_options_are_refused) {
  CHECK_EQUAL(refusal_of({}), "--control is missing");
  CHECK_EQUAL(refusal_of({"--control"}), "--control needs a value, or is unknown");
  CHECK_EQUAL(refusal_of({"--colour", "red"}), "there is no option --colour");
  CHECK_EQUAL(refusal_of({"--control", "c", "--awake-ns", "soon"}),
              "--awake-ns=soon is not a whole number from 0 to 86400000000000");
}

TEST(wrong_fabrics_are_refused) {
  CHECK_EQUAL(refusal_of_fabric("rate=1"), "'name=' is missing");
  CHECK_EQUAL(refusal_of_fabric("name=f,rate"), "'rate' is not KEY=VALUE");
  CHECK_EQUAL(refusal_of_fabric("name=f,rate="),
              "rate= is not a whole number from 0 to 1000000000000000");
  CHECK_EQUAL(refusal_of_fabric("name=f,rate=-1"),
              "rate=-1 is not a whole number from 0 to 1000000000000000");
  CHECK_EQUAL(refusal_of_fabric("name=f,rate=1G"),
              "rate=1G is not a whole number from 0 to 1000000000000000");
  CHECK_EQUAL(refusal_of_fabric("name=f,rate=99999999999999999999"),
              "rate=99999999999999999999 is not a whole number from 0 to 1000000000000000");
  CHECK_EQUAL(refusal_of_fabric("name=f,colour=1"), "there is no key 'colour'");
}

TEST(faults_are_read) {
  const Settings settings =
      read_settings({"--control", "c", "--fabric",
                     "name=f,buffer=1,on_full=pause,seed=7,loss_ppb=1,drop_every=2,reorder_ppb=3,"
                     "reorder_delay_ns=4,flap_period_ns=6,flap_down_ns=5,down=1"});
  const FabricSettings& fabric = settings.fabrics[0];
  CHECK_EQUAL(fabric.on_full == OnFull::kPause, true);
  CHECK_EQUAL(fabric.seed, 7);
  CHECK_EQUAL(fabric.faults.loss_ppb, 1);
  CHECK_EQUAL(fabric.faults.drop_every, 2);
  CHECK_EQUAL(fabric.faults.reorder_ppb, 3);
  CHECK_EQUAL(fabric.faults.reorder_delay_ns, 4);
  CHECK_EQUAL(fabric.faults.flap_period_ns, 6);
  CHECK_EQUAL(fabric.faults.flap_down_ns, 5);
  CHECK_EQUAL(fabric.faults.is_down, true);
}

TEST(wrong_faults_are_refused) {
  CHECK_EQUAL(refusal_of_fabric("name=f,on_full=wait"), "on_full=wait is neither drop nor pause");
  CHECK_EQUAL(refusal_of_fabric("name=f,on_full=pause"), "on_full=pause needs a buffer");
  CHECK_EQUAL(refusal_of_fabric("name=f,loss_ppb=1000000001"), "loss_ppb is more than all");
  CHECK_EQUAL(refusal_of_fabric("name=f,reorder_ppb=1000000001"), "reorder_ppb is more than all");
  CHECK_EQUAL(refusal_of_fabric("name=f,flap_period_ns=1,flap_down_ns=2"),
              "flap_down_ns is more than the period");
  CHECK_EQUAL(refusal_of_fabric("name=f,down=2"), "down is 0 or 1");
}

TEST(a_change_leaves_what_it_does_not_name) {
  Faults before;
  before.loss_ppb = 5;
  before.is_down = true;
  const Change change = read_change("fabric=f,host=a,drop_every=10,down=0");
  CHECK_EQUAL(change.fabric, "f");
  CHECK_EQUAL(change.host, "a");
  CHECK_EQUAL(change.on_full.has_value(), false);
  const Faults after = changed(before, change);
  CHECK_EQUAL(after.loss_ppb, 5);
  CHECK_EQUAL(after.drop_every, 10);
  CHECK_EQUAL(after.is_down, false);
}

TEST(wrong_changes_are_refused) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      changed({}, read_change(text));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "(nothing)";
  };
  CHECK_EQUAL(refusal("loss_ppb=1"), "'fabric=' is missing");
  CHECK_EQUAL(refusal("fabric=f,rate=1"), "there is no key 'rate'");
  CHECK_EQUAL(refusal("fabric=f,loss_ppb=much"),
              "loss_ppb=much is not a whole number from 0 to 4611686018427387904");
  CHECK_EQUAL(refusal("fabric=f,host=a,on_full=drop"),
              "on_full is of a whole fabric, not of one host");
}

TEST(wrong_ports_are_refused) {
  CHECK_EQUAL(refusal_of_port("fabric=f"), "'host=' is missing");
  CHECK_EQUAL(refusal_of_port("fabric=f,host=a,netns=n,device=d,kind=tube"),
              "there is no kind of port 'tube'");
  CHECK_EQUAL(refusal_of_port("fabric=f,host=a,netns=n,device=d,size=1"), "there is no key 'size'");
}

}  // namespace
}  // namespace fabriscope::lab
