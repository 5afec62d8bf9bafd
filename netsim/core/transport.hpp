// The sender's side of the transport: what comes over the ways back, go-back-N and selective repeat.
#pragma once

#include "flow_site.hpp"
#include "network.hpp"
#include "sending.hpp"
#include "workload.hpp"

namespace netsim {

class Transport {
public:
  Transport(Network &network, Sending &sending, FlowSite &flows, Workload &workload)
      : n_(network), sending_(sending), flows_(flows), workload_(workload) {}

  void on_control(Ps now, std::uint32_t way); // the first on a way back has come

private:
  void on_ack(Ps now, const Control &ack);
  void count_rtt(Ps now, const Control &ack);
  void on_early(Ps now, const Control &ack);
  void on_nack(Ps now, std::uint32_t flow, std::uint32_t psn);
  void on_trim(Ps now, std::uint32_t flow, std::uint32_t psn);

  Network &n_;
  Sending &sending_;
  FlowSite &flows_;
  Workload &workload_;
};

} // namespace netsim
