// A network that is run: its parts, wired to one another, and the event loop.
//
//   NIC --burst--> uplink --packet--> port --link--> port .. --> receiver --ACK/NACK/CNP/response--> sender
//   Sending        Forwarding, Pausing                           Receiving                           Transport
//
// Workload brings flows and takes them away. Who decides are cohorts of agents, at sites (site_kind.hpp): flows,
// queues.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cohort.hpp"
#include "config.hpp"
#include "fair_shares.hpp"
#include "flow_site.hpp"
#include "forwarding.hpp"
#include "network.hpp"
#include "pausing.hpp"
#include "receiving.hpp"
#include "recovery.hpp"
#include "sending.hpp"
#include "site_kind.hpp"
#include "transport.hpp"
#include "workload.hpp"

namespace netsim {

// Data packets and where they are; every packet that left a NIC must be in exactly one place.
struct Conservation {
  std::uint64_t sent, arrived, dropped, headers_arrived, on_uplinks, at_ports; // headers: of trimmed packets
  bool holds() const { return sent == arrived + dropped + headers_arrived + on_uplinks + at_ports; }
};

// One cohort as a simulation is given it. At the flows `steering` says who decides where no cohort does.
struct CohortSpec {
  const SiteKind *kind = nullptr;
  Decider *decider = nullptr;
  CohortConfig config;
  Steering steering;
};

// A wire as a simulation is given it: from a knob of one cohort to a parameter of another, both by their numbers.
struct WireSpec {
  std::uint32_t from = 0, knob = 0, shift = 0;
  std::uint32_t to = 0, param = 0, least = 0, most = ~std::uint32_t{0};
};

enum class Stop { until, slice, batch };

class Simulator {
public:
  // The first cohort is that of the flows. Throws std::invalid_argument where a wire joins no two cohorts with deciders
  // whose agents stand side by side.
  Simulator(const NetworkConfig &net, const FabricConfig &fabric, const ScenarioConfig &scenario,
            const std::vector<CohortSpec> &cohorts, const std::vector<WireSpec> &wires, std::uint64_t seed);

  // Process events before `until`; stops early after about `events` of them or when a batch is ready.
  Stop run(Ps until, std::uint64_t events);

  void reset_window();
  void set_red(std::uint32_t port, const RedConfig &red) { network_.fabric.set_red(port, red); }
  void set_red(std::uint32_t port, std::uint32_t klass, const RedConfig &red) {
    network_.fabric.set_red(port, klass, red);
  }
  Conservation conservation() const;

  Ps now() const { return network_.loop.now; }
  const Network &network() const { return network_; }
  const std::vector<std::unique_ptr<Cohort>> &cohorts() const { return cohorts_; }
  const Workload &workload() const { return workload_; }
  double rate_of(std::uint32_t flow) const { return flows_.rate_of(flow); }
  std::size_t bytes_per_flow() const; // of the simulator's own state, the deciders' apart

private:
  void connect(const WireSpec &wire, bool same_site);
  bool waits_for_answer() const;
  void settle(Ps until); // NICs and switches have done all that happens before

  Network network_;
  Recovery recovery_;
  Sending sending_;
  FlowSite flows_;
  std::unique_ptr<FairShares> ideal_;
  Workload workload_;
  Receiving receivers_;
  Pausing pausing_;
  Forwarding forwarding_;
  Transport transport_;
  std::vector<std::unique_ptr<Site>> sites_;     // of each cohort beside the flows'
  std::vector<std::unique_ptr<Cohort>> cohorts_; // in the order they were given
};

} // namespace netsim
