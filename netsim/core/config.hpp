// What one run is made of, in the units the simulator works with. Defaults and their sources: netsim/network.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "time.hpp"

namespace netsim {

inline constexpr std::uint32_t kMaxClasses = 8;
inline constexpr std::uint32_t kMostAtFlows = 8; // cohorts
inline constexpr std::uint32_t kMostHeld = 4096; // packets of a flow on their way under selective repeat

// RED on the instantaneous queue ([DCQCN] figure 5).
struct RedConfig {
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
  double max_probability = 0;
};

// What happens to an event that finds its engine busy: it waits, or is dropped where too many wait, or takes the place
// of an older one of its agent.
enum class Overload : std::uint8_t { wait, drop, coalesce };

struct EngineConfig {
  std::uint32_t of_device = 0;             // 0: nothing waits for an engine
  std::uint32_t depth = ~std::uint32_t{0}; // events that may wait at one
  Overload overload = Overload::wait;
};

// A queue of a port. weight 0: strict priority, the lower class first; else its share by deficit round robin.
struct ClassConfig {
  std::uint32_t weight = 1;
};

// What says the class of a flow's packets: the scenario, what the flow has sent, its size (demotion.hpp).
enum class ClassBy : std::uint8_t { flow, sent, size };

// What the two ends of a flow do, as who steers it asks.
struct Ends {
  std::uint32_t burst_packets = 4;
  std::uint32_t first_window = ~0u; // bytes in flight of a new flow before its first decision, at most
  bool ack_each_packet = false;
  bool send_cnps = true;
  bool selective_repeat = false; // a receiver holds what comes out of order, a sender repeats what is missing
  bool telemetry = false;        // data packets are stamped, for baselines that read it
  Ps cnp_interval = 0;
  std::uint32_t probe_after = 0; // payload that has left since the flow's last event ..
  Ps probe_latest = kLatest;     // .. unless its last probe left so long ago ..
  std::uint32_t probe_first = 1; // .. or it is one of a new flow's first
  bool probe_a_context = false;  // flows of one context have one probe under way between them since its last decision
};

struct NetworkConfig {
  // Senders and receivers.
  Ps ps_per_byte = 80;            // of every NIC
  std::vector<Ends> ends{Ends{}}; // of each cohort at the flows
  std::uint32_t payload_bytes = 1024;
  std::uint32_t data_wire_bytes = 1106;
  std::uint32_t probe_wire_bytes = 84;
  std::uint32_t message_packets = 16;
  std::uint32_t inflight_packets = 640;
  Ps probe_gap = 0; // after a decision took effect
  Ps probe_timeout = 0;
  Ps retransmit_timeout = 0;
  std::uint32_t reorder_packets = 0; // that come beyond one that is missing before it is taken for lost
  Ps message_cost =
      0; // of the NIC: a queue pair's messages begin no closer together, nor sooner after it may begin one
  Ps start_jitter = 0;

  // What goes wrong between a response and the rate that follows from it: see Disturbance.
  double decision_loss = 0, decision_late = 0;
  Ps decision_late_by = 0;
  Ps rtt_noise = 0;         // a response, or a baseline's ACK, is stamped so much later at the most
  double event_reorder = 0; // share of the responses whose event comes later than the response ..
  Ps event_reorder_by = 0;  // .. by so much at the most, so that others overtake it

  // A limiter of the NIC: while it is on, no flow of a policy has more than `device_limit` of line rate in force.
  double device_limit = 1.0;
  Ps device_limit_from = 0, device_limit_for = 0, device_limit_every = kLatest;

  // What the device makes of contexts and rates, of flows that a policy steers.
  std::uint32_t context_flows = 1;  // flows of a host, one after another, that share a context
  double rate_scale = 1.0;          // on the wire, of a rate that is set
  std::uint32_t rate_step_q30 = 1;  // rates are multiples of it, rounded up ..
  std::uint32_t rate_least_q30 = 0; // .. and no lower than this

