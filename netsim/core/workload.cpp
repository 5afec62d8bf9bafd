#include "workload.hpp"

#include <algorithm>

namespace netsim {

void Workload::plan(Pcg32 &random) {
  std::vector<Start> starts(n_.scenario.flows.size());
  const Ps jitter = n_.net.start_jitter;
  for (std::uint32_t f = 0; f < starts.size(); ++f)
    starts[f] = {n_.scenario.flows[f].start + (jitter > 0 ? random.below(jitter) : 0), f};
  const JobsConfig &jobs = n_.scenario.jobs;
  waits_ = jobs.waits;
  jobs_.resize(jobs.gap.size());
  message_.resize(starts.size());
  for (auto m = static_cast<std::uint32_t>(jobs.of.size()); m-- > 0;)
    message_[jobs.flow[m]] = m;
  for (std::uint32_t m = 0; m < jobs.of.size(); ++m) {
    if (jobs.of[m] >= 0)
      jobs_[static_cast<std::size_t>(jobs.of[m])].messages.push_back(m);
  }
  for (Job &job : jobs_)
    job.left = static_cast<std::uint32_t>(job.messages.size());
  std::erase_if(starts, [this](const Start &start) { return !waits_.empty() && waits_[message_[start.second]] > 0; });
  starts_ = decltype(starts_)(std::greater<Start>(), std::move(starts));
  if (!starts_.empty())
    n_.loop.set(n_.loop.streams.starts, starts_.top().first);
}

void Workload::on_start(Ps now) {
  const auto [planned, flow] = starts_.top();
  const Ps period = n_.scenario.flows[flow].period;
  starts_.pop();
  if (!n_.senders[flow].active)
    begin(now, flow);
  // A flow still busy when its next round begins leaves that round out.
  if (period > 0)
    starts_.emplace(planned + period, flow);
  if (starts_.empty())
    n_.loop.clear(n_.loop.streams.starts);
  else
    n_.loop.set(n_.loop.streams.starts, starts_.top().first);
}

void Workload::begin(Ps now, std::uint32_t flow) {
  Sender &s = n_.senders[flow];
  const std::int32_t job = job_of(flow);
  if (job >= 0) {
    Ps &began = jobs_[static_cast<std::size_t>(job)].began;
    began = began < 0 ? now : began;
  }
  sending_.turns_of(s.host, now);
  turns_of_long_flow(now);
  const std::uint32_t packets = n_.scenario.flows[flow].packets;
  s.active = true;
  const bool goes_on = keeps_context(job) && s.generation > 0;
  if (!goes_on)
    ++s.generation;
  s.start_psn = s.next_psn;
  s.end_psn = packets == 0 ? kUnlimited : s.next_psn + packets;
  const std::uint64_t bytes = packets == 0 ? ~std::uint64_t{0} : n_.size_bytes(flow);
  s.klass = n_.demotion.begin(flow, s, bytes, n_.scenario.flows[flow].klass);
  s.pace_at = s.pace_base = n_.ready_at(flow, now);
  s.last_burst_ps = 0;
  s.timed_at = now;
  started_at_[flow] = now;
  if (!goes_on)
    flows_.begin(now, flow);
  if (ideal_ != nullptr)
    ideal_->began(now, flow);
  recovery_.began(now, flow);
  sending_.schedule(s);
}

void Workload::end(Ps now, std::uint32_t flow) {
  Sender &s = n_.senders[flow];
  turns_of_long_flow(now);
  s.active = false;
  const std::int32_t job = job_of(flow);
  if (!keeps_context(job)) {
    s.probe_astray |= s.probe_outstanding;
    s.probe_outstanding = false;
  }
  Completions &done = n_.window.completions;
  done.flow.push_back(flow);
  done.start.push_back(started_at_[flow]);
  done.finish.push_back(now);
  done.alone.push_back(alone(flow));
  const std::uint64_t bytes = n_.size_bytes(flow);
  n_.finished.add(bytes, done.alone.back(), now - started_at_[flow], static_cast<Ps>(bytes) * n_.net.ps_per_byte);
  if (ideal_ != nullptr)
    ideal_->share_soon(now);
  sending_.schedule(s);
  if (recovery_.ended(now))
    recovery_.rate(now, flows_.rate_of(static_cast<std::uint32_t>(recovery_.long_flow())));
  if (job >= 0)
    ended_in_job(now, message_[flow]);
}

void Workload::launch(Ps at, std::uint32_t message) {
  const std::uint32_t flow = n_.scenario.jobs.flow[message];
  message_[flow] = message;
  starts_.emplace(at, flow);
  n_.loop.set(n_.loop.streams.starts, starts_.top().first);
}

void Workload::ended_in_job(Ps now, std::uint32_t message) {
  const JobsConfig &config = n_.scenario.jobs;
  const auto number = static_cast<std::uint32_t>(config.of[message]);
  for (std::uint32_t i = config.first[message]; i < config.first[message + 1]; ++i) {
    if (--waits_[config.follow[i]] == 0)
      launch(now, config.follow[i]);
  }
  Job &job = jobs_[number];
  if (--job.left > 0)
    return;
  n_.window.rounds.job.push_back(number);
  n_.window.rounds.start.push_back(job.began);
  n_.window.rounds.finish.push_back(now);
  job.began = -1;
  job.left = static_cast<std::uint32_t>(job.messages.size());
  for (const std::uint32_t m : job.messages) {
    waits_[m] = config.waits[m];
    if (waits_[m] == 0)
      launch(now + config.gap[number], m);
  }
}

// Its rate is measured in the order of what happens.
void Workload::turns_of_long_flow(Ps now) {
  if (recovery_.long_flow() >= 0)
    sending_.turns_of(n_.senders[static_cast<std::uint32_t>(recovery_.long_flow())].host, now);
}

// From a flow's start to its last ACK in an empty network. At each port the last packet, which may be short, comes when
// it has crossed the link before and leaves no earlier than the full packet in front of it.
Ps Workload::alone(std::uint32_t flow) const {
  const FlowConfig &config = n_.scenario.flows[flow];
  const Route &route = n_.routes[flow];
  const Ps full_packets = config.packets - 1;
  Ps slowest = n_.net.ps_per_byte;
  Ps full = full_packets * n_.data_ps;                          // when the last full packet has left a link ..
  Ps last = full + config.last_wire_bytes * n_.net.ps_per_byte; // .. and the last packet
  Ps first = n_.data_ps;                                        // .. and the first one
  Ps delay = n_.uplink_delay;
  for (std::uint32_t h = 0; h < route.hops; ++h) {
    const Port &port = n_.port_of(route, h);
    const Ps packet = n_.net.data_wire_bytes * port.ps_per_byte;
    slowest = std::max(slowest, port.ps_per_byte);
    first += delay + packet;
    full = full_packets > 0 ? first + (full_packets - 1) * n_.net.data_wire_bytes * slowest : 0;
    last = std::max(last + delay, full) + config.last_wire_bytes * port.ps_per_byte;
    delay = port.delay;
  }
  return last + delay + n_.way_back(flow);
}

} // namespace netsim
