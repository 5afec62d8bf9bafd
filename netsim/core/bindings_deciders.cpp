// Python's view of the kinds of deciders.
#include <iterator>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "decider_compiled.hpp"
#include "decider_core.hpp"
#include "decider_fixed.hpp"
#include "decider_native.hpp"
#include "decider_program.hpp"
#include "neural_network.hpp"

namespace netsim {

using namespace nb::literals;

namespace {

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Activation activation_named(std::string_view activation) {
  const auto *const name = std::find(ACTIVATIONS.begin(), ACTIVATIONS.end(), activation);
  if (name == ACTIVATIONS.end())
    throw std::invalid_argument("unknown activation");
  return static_cast<Activation>(std::distance(ACTIVATIONS.begin(), name));
}

// torch keeps [outputs, inputs]; ours goes by columns.
Layer make_layer(const Matrix &weight, const ReadOnly<float> &bias, std::string_view activation) {
  Layer layer;
  layer.activation = activation_named(activation);
  layer.outputs = static_cast<std::uint32_t>(weight.shape(0));
  layer.inputs = static_cast<std::uint32_t>(weight.shape(1));
  layer.columns.resize(weight.size());
  for (std::size_t j = 0; j < layer.outputs; ++j) {
    for (std::size_t i = 0; i < layer.inputs; ++i)
      layer.columns[i * layer.outputs + j] = weight(j, i);
  }
  layer.bias = copy_of(bias);
  if (layer.bias.size() != layer.outputs)
    throw std::invalid_argument("a layer's bias has another size");
  return layer;
}

constexpr std::array<std::string_view, 8> STAGES = {"linear", "lstm", "gru", "layer_norm", "clip", "", "add", "concat"};

// `kind`: of StageKind, or an activation's name. `number`: what stands behind the kind in policy.toml.
Stage make_stage(std::string_view kind, std::uint32_t inputs, std::uint32_t outputs, const std::optional<Layer> &input,
                 const std::optional<Layer> &state, float number) {
  Stage stage;
  stage.inputs = inputs;
  stage.outputs = outputs;
  stage.input = input.value_or(Layer());
  stage.state = state.value_or(Layer());
  if (const auto *const name = std::find(STAGES.begin(), STAGES.end(), kind); name != STAGES.end())
    stage.kind = static_cast<StageKind>(name - STAGES.begin());
  else
    stage.activation = activation_named(kind);
  if (stage.kind == StageKind::add || stage.kind == StageKind::concat)
    stage.from = static_cast<std::uint32_t>(number);
  else
    stage.number = number;
  return stage;
}

// An operator's parameter, of each agent.
template <class T> void set_param(T &decider, std::uint32_t param, const ReadOnly<std::uint32_t> &values) {
  decider.params().set_each(param, copy_of(values));
}

// memory and observations of all flows, one row a flow
Column<float> rows(const NativeDecider &p, std::uint32_t flows, bool memory) {
  const std::size_t width = memory ? p.memory_size() : p.observation_size();
  std::vector<float> all;
  all.reserve(width * flows);
  for (std::uint32_t f = 0; f < flows; ++f) {
    const float *row = memory ? p.memory(f) : p.observation(f);
    all.insert(all.end(), row, row + width);
  }
  return take(std::move(all));
}

} // namespace

void bind_deciders(nb::module_ &m) {
  nb::class_<DeviceConfig>(m, "DeviceConfig")
      .def(nb::init<std::uint32_t, std::vector<std::uint32_t>, std::vector<std::uint32_t>, std::int32_t, std::int32_t,
                    std::optional<ProgramConfig>, bool>(),
           "signals"_a, "params"_a, "knob_shift"_a, "initial"_a, "new_phase"_a, "follows"_a = nb::none(),
           nb::arg("may_be_late") = false);

  nb::class_<TapeConfig>(m, "TapeConfig")
      .def(
          "__init__",
          [](TapeConfig *self, std::vector<double> constants,
             const std::vector<std::tuple<int, std::uint32_t, std::uint32_t, std::uint32_t>> &steps,
             std::vector<std::uint32_t> results,
             const std::vector<std::tuple<std::uint32_t, std::uint32_t, double>> &kept) {
            TapeConfig tape{std::move(constants), {}, std::move(results), {}};
            for (const auto &[op, a, b, c] : steps) {
              if (op < 0 || op > static_cast<int>(FloatOp::at))
                throw std::invalid_argument("unknown operator");
              tape.steps.push_back(Step{static_cast<FloatOp>(op), a, b, c});
            }
            for (const auto &[value, back, initial] : kept)
              tape.kept.push_back(Kept{value, back, initial});
            new (self) TapeConfig(std::move(tape));
          },
          "constants"_a, "steps"_a, "results"_a, "kept"_a)
      .def_prop_ro("compiled", &is_compiled)
      .def(
          "run",
          [](const TapeConfig &config, const std::vector<std::uint32_t> &event, const std::vector<double> &known,
             double in_force, const std::vector<double> &decided, const std::vector<float> &outputs) {
            const auto count = [](const auto &values) { return static_cast<std::uint32_t>(values.size()); };
            Tape tape(config, {count(event), count(known), count(decided), count(outputs)});
            if (!tape.kept().empty())
              throw std::invalid_argument("a tape that looks back is run by its decider");
            std::vector<double> results(tape.results());
            tape.run({event.data(), known.data(), in_force, decided.data(), nullptr, outputs.data()}, results.data());
            return results;
          },
          "event"_a, "known"_a, "in_force"_a, "decided"_a, "outputs"_a);
  nb::class_<Layer>(m, "Layer").def_static("make", &make_layer, "weight"_a, "bias"_a, "activation"_a = "identity");
  nb::class_<Stage>(m, "Stage")
      .def(nb::init<>())
      .def_static("make", &make_stage, "kind"_a, "inputs"_a, "outputs"_a, "input"_a = nb::none(),
                  "state"_a = nb::none(), "number"_a = 0.0f);
  nb::class_<NetworkWeights>(m, "NetworkWeights")
      .def(nb::init<>())
      .def_rw("hidden", &NetworkWeights::hidden)
      .def_prop_rw(
          "stages", [](const NetworkWeights &weights) { return weights.stages; },
          [](NetworkWeights &weights, std::vector<Stage> stages) {
            check(stages);
            weights.stages = std::move(stages);
          })
      .def_rw("output", &NetworkWeights::output)
      .def_rw("output_limit", &NetworkWeights::output_limit)
      .def(
          "outputs",
          [](const NetworkWeights &weights, const Matrix &rows, const ReadOnly<std::int64_t> &starts) {
            std::vector<float> inputs(rows.data(), rows.data() + rows.size()), all;
            const std::vector<std::int64_t> from = copy_of(starts);
            {
              nb::gil_scoped_release release;
              all = outputs_of(weights, inputs, from);
            }
            return take(std::move(all));
          },
          "rows"_a, "starts"_a);
  nb::class_<ProgramNode>(m, "ProgramNode")
      .def("__init__",
           [](ProgramNode *self, int op, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::int64_t imm) {
             if (op < 0 || op > static_cast<int>(Op::mask))
               throw std::invalid_argument("unknown operator");
             new (self) ProgramNode{static_cast<Op>(op), a, b, c, imm};
           });
  nb::class_<ProgramTree>(m, "ProgramTree")
      .def(
          "__init__",
          [](ProgramTree *self, const std::vector<std::array<std::int64_t, 4>> &branches,
             const std::vector<std::vector<std::int64_t>> &leaves) {
            ProgramTree tree;
            for (const auto &[feature, threshold, below, above] : branches)
              tree.branches.push_back({static_cast<std::uint32_t>(feature),
                                       threshold,
                                       {static_cast<std::int32_t>(below), static_cast<std::int32_t>(above)}});
            for (const std::vector<std::int64_t> &row : leaves)
              tree.leaves.insert(tree.leaves.end(), row.begin(), row.end());
            new (self) ProgramTree(std::move(tree));
          },
          "branches"_a, "leaves"_a);
  nb::class_<ProgramConfig>(m, "ProgramConfig")
      .def(nb::init<>())
      .def_rw("nodes", &ProgramConfig::nodes)
      .def_rw("tree_args", &ProgramConfig::tree_args)
      .def_rw("trees", &ProgramConfig::trees)
      .def_rw("tables", &ProgramConfig::tables)
      .def_rw("bias", &ProgramConfig::bias)
      .def_rw("state_nodes", &ProgramConfig::state_nodes)
      .def_rw("results", &ProgramConfig::results)
      .def_rw("multiplier_node", &ProgramConfig::multiplier_node)
      .def_rw("made_node", &ProgramConfig::made_node);
  nb::class_<StartConfig>(m, "StartConfig")
      .def(
          "__init__",
          [](StartConfig *self, ProgramConfig program, std::int32_t in_force, std::int32_t made, std::int32_t word) {
            new (self) StartConfig{std::move(program), in_force, made, word};
          },
          "program"_a, "in_force"_a, "made"_a, "word"_a);
  nb::class_<LateConfig>(m, "LateConfig")
      .def(
          "__init__",
          [](LateConfig *self, ProgramConfig program, std::int32_t late) {
            new (self) LateConfig{std::move(program), late};
          },
          "program"_a, "late"_a);
  nb::class_<NativeConfig>(m, "NativeConfig")
      .def(
          "__init__",
          [](NativeConfig *self, std::uint32_t signals, std::uint32_t knobs, std::vector<TapeConfig> features,
             std::vector<double> initial, std::uint32_t window, std::vector<double> known, TapeConfig action,
             std::uint32_t decides, TapeConfig knob, std::optional<std::uint32_t> in_force,
             std::optional<DeviceConfig> device, std::optional<StartConfig> start, std::uint32_t saved,
             std::vector<std::uint32_t> groups, std::optional<LateConfig> late) {
            new (self) NativeConfig{
                .signals = signals,
                .knobs = knobs,
                .features = std::move(features),
                .initial = std::move(initial),
                .window = window,
                .known = std::move(known),
                .action = std::move(action),
                .decides = decides,
                .knob = std::move(knob),
                .keeps_knob = in_force.has_value(),
                .initial_knob = in_force.value_or(0),
                .groups = std::move(groups),
                .saved = saved,
                .device = std::move(device),
                .start = std::move(start),
                .late = std::move(late),
            };
          },
          "signals"_a, "knobs"_a, "features"_a, "initial"_a, "window"_a, "known"_a, "action"_a, "decides"_a, "knob"_a,
          nb::arg("in_force").none(), nb::arg("device") = nb::none(), nb::arg("start") = nb::none(), "saved"_a = 0,
          "groups"_a = std::vector<std::uint32_t>(), nb::arg("late") = nb::none());

  nb::class_<Decider>(m, "Decider");
  nb::class_<NativeDecider, Decider>(m, "NativeDecider")
      .def(nb::init<NativeConfig, NetworkWeights, std::uint32_t>(), "config"_a, "weights"_a, "agents"_a)
      .def("set_weights", &NativeDecider::set_weights, "weights"_a)
      .def("set_networks", &NativeDecider::set_networks, "networks"_a, "of"_a)
      .def("explore", &NativeDecider::explore, "probability"_a, "seed"_a)
      .def("set_trigger", &NativeDecider::set_trigger, "trigger"_a)
      .def("disturb", &NativeDecider::disturb, "most"_a, "seed"_a)
      .def("draw", &NativeDecider::draw, "seed"_a)
      .def("explore_trigger", &NativeDecider::explore_trigger, "probability"_a, "seed"_a)
      .def("set_program_param", &set_param<NativeDecider>, "param"_a, "values"_a)
      .def(
          "set_known",
          [](NativeDecider &p, std::uint32_t number, const ReadOnly<double> &values) {
            p.set_known(number, copy_of(values));
          },
          "number"_a, "values"_a)
      .def(
          "set_initial",
          [](NativeDecider &p, const ReadOnly<std::uint32_t> &values) { p.set_initial(copy_of(values)); }, "values"_a)
      .def(
          "decide",
          [](NativeDecider &p, std::uint32_t agent, const std::vector<std::uint32_t> &event) {
            if (event.size() != p.signals())
              throw std::invalid_argument("the event has other signals");
            std::vector<std::uint32_t> knobs(p.knobs());
            p.decide(agent, event, knobs);
            return knobs;
          },
          "agent"_a, "event"_a)
      .def("memory", [](const NativeDecider &p, std::uint32_t flows) { return rows(p, flows, true); })
      .def("observations", [](const NativeDecider &p, std::uint32_t flows) { return rows(p, flows, false); });
  nb::class_<FixedDecider, Decider>(m, "FixedDecider").def(nb::init<std::vector<std::uint32_t>>(), "knobs"_a);
  nb::class_<CompiledDecider, Decider>(m, "CompiledDecider")
      .def(nb::init<const std::string &, const std::string &, const DeviceConfig &, std::uint32_t>(), "path"_a,
           "bytes_symbol"_a, "config"_a, "agents"_a)
      .def("set_param", &set_param<CompiledDecider>, "param"_a, "values"_a)
      .def_prop_ro("context_bytes", &CompiledDecider::context_bytes);
  nb::exception<DeciderFault>(m, "DeciderFault");
  nb::class_<CoreDecider, Decider>(m, "CoreDecider")
      .def(
          "__init__",
          [](CoreDecider *self, std::uintptr_t address, std::uint32_t context_bytes, double clock_mhz,
             const DeviceConfig &config, std::uint32_t agents, const nb::object &) {
            new (self)
                CoreDecider(*reinterpret_cast<const rlcc_decider *>(address), context_bytes, clock_mhz, config, agents);
          },
          "address"_a, "context_bytes"_a, "clock_mhz"_a, "config"_a, "agents"_a, nb::arg("keep").none(),
          nb::keep_alive<1, 7>())
      .def("set_param", &set_param<CoreDecider>, "param"_a, "values"_a)
      .def_prop_ro("cycles", &CoreDecider::cycles)
      .def_prop_ro("cycles_max", &CoreDecider::cycles_max);

  nb::class_<ProgramDecider, Decider>(m, "ProgramDecider")
      .def(nb::init<ProgramConfig, const DeviceConfig &, std::uint32_t>(), "program"_a, "config"_a, "agents"_a)
      .def("set_param", &set_param<ProgramDecider>, "param"_a, "values"_a)
      .def("trace", &ProgramDecider::trace);
}

} // namespace netsim
