// N endless flows of htsim's HPCC into one lossless port, in the network of netsim's many-to-one:N.
//
//     hpcc FLOWS PACKET_BYTES END_US
//
// Prints one line: the packets that the port sent until END.
// Built by bench/htsim/speed.py against csg-htsim's headers and library.
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "config.h"
#include "eventlist.h"
#include "hpcc.h"
#include "network.h"
#include "pipe.h"
#include "queue_lossless_input.h"
#include "queue_lossless_output.h"
#include "route.h"

namespace {

const uint64_t LINK_GBPS = 100;
const simtime_picosec ONE_WAY = 4000000;
const simtime_picosec RETURN = 4192000; // so that a round trip takes 8192 ns

// The port: counts what it sends.
class Port : public LosslessOutputQueue {
public:
  Port(mem_b buffer, EventList &events) : LosslessOutputQueue(speedFromGbps(LINK_GBPS), buffer, events, nullptr) {}
  uint64_t sent = 0;

protected:
  void completeService() override {
    ++sent;
    LosslessOutputQueue::completeService();
  }
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: hpcc FLOWS PACKET_BYTES END_US\n");
    return 2;
  }
  const int flows = std::atoi(argv[1]);
  const int packet_bytes = std::atoi(argv[2]);
  std::cout.setstate(std::ios_base::failbit); // htsim tells of each flow

  EventList events;
  events.setEndtime(timeFromUs(std::atof(argv[3])));
  Packet::set_packet_size(packet_bytes);
  HPCCSrc::_T = ONE_WAY + RETURN;
  LosslessInputQueue::_high_threshold = 12 * packet_bytes;
  LosslessInputQueue::_low_threshold = 10 * packet_bytes;
  Port port(64 * 1024 * 1024, events);
  Pipe out(ONE_WAY, events), back(RETURN, events);
  for (int n = 0; n < flows; ++n) {
    auto *source = new HPCCSrc(nullptr, nullptr, events, speedFromGbps(LINK_GBPS));
    auto *sink = new HPCCSink();
    auto *forward = new Route();
    forward->push_back(new LosslessInputQueue(events, source));
    forward->push_back(&port);
    forward->push_back(&out);
    forward->push_back(sink);
    auto *reverse = new Route();
    reverse->push_back(&back);
    reverse->push_back(source);
    source->connect(forward, reverse, *sink, 0);
  }
  while (events.doNextEvent()) {
  }
  std::printf("%llu\n", static_cast<unsigned long long>(port.sent));
  return 0;
}
