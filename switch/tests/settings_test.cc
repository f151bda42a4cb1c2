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

TEST(queues_are_read) {
  const Settings settings = read_settings(
      {"--control", "c", "--fabric",
       "name=f,rate=1000000000,pfc=3/4,xoff=100,xon=50,headroom=70,shared=1000,alpha_ppm=2000000,"
       "ecn_min=10,ecn_max=20,ecn_ppb=5,turns=fair,dscp=26:3/0:7",
       "--port", "fabric=f,host=a,netns=n,device=d", "--port",
       "fabric=f,host=b,netns=n,device=d,switch=2"});
  const QosSettings& qos = settings.fabrics[0].qos.value();
  CHECK_EQUAL(static_cast<int>(qos.lossless), 0x18);
  CHECK_EQUAL(qos.xoff_bytes, 100);
  CHECK_EQUAL(qos.xon_bytes, 50);
  CHECK_EQUAL(qos.headroom_bytes, 70);
  CHECK_EQUAL(qos.shared_bytes, 1000);
  CHECK_EQUAL(qos.alpha_ppm, 2'000'000);
  CHECK_EQUAL(qos.ecn_min_bytes, 10);
  CHECK_EQUAL(qos.ecn_max_bytes, 20);
  CHECK_EQUAL(qos.ecn_ppb, 5);
  CHECK_EQUAL(qos.is_fair, true);
  CHECK_EQUAL(static_cast<int>(qos.priority_of_dscp[26]), 3);
  CHECK_EQUAL(static_cast<int>(qos.priority_of_dscp[0]), 7);
  CHECK_EQUAL(static_cast<int>(qos.priority_of_dscp[48]), 6);
  CHECK_EQUAL(qos.switch_of_port.size(), 2U);
  CHECK_EQUAL(qos.switch_of_port[1], 1U);
  CHECK_EQUAL(
      read_settings({"--control", "c", "--fabric", "name=f,rate=1"}).fabrics[0].qos.has_value(),
      false);
}

TEST(queues_that_contradict_themselves_are_refused) {
  const auto refusal = [](const std::string& words) {
    return refusal_of_fabric("name=f,rate=1000000000," + words);
  };
  CHECK_EQUAL(refusal_of_fabric("name=f,pfc=3"), "a switch with priorities needs a rate");
  CHECK_EQUAL(refusal("pfc=3"), "a pause needs xoff, a shared buffer or a buffer");
  CHECK_EQUAL(refusal("pfc=8"), "pfc=8 is not below 8");
  CHECK_EQUAL(refusal("pfc="), "pfc= is not a whole number from 0 to 4611686018427387904");
  CHECK_EQUAL(refusal("pfc=3,buffer=9000,on_full=pause"),
              "on_full=pause pauses whole links and pfc priorities: choose one of them");
  CHECK_EQUAL(refusal("pfc=3,xoff=10,xon=11"), "xon is more than xoff");
  CHECK_EQUAL(refusal("pfc=3,buffer=100,xon=51"),
              "xon is more than half of the buffer, at which a pause begins");
  CHECK_EQUAL(refusal("pfc=3,xoff=10,shared=9"), "xoff is more than the shared buffer");
  CHECK_EQUAL(refusal("shared=9,alpha_ppm=0"), "with an alpha of 0 no frame would be taken");
  CHECK_EQUAL(refusal("shared=9,alpha_ppm=1000000001"), "alpha is more than 1000");
  CHECK_EQUAL(refusal("ecn_min=1"), "ecn_min and ecn_max belong together");
  CHECK_EQUAL(refusal("ecn_min=2,ecn_max=1"), "ecn_min is more than ecn_max");
  CHECK_EQUAL(refusal("ecn_min=1,ecn_max=2,ecn_ppb=1000000001"), "ecn_ppb is more than all");
  CHECK_EQUAL(refusal("turns=some"), "turns=some is neither strict nor fair");
  CHECK_EQUAL(refusal("dscp=64:1"), "dscp=64 is not below 64");
  CHECK_EQUAL(refusal("dscp=1:8"), "dscp priority=8 is not below 8");
  CHECK_EQUAL(refusal("dscp=1"), "dscp=1 is not DSCP:PRIORITY");
  CHECK_EQUAL(refusal("pfc=none,ecn_min=none,ecn_max=none"), "(nothing)");
  CHECK_EQUAL(refusal_of_port("fabric=f,host=a,netns=n,device=d,switch=9"),
              "switch=9 is not 1 to 8");
  CHECK_EQUAL(refusal_of({"--control", "c", "--fabric", "name=f", "--port",
                          "fabric=f,host=a,netns=n,device=d,switch=2"}),
              "a switch with priorities needs a rate");
}

TEST(a_change_of_queues_is_checked_against_the_fabric) {
  FabricSettings fabric;
  fabric.name = "f";
  fabric.rate_bits_per_s = 1;
  const auto refusal = [&fabric](const std::string& text) -> std::string {
    try {
      changed(fabric, read_change(text));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "(nothing)";
  };
  CHECK_EQUAL(refusal("fabric=f,xoff=5"),
              "fabric f has one queue for each port: it would have to be started with priorities, "
              "for example pfc=3");
  CHECK_EQUAL(refusal("fabric=f,host=a,xoff=5"), "xoff is of a whole fabric, not of one host");
  fabric.qos = QosSettings{};
  CHECK_EQUAL(refusal("fabric=f,xoff=5,xon=6"), "xon is more than xoff");
  CHECK_EQUAL(refusal("fabric=f,pfc=1,xoff=5"), "(nothing)");
  CHECK_EQUAL(changed(fabric, read_change("fabric=f,pfc=1,xoff=5")).qos->xoff_bytes, 5);
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

TEST(each_port_may_have_a_number_of_its_own) {
  const Change change = read_change("fabric=f,loss_ppb=5/0/7,drop_every=3");
  std::vector<std::int64_t> found;
  for (std::size_t place = 0; place < 3; ++place) {
    const Faults after = changed(Faults{}, change, place, 3);
    CHECK_EQUAL(after.drop_every, 3);
    found.push_back(after.loss_ppb);
  }
  const std::vector<std::int64_t> expected{5, 0, 7};
  CHECK_EQUAL(found == expected, true);
}

TEST(wrong_changes_are_refused) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      changed(Faults{}, read_change(text));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "(nothing)";
  };
  CHECK_EQUAL(refusal("loss_ppb=1"), "'fabric=' is missing");
  CHECK_EQUAL(refusal("fabric=f,colour=1"), "there is no key 'colour'");
  CHECK_EQUAL(refusal("fabric=f,loss_ppb=much"),
              "loss_ppb=much is not a whole number from 0 to 4611686018427387904");
  CHECK_EQUAL(refusal("fabric=f,loss_ppb=1/2"), "loss_ppb=1/2 is for 2 ports, and 1 are meant");
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
