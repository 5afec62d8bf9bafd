// A simulator of your own, in C++, that drives a student of rlcc: flows that share one queue, as events in time order.
//
//     c++ -O2 -std=c++17 -o simulator simulator.cpp -ldl
//     rlcc distill rollouts --simulator ./simulator --scenario 8 --scenario 32 --out student
//
// It speaks the protocol of `rlcc distill --simulator` (JSON lines), loads the shared library that a {"run": ..} line
// names, and calls the emitted C in it as firmware would. The scenario is the number of flows. In ns-3 `schedule` is
// Simulator::Schedule, and `respond` is called where an acknowledgement comes back.

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// The structures of rlcc_policy.h that every student of the interface has. A context is each student's own.
struct Event {
  uint32_t request_sent_ns, response_ns, cnp_count, nack_count, sent_bytes, queue_bytes;
};
using Decide = uint32_t (*)(void *context, const Event *event, const void *params);

constexpr double kLineRate = 100.0;     // Gb/s
constexpr double kBaseRttUs = 8.192;    // an empty network
constexpr double kQueueBytes = 1e6;     // the buffer
constexpr double kBytesPerGbpsUs = 125; // 1 Gb/s for 1 us

class Policy {
public:
  explicit Policy(const std::string &path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr)
      throw std::runtime_error(dlerror());
    decide_ = reinterpret_cast<Decide>(dlsym(library_, "rlcc_decide"));
    context_bytes_ = *static_cast<const uint32_t *>(dlsym(library_, "rlcc_flow_bytes"));
    params_ = dlsym(library_, "rlcc_params_default");
  }
  Policy(const Policy &) = delete;
  Policy &operator=(const Policy &) = delete;
  ~Policy() { dlclose(library_); }

  std::vector<uint64_t> new_flow() const { return std::vector<uint64_t>(context_bytes_ / 8 + 1); }

  // The new rate as a fraction of line rate.
  double decide(std::vector<uint64_t> &context, const Event &event) const {
    return decide_(context.data(), &event, params_) / double(1 << 20);
  }

private:
  void *library_;
  Decide decide_;
  uint32_t context_bytes_;
  const void *params_;
};

class Network {
public:
  Network(const Policy &policy, int flows, unsigned seed) : policy_(policy), random_(seed) {
    for (int n = 0; n < flows; ++n) {
      flows_.push_back({policy.new_flow(), kLineRate});
      schedule(std::uniform_real_distribution<>(0, 10)(random_), n);
    }
  }

  void run(double end_us) {
    while (!events_.empty() && events_.top().first < end_us) {
      const auto [time, flow] = events_.top();
      events_.pop();
      advance(time);
      respond(flow);
    }
  }

private:
  struct Flow {
    std::vector<uint64_t> context;
    double rate = kLineRate; // Gb/s
  };
  using Due = std::pair<double, int>; // us, flow

  void schedule(double delay_us, int flow) { events_.push({now_ + delay_us, flow}); }

  void advance(double time) {
    double total = 0;
    for (const Flow &flow : flows_)
      total += flow.rate;
    queue_ = std::clamp(queue_ + (total - kLineRate) * (time - now_) * kBytesPerGbpsUs, 0.0, kQueueBytes);
    now_ = time;
  }

  // A response comes back: the flow decides, and the row says what it saw and what it did.
  void respond(int number) {
    Flow &flow = flows_[number];
    const double rtt_us = std::round(1000 * (kBaseRttUs + queue_ * 8 / (kLineRate * 1000))) / 1000;
    const auto now_ns = static_cast<uint64_t>(std::llround(1000 * now_));
    const auto rtt_ns = static_cast<uint64_t>(std::llround(1000 * rtt_us));
    const Event event{static_cast<uint32_t>(now_ns - rtt_ns), static_cast<uint32_t>(now_ns), 0, 0, 0, 0};
    const double before = flow.rate;
    flow.rate = std::max(kLineRate * policy_.decide(flow.context, event), 1e-4);
    std::printf("{\"row\": {\"connection\": %d, \"time_us\": %.3f, \"rtt_us\": %.3f, \"rate_gbps\": %.6f, "
                "\"applied\": %.7f}}\n",
                number, now_, rtt_us, before, std::min(flow.rate / before, 3.9));
    schedule(rtt_us, number);
  }

  const Policy &policy_;
  std::mt19937 random_;
  std::vector<Flow> flows_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> events_;
  double now_ = 0, queue_ = 0;
};

// The text or number behind "key": in a line of rlcc's.
std::string value_of(const std::string &line, const std::string &key) {
  size_t at = line.find("\"" + key + "\": ");
  if (at == std::string::npos)
    throw std::runtime_error("rlcc sends no " + key);
  at += key.size() + 4;
  if (line[at] == '"')
    return line.substr(at + 1, line.find('"', at + 1) - at - 1);
  return line.substr(at, line.find_first_of(",}", at) - at);
}

} // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const Policy policy(value_of(line, "library"));
      const int flows = std::stoi(value_of(line, "scenario"));
      Network(policy, flows, static_cast<unsigned>(std::stoul(value_of(line, "seed")))).run(20000);
    } catch (const std::exception &error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
    std::printf("{\"done\": 1}\n");
    std::fflush(stdout);
  }
}
