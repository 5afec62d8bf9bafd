#include "sending.hpp"

#include <algorithm>

#include "flow_site.hpp"
#include "forwarding.hpp"
#include "prefetch.hpp"
#include "saturated.hpp"

namespace netsim {

// Not in the past, where a higher rate may put a flow's turn, or a pause that has ended.
inline void Sending::set_turn(const Nic &nic, std::uint32_t host) {
  n_.turns.set(host, std::min(std::max(nic.next(), n_.loop.now), kLatest));
}

void Sending::schedule(const Sender &s) {
  std::uint64_t key = kNever;
  if (s.active) {
    if (!s.blocked()) {
      key = event_key(std::min(s.pace_at, kLatest), s.qp);
    } else if (s.ack_awaited()) {
      key = event_key(s.timed_at + n_.net.retransmit_timeout, s.qp);
    }
  }
  Nic &nic = n_.nics[s.host];
  nic.set(s.klass, s.qp, key);
  set_turn(nic, s.host);
}

void Sending::schedule_nic(std::uint32_t host) { set_turn(n_.nics[host], host); }

void Sending::place(Sender &s, std::uint8_t klass, std::uint32_t host) {
  n_.nics[s.host].set(s.klass, s.qp, kNever);
  if (host != s.host)
    schedule_nic(s.host);
  s.klass = klass;
  s.host = host;
}

void Sending::take_turns(std::uint32_t host, Ps until) {
  const Ps now = n_.loop.now;
  while (n_.turns.of(host) < until)
    turn(n_.turns.of(host), host);
  n_.loop.now = now;
}

void Sending::turns(Ps until) {
  const Ps now = n_.loop.now;
  n_.turns.take(until, [this](std::uint32_t host) { turn(n_.turns.of(host), host); });
  n_.loop.now = now;
}

void Sending::turn(Ps now, std::uint32_t host) {
  n_.loop.now = now;
  last_ = std::max(last_, now);
  Nic &nic = n_.nics[host];
  const std::uint32_t flow = nic.first_flow + key_stream(nic.served(now));
  Sender &s = n_.senders[flow];

  if (s.ack_awaited() && now >= s.timed_at + n_.net.retransmit_timeout) {
    ++n_.counters.timeouts;
    const std::uint64_t expired = flows_.has_baseline(s) ? n_.in_flight_bytes(flow) : 0;
    if (s.ends(n_.net).selective_repeat) {
      n_.scoreboard.time_out(s, flow);
      s.timed_at = now;
    } else {
      s.go_back(s.acked_psn, now);
    }
    s.pace_at = std::max(s.pace_at, now);
    if (flows_.has_baseline(s))
      flows_.on_timeout(now, flow, saturated(expired));
  }
  if (s.blocked() || s.pace_at > now)
    return schedule(s);

  std::uint32_t packets = s.repeats ? s.repeat_room(n_.net) : s.burst_room(n_.net);
  if (n_.demotion.by_sent()) {
    demote(flow, s);
    packets = std::min(packets, n_.demotion.packets_left(flow, s));
  }
  std::uint32_t psn = s.next_psn;
  const std::uint8_t klass = s.klass;
  const bool ack_each = s.ends(n_.net).ack_each_packet || s.repeats;
  if (s.repeats) {
    const Scoreboard::Run run = n_.scoreboard.repeat(s, flow, packets);
    psn = run.psn;
    packets = run.packets;
  } else {
    if (!n_.message_at.empty() && s.of_message(n_.net) == 0)
      n_.message_at[flow] = now + n_.net.message_cost;
    s.next_psn += packets;
  }
  const bool last = psn + packets == s.end_psn;
  const std::uint32_t last_bytes = last ? n_.scenario.flows[flow].last_wire_bytes : n_.net.data_wire_bytes;
  const Ps last_ps = last_bytes * n_.net.ps_per_byte;
  const Ps duration = (packets - 1) * n_.data_ps + last_ps;

  const bool ack_last = last || s.of_message(n_.net) == 0 || ack_each;
  if (ack_last) {
    s.timed_at = s.ack_awaited() ? s.timed_at : now;
    s.asked_psn = std::max(s.asked_psn, psn + packets);
  }
  s.sent_bytes += packets * n_.net.payload_bytes - (n_.net.data_wire_bytes - last_bytes);
  s.sent_total += packets;
  n_.counters.data_sent += packets;
  if (!n_.shares.empty())
    n_.shares[s.cohort].sent += packets;

  nic.free_at = now + duration;
  std::uint32_t probe_serial = 0;
  if (flows_.probes(s) &&
      (s.probe_outstanding ? now - s.probe_sent_at > n_.net.probe_timeout
                           : nic.free_at >= s.probe_at && s.probe_due(n_.net, nic.free_at)) &&
      flows_.may_probe(nic.free_at, flow)) {
    if (forwarding_.routes_move() && (s.probe_outstanding || s.probe_astray)) {
      turns(now);
      n_.loop.now = now;
      forwarding_.catch_up(now + 1);
    }
    s.probe_outstanding = true;
    s.probe_sent_at = nic.free_at;
    s.probe_queue_bytes = 0;
    n_.probe_began[flow] = now; // what older ones met up to now is forgotten
    probe_serial = ++s.probe_serial;
    nic.free_at += n_.probe_ps;
    ++n_.counters.probes_sent;
  }

  // A queue pair may make up for time it waited while others were served, but for one gap at the most.
  s.last_burst_ps = static_cast<std::uint32_t>(duration);
  if (flows_.has_baseline(s))
    flows_.on_sent(now, flow, (packets - 1) * n_.net.data_wire_bytes + last_bytes);
  flows_.limit(now, flow);
  const Ps gap = flows_.next_send(flow, s, now) - now;
  s.pace_base = std::max(s.pace_at, now - gap);
  s.pace_at = n_.not_before(flow, s.pace_base + gap);

  Burst &burst = n_.uplinks.leave();
  burst.arrival = now + (packets > 1 ? n_.data_ps : last_ps) + n_.uplink_delay;
  burst.host = host;
  burst.flow = flow;
  burst.psn = psn;
  burst.probe_serial = probe_serial;
  burst.packets = static_cast<std::uint16_t>(packets);
  burst.last_bytes = static_cast<std::uint16_t>(last_bytes);
  burst.ack_last = ack_last;
  burst.ack_each = ack_each;
  burst.klass = klass;
  if (n_.demotion.by_sent())
    demote(flow, s);
  schedule(s);
  if (const std::uint64_t next = nic.first(); next != kNever) {
    prefetch(n_.senders[nic.first_flow + key_stream(next)]);
    nic.due.fetch(key_stream(next));
  }
}

void Sending::demote(std::uint32_t flow, Sender &s) {
  const std::uint8_t klass = n_.demotion.of(flow, s);
  if (klass != s.klass)
    place(s, klass, s.host);
}

} // namespace netsim
