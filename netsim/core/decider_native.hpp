// A teacher in C++: what it observes of raw events, a network in float32, its action map. No Python.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contexts.hpp"
#include "decider.hpp"
#include "neural_network.hpp"
#include "program.hpp"
#include "random.hpp"
#include "tape.hpp"

namespace netsim {

// What is in force before a step, and how an agent's phase makes some of them: an integer program
// (decision/policy/start.py), and the nodes of it that say what is in force, whether the phase makes the step, and what
// holds after it. Without a phase the last two are -1.
struct StartConfig {
  ProgramConfig program;
  std::int32_t in_force = -1, made = -1, word = -1;
};

// Which answers are not decided on, of contexts with the knob in force, of which only 0 counts, and when the last one
// was decided on (decision/policy/once_per_rtt.py), and the node that is 1 for them.
struct LateConfig {
  ProgramConfig program;
  std::int32_t late = -1;
};

// Floats are whole expressions that Python hands over as tapes; nothing here knows what they mean.
struct NativeConfig {
  std::uint32_t signals = 0, knobs = 0;
  std::vector<TapeConfig> features; // one result each
  std::vector<double> initial;      // .. before the first decision
  std::uint32_t window = 1;
  std::vector<double> known; // of an agent's place, where nothing else is set
  TapeConfig action;         // what a record keeps as the output, then what is decided, whole numbers
  std::uint32_t decides = 1; // how many of them
  TapeConfig knob;           // from what is in force and what is decided to the knobs that do not follow from it
  bool keeps_knob = false;   // the first knob is in force at the next decision, and what is decided is its action
  std::uint32_t initial_knob = 0;
  std::vector<std::uint32_t> groups; // of outputs, how many in each: what is explored; empty: none chooses
  std::uint32_t saved = 0; // values of the window that a trigger sees as they were when it fired last; 0: no trigger,
                           // else the last knob says whether it fired
  std::optional<DeviceConfig> device; // where integer programs have a part in it:
  std::optional<StartConfig> start;
  std::optional<LateConfig> late;
};

class NativeDecider final : public Decider {
public:
  // Throws std::invalid_argument where a tape reads what is not there.
  NativeDecider(NativeConfig config, NetworkWeights weights, std::uint32_t agents);

  std::uint32_t initial(std::uint32_t agent) override { return initial_[agent]; }
  void first(std::uint32_t agent, Knobs knobs) override;
  void reset(std::uint32_t agent) override;
  Decision decide(std::uint32_t agent, Words event, Knobs knobs) override;

  void set_weights(NetworkWeights weights); // of all agents
  // Of each agent those whose number in `networks`, which are all of one shape, stands in `of`.
  void set_networks(std::vector<NetworkWeights> networks, std::vector<std::uint32_t> of);
  void set_known(std::uint32_t number, const std::vector<double> &values); // one an agent
  // From now on a decision puts out, with this probability, 1 for one output of each group, drawn at random, and 0 for
  // the others.
  void explore(double probability, std::uint64_t seed);
  // From now on each output is moved by so much at the most, evenly.
  void disturb(double most, std::uint64_t seed);
  // From now on a decision puts out 1 for one output of each group, drawn with the probability of its softmax, and 0
  // for the others; all decisions of an agent by the same number a group, so that it does not waver.
  void draw(std::uint64_t seed);
  // What says whether the network is asked at all: it sees the window and what is saved, and puts out what it is worth
  // to keep what was decided last, and to decide anew. A new agent's first decision does not ask it.
  void set_trigger(NetworkWeights trigger);
  void explore_trigger(double probability, std::uint64_t seed);
  void set_initial(std::vector<std::uint32_t> knobs); // in force in new agents, one an agent; before the simulation
  Params &params();                                   // the operator's, where integer programs read them
  std::uint32_t signals() const { return config_.signals; }
  std::uint32_t knobs() const { return config_.knobs; }
  std::size_t memory_size() const { return networks_[0].memory(); }
  std::uint32_t observation_size() const { return observation_; }
  const float *memory(std::uint32_t agent) const { return &memory_[agent * memory_size()]; }
  const float *observation(std::uint32_t agent) const { return &window_[agent * observation_]; }

private:
  void observe(std::uint32_t agent, Reading &read);
  float look_back(Tape &tape, Reading &read, double *past);
  void disturbed(std::uint32_t outputs);
  void drawn(std::uint32_t agent);
  void explored(Pcg32 &random, double probability, std::span<const std::uint32_t> groups);
  bool fires(std::uint32_t agent);
  bool step(std::uint32_t agent, Words event);
  bool late(std::uint32_t agent, Words event);

  NativeConfig config_;
  std::vector<NetworkWeights> networks_;
  std::vector<std::uint32_t> network_of_; // each agent
  NetworkWeights trigger_;
  std::uint32_t observation_;
  std::vector<Tape> features_;
  Tape action_, knob_;
  std::optional<Program> start_, late_;
  std::optional<Following> following_;
  std::optional<Params> params_;
  double exploring_ = 0.0, disturbing_ = 0.0;
  std::optional<std::uint64_t> drawing_; // the seed
  Pcg32 random_{0, 0};
  double exploring_trigger_ = 0.0;
  Pcg32 trigger_random_{0, 0};
  std::uint32_t past_size_ = 0; // what the features keep of earlier decisions, an agent

  // One entry, or row, an agent.
  std::vector<double> known_;
  std::vector<std::uint32_t> initial_;
  std::vector<std::uint32_t> in_force_; // the knob; with a start, the phase above it
  std::vector<double> decided_;
  std::vector<std::uint32_t> decided_at_; // of the answer that was decided on last, where not every one is
  std::vector<std::uint8_t> decides_;     // .. and whether there was one
  std::vector<double> past_;              // of each feature and what it keeps the newest first
  std::vector<float> window_;             // newest decision first
  std::vector<float> memory_;             // of recurrent layers
  std::vector<float> saved_;
  std::vector<std::uint8_t> asked_; // there is a decision to keep

  Evaluation network_;
  std::vector<float> sight_; // scratch
  std::vector<double> results_, then_;
};

} // namespace netsim
