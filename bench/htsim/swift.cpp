// N endless flows of htsim's Swift into one port, in the network of netsim's many-to-one:N.
//
//     swift FLOWS BUFFER_BYTES BEGIN_US END_US SEED
//
// Prints one line: packets that the port sent and dropped, and the delay of the packets that it took (mean and 99th
// percentile, us, with the links), all between BEGIN and END.
// Built by bench/htsim/compare.py against csg-htsim's headers and library.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "swift.h"
#include "swift_scheduler.h"

namespace {

const uint64_t PACKET_BYTES = 1106; // netsim's payload of 1024 and 82 of headers, preamble and gap
const uint64_t LINK_GBPS = 100;
const simtime_picosec ONE_WAY = 4000000; // of a data packet in an empty network
const simtime_picosec RETURN = 4192000;  // so that a round trip takes 8192 ns
const simtime_picosec PACKET_TIME = PACKET_BYTES * 8 * 1000 / LINK_GBPS;
const double BDP_PACKETS = 8.192e-6 * LINK_GBPS * 1e9 / 8 / PACKET_BYTES;
const simtime_picosec HOP_TARGET = 3053435; // 20 us / 6.55: htsim counts no hops of a route that it has copied

struct Window {
  simtime_picosec begin, end;
  bool holds(simtime_picosec now) const { return begin <= now && now < end; }
};

// The port: counts what it sends and drops, and notes how long each packet that it takes will wait.
class Port : public Queue {
public:
  Port(mem_b buffer, EventList &events, const Window &window)
      : Queue(speedFromGbps(LINK_GBPS), buffer, events, nullptr), window_(window) {}

  void receivePacket(Packet &packet) override {
    const bool counted = window_.holds(eventlist().now());
    const bool dropped = queuesize() + packet.size() > maxsize();
    if (counted && dropped)
      ++drops;
    if (counted && !dropped)
      delays.push_back(ONE_WAY + queuesize() * 8 * 1000 / LINK_GBPS);
    Queue::receivePacket(packet);
  }

  uint64_t sent = 0, drops = 0;
  std::vector<simtime_picosec> delays;

protected:
  void completeService() override {
    if (window_.holds(eventlist().now()))
      ++sent;
    Queue::completeService();
  }

private:
  Window window_;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: swift FLOWS BUFFER_BYTES BEGIN_US END_US SEED\n");
    return 2;
  }
  const int flows = std::atoi(argv[1]);
  const mem_b buffer = std::atoll(argv[2]);
  const Window window{timeFromUs(std::atof(argv[3])), timeFromUs(std::atof(argv[4]))};
  srand(static_cast<unsigned>(std::atoi(argv[5])));
  std::cout.setstate(std::ios_base::failbit); // htsim tells of each flow and each loss

  EventList events;
  events.setEndtime(window.end + 1);
  Packet::set_packet_size(PACKET_BYTES);
  Port port(buffer, events, window);
  Pipe out(0, events), back(RETURN, events);
  SwiftRtxTimerScanner scanner(timeFromUs(10.0), events);
  for (int n = 0; n < flows; ++n) {
    auto *source = new SwiftSrc(scanner, nullptr, nullptr, events);
    auto *sink = new SwiftSink();
    source->set_cwnd(static_cast<uint32_t>(BDP_PACKETS * PACKET_BYTES));
    auto *forward = new route_t();
    forward->push_back(new FairScheduler(speedFromGbps(LINK_GBPS), events, nullptr));
    forward->push_back(new Pipe(ONE_WAY - 2 * PACKET_TIME, events));
    forward->push_back(&port);
    forward->push_back(&out);
    auto *reverse = new route_t();
    reverse->push_back(&back);
    source->_base_delay += HOP_TARGET;
    source->connect(*forward, *reverse, *sink, static_cast<simtime_picosec>(10e6 * rand() / (RAND_MAX + 1.0)));
  }
  while (events.doNextEvent()) {
  }

  std::vector<simtime_picosec> &delays = port.delays;
  std::sort(delays.begin(), delays.end());
  double sum = 0;
  for (simtime_picosec delay : delays)
    sum += delay;
  const double mean = delays.empty() ? 0 : sum / delays.size() / 1e6;
  const double p99 = delays.empty() ? 0 : delays[delays.size() * 99 / 100] / 1e6;
  std::printf("%llu %llu %.4f %.4f\n", static_cast<unsigned long long>(port.sent),
              static_cast<unsigned long long>(port.drops), mean, p99);
  return 0;
}
