// The decisions of a run, column by column, in the order they were made.
#pragma once

#include <cstdint>
#include <vector>

#include "policy.hpp"
#include "time.hpp"

namespace netsim {

struct Records {
  std::vector<std::int64_t> t_ps;
  std::vector<std::uint32_t> flow;
  std::vector<std::uint32_t> step;
  std::vector<std::uint32_t> request_sent_ns;
  std::vector<std::uint32_t> response_ns;
  std::vector<std::uint32_t> cnp_count;
  std::vector<std::uint32_t> nack_count;
  std::vector<std::uint32_t> sent_bytes;
  std::vector<std::uint32_t> queue_bytes;
  std::vector<std::uint32_t> rate_q30;
  std::vector<std::int32_t> action_q16;
  std::vector<float> output;

  void add_event(Ps t, std::uint32_t f, std::uint32_t s, const Event &event) {
    t_ps.push_back(t);
    flow.push_back(f);
    step.push_back(s);
    request_sent_ns.push_back(event.request_sent_ns);
    response_ns.push_back(event.response_ns);
    cnp_count.push_back(event.cnp_count);
    nack_count.push_back(event.nack_count);
    sent_bytes.push_back(event.sent_bytes);
    queue_bytes.push_back(event.queue_bytes);
  }
  void add_decision(const Decision &decision) {
    rate_q30.push_back(decision.rate_q30);
    action_q16.push_back(decision.action_q16);
    output.push_back(decision.output);
  }
  std::size_t size() const { return t_ps.size(); }
};

} // namespace netsim