  // Switches.
  std::int64_t buffer_bytes = 0;
  double dynamic_threshold = 0; // a queue holds at most this times what is free of the buffer; 0: no such limit
  RedConfig red;                // of every port, until set otherwise
  bool mark_at_dequeue = false;
  bool queue_in_probes = true; // probes bring back the longest queue that they met
  std::vector<ClassConfig> classes{ClassConfig{}};
  bool nic_priorities = false; // a NIC serves its lower classes first, too
  ClassBy class_by = ClassBy::flow;
  std::vector<std::vector<std::uint32_t>> limits; // bytes, ascending: of so many equal groups of machines
  bool lossless = false;
  std::int64_t pfc_headroom_bytes = 0; // of all links into a switch together, and their reserves: never lent
  std::int64_t pfc_reserve_bytes = 0;  // of each link into a switch and class
  std::int64_t pfc_resume_bytes = 0;
  Ps policer_ps_per_byte = 0; // of a policer in front of each receiver; 0: there is none
  std::int64_t policer_burst_bytes = 0;
  std::int64_t trim_bytes =
      0; // a data packet that meets a longer queue, or a full buffer, goes on as its header; 0: no
  bool scheduled_ports = false; // ports that decide packet by packet also where a FIFO would do (to compare the two)

  bool any_selective() const {
    return std::any_of(ends.begin(), ends.end(), [](const Ends &e) { return e.selective_repeat; });
  }
};

// A switch's egress port and the link behind it.
struct PortConfig {
  std::uint32_t node = 0;
  Ps ps_per_byte = 80;
  Ps delay = 0;           // from the end of a transmission here to the arrival at the next port or the receiver
  std::uint32_t next = 0; // the switch behind the link (of ports between switches)
};

// Equal next ports from each switch to each leaf, a switch with receivers: cell switch * leaves + leaf has those from
// its `first` to that of the next cell.
struct Ways {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> ports;
};

// Links fail or come back, or the routes follow.
struct LinkChange {
  Ps at = 0;
  std::vector<std::uint32_t> down, up; // ports
  std::int32_t ways = -1;              // in RoutingConfig::ways, from now on; -1: as before
};

// Where packets do not follow fixed ports.
struct RoutingConfig {
  bool spray = false;              // each packet has any of the equal next ports
  std::uint32_t entropies = 0;     // each packet has one of so many entropy values, which says its ports; 0: none has
  std::uint32_t leaves = 0;        // number of them
  std::vector<std::uint32_t> leaf; // of each receiver
  std::vector<Ways> ways;          // the first at the start; none: packets follow their flow's ports
  std::vector<LinkChange> changes; // in the order of time
};

struct FabricConfig {
  std::uint32_t switches = 1;
  Ps uplink_delay = 0;                    // host to switch, forwarding included
  std::vector<std::uint32_t> uplink_node; // of each host
  std::vector<PortConfig> ports;          // those of the receivers first
  RoutingConfig routing;
};

// One flow of the scenario. packets == 0: unlimited. period > 0: the flow comes back every period.
struct FlowConfig {
  std::uint32_t host = 0;
  std::uint32_t packets = 0;
  Ps start = 0;
  Ps period = 0;
  std::uint32_t route = 0;           // where its ports begin in ScenarioConfig::routes; each plane's follow in turn
  std::uint32_t control = 0;         // index of its way back's delay
  std::uint16_t last_wire_bytes = 0; // of its last packet
  std::uint8_t hops = 1;
  std::uint8_t klass = 0;
  std::uint8_t cohort = 0; // that steers it
};

// Messages that wait for one another: each begins when all that it waits for have ended, those that wait for none when
// their job's round does. A round is over when all of a job's messages have ended; the next begins `gap` later.
struct JobsConfig {
  std::vector<std::uint32_t> flow;   // that sends each message; a flow's stand in the order in which it sends them
  std::vector<std::int32_t> of;      // the job of each message, -1: none; empty: there are no jobs
  std::vector<std::uint32_t> waits;  // of each message, for how many
  std::vector<std::uint32_t> first;  // of each message, and the end: who waits for it, in ..
  std::vector<std::uint32_t> follow; // .. this
  std::vector<Ps> gap;               // of each job
  bool keeps_contexts = false;       // a flow goes on from message to message; else it is new at each
};

struct ScenarioConfig {
  std::uint32_t hosts = 0;
  std::uint32_t receivers = 0;
  std::uint32_t planes = 1;    // NICs of a machine, each in a network of its own: host = machine * planes + plane
  std::int32_t long_flow = -1; // the flow whose recovery is measured, -1: none
  double recovered_rate = 0.9;
  std::vector<FlowConfig> flows; // grouped by host
  std::vector<std::uint32_t> routes;
  std::vector<Ps> control_delays;
  JobsConfig jobs;
};

} // namespace netsim
