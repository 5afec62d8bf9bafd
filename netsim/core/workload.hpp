// Flows come and go; what their coming and going is measured by.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "fair_shares.hpp"
#include "flow_site.hpp"
#include "network.hpp"
#include "random.hpp"
#include "recovery.hpp"
#include "sending.hpp"

namespace netsim {

class Workload {
public:
  using Start = std::pair<Ps, std::uint32_t>; // when, flow

  // `ideal`: who hands out the rates, if it is the ideal allocator.
  Workload(Network &network, Sending &sending, FlowSite &flows, Recovery &recovery, FairShares *ideal)
      : n_(network), sending_(sending), flows_(flows), recovery_(recovery), ideal_(ideal),
        started_at_(network.senders.size(), -1) {}

  void plan(Pcg32 &random);
  void on_start(Ps now);                // the first flow that is planned comes
  void end(Ps now, std::uint32_t flow); // its last ACK has come

  Ps started_at(std::size_t flow) const { return started_at_[flow]; }

private:
  struct Job { // its round
    Ps began = -1;
    std::uint32_t left = 0; // messages that have not ended
    std::vector<std::uint32_t> messages;
  };

  void begin(Ps now, std::uint32_t flow);
  void launch(Ps at, std::uint32_t message);
  void ended_in_job(Ps now, std::uint32_t message);
  std::int32_t job_of(std::uint32_t flow) const { return jobs_.empty() ? -1 : n_.scenario.jobs.of[message_[flow]]; }
  bool keeps_context(std::int32_t job) const { return job >= 0 && n_.scenario.jobs.keeps_contexts; }
  void turns_of_long_flow(Ps now);
  Ps alone(std::uint32_t flow) const;

  Network &n_;
  Sending &sending_;
  FlowSite &flows_;
  Recovery &recovery_;
  FairShares *ideal_;
  std::priority_queue<Start, std::vector<Start>, std::greater<Start>> starts_;
  std::vector<Ps> started_at_;
  std::vector<Job> jobs_;
  std::vector<std::uint32_t> message_; // of each flow, under way or the next
  std::vector<std::uint32_t> waits_;   // of each message, for how many still
};

} // namespace netsim
