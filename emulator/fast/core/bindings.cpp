// emulator._fast: the instruction-set simulator as Python sees it. Runs release the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <tuple>

#include "batch.hpp"
#include "decider.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rlcc {

namespace {

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Span = std::pair<u32, u32>;
using Shape = std::tuple<u32, u32, u32, u32>; // bytes (0: no cache), bytes of a line, ways, cycles of a miss

template <typename T> using Column = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Region region(const Span &span) { return {span.first, span.second}; }

CacheShape shape(const Shape &s) { return {std::get<0>(s), std::get<1>(s), std::get<2>(s), std::get<3>(s)}; }

std::vector<std::uint8_t> vector_of(const nb::bytes &bytes) {
  const auto *data = static_cast<const std::uint8_t *>(bytes.data());
  return {data, data + bytes.size()};
}

// Where the program's parts lie; regions outside the data memory are refused.
Layout layout_of(const Span &data, const Span &constants, const Span &stack,
                 const std::vector<std::tuple<u32, u32, bool>> &blocks,
                 const std::vector<std::pair<u32, nb::bytes>> &sections) {
  Layout layout;
  layout.data = region(data);
  layout.bytes.resize(layout.data.size());
  layout.permissions.resize(layout.data.size());
  const auto allow = [&layout](const Region &part, unsigned bits) {
    if (part.low > part.high || (part.size() != 0 && (part.low < layout.data.low || part.high > layout.data.high)))
      throw std::invalid_argument("a region that is not in the data memory");
    layout.allow(part, bits);
  };
  layout.constants = region(constants);
  layout.stack = region(stack);
  allow(layout.constants, may_load | in_tables);
  allow(layout.stack, may_load | may_store | in_stack);
  for (const auto &[low, high, writable] : blocks) {
    layout.blocks.push_back({{low, high}, writable});
    allow({low, high}, writable ? may_load | may_store : may_load);
  }
  for (const auto &[address, bytes] : sections) {
    if (address < layout.data.low || bytes.size() > layout.data.high - address)
      throw std::invalid_argument("a section that is not in the data memory");
    std::memcpy(layout.bytes.data() + (address - layout.data.low), bytes.data(), bytes.size());
  }
  return layout;
}

std::tuple<std::size_t, u32, u64, std::string> run_all(const Program &program, const std::vector<Bytes> &blocks,
                                                       const Column<u64> &cycles, const Column<u32> &returned,
                                                       unsigned threads, const std::optional<Settings> &machine,
                                                       std::size_t portion) {
  const std::vector<Block> &expected = program.image().layout.blocks;
  Records records;
  records.count = cycles.size();
  bool fits = blocks.size() == expected.size() && returned.size() == records.count;
  for (std::size_t n = 0; fits && n < blocks.size(); ++n) {
    fits = blocks[n].shape(0) == records.count && blocks[n].shape(1) == expected[n].region.size();
    records.blocks.push_back(blocks[n].data());
  }
  if (!fits)
    throw std::invalid_argument("records of another shape than the program's blocks");
  const nb::gil_scoped_release release;
  const Results results{cycles.data(), returned.data()};
  const Summary summary =
      machine ? run(program, *machine, portion, records, results, threads) : run(program, records, results, threads);
  return {summary.done, summary.stack_low, summary.instructions, summary.fault};
}

} // namespace

NB_MODULE(_fast, m) {
  nb::class_<Timing>(m, "Timing")
      .def(nb::init<>())
      .def_rw("branch_taken", &Timing::branch_taken)
      .def_rw("jump", &Timing::jump)
      .def_rw("product", &Timing::product)
      .def_rw("high_product", &Timing::high_product)
      .def_rw("rotation", &Timing::rotation)
      .def_rw("access", &Timing::access)
      .def_rw("table_load", &Timing::table_load)
      .def_rw("data_wait", &Timing::data_wait)
      .def_rw("load_use", &Timing::load_use)
      .def_rw("split_target", &Timing::split_target)
      .def_rw("early_jump", &Timing::early_jump);

  nb::class_<Settings>(m, "Machine")
      .def(
          "__init__",
          [](Settings *self, const Timing &timing, bool writeback, bool branch_target_alu, u32 instruction_wait,
             u32 data_wait, u32 table_wait, const Shape &instruction_cache, const Shape &data_cache, unsigned state,
             const nb::bytes &runner, u32 arguments, u32 mailbox) {
            new (self) Settings{.timing = timing,
                                .writeback = writeback,
                                .branch_target_alu = branch_target_alu,
                                .instruction_wait = instruction_wait,
                                .data_wait = data_wait,
                                .table_wait = table_wait,
                                .instruction_cache = shape(instruction_cache),
                                .data_cache = shape(data_cache),
                                .state = State(state),
                                .runner = vector_of(runner),
                                .arguments = arguments,
                                .mailbox = mailbox};
          },
          nb::kw_only(), "timing"_a, "writeback"_a, "branch_target_alu"_a, "instruction_wait"_a, "data_wait"_a,
          "table_wait"_a, "instruction_cache"_a, "data_cache"_a, "state"_a, "runner"_a, "arguments"_a, "mailbox"_a);

  nb::class_<Program>(m, "Program")
      .def(
          "__init__",
          [](Program *self, const Timing &timing, bool products, bool bits, u32 text, const nb::bytes &code, u32 entry,
             u32 back, const Span &data, const Span &constants, const Span &stack,
             const std::vector<std::tuple<u32, u32, bool>> &blocks,
             const std::vector<std::pair<u32, nb::bytes>> &sections,
             const std::vector<std::pair<u32, std::string>> &symbols, u32 cycle_limit) {
            Image image{.text = text,
                        .code = vector_of(code),
                        .entry = entry,
                        .back = back,
                        .layout = layout_of(data, constants, stack, blocks, sections),
                        .symbols = symbols,
                        .extensions = {.products = products, .bits = bits}};
            new (self) Program(std::move(image), timing, cycle_limit);
          },
          nb::kw_only(), "timing"_a, "products"_a, "bits"_a, "text"_a, "code"_a, "entry"_a, "back"_a, "data"_a,
          "constants"_a, "stack"_a, "blocks"_a, "sections"_a, "symbols"_a, "cycle_limit"_a)
      .def("run", &run_all, "blocks"_a, "cycles"_a, "returned"_a, "threads"_a, "machine"_a.none(), "portion"_a);

  nb::class_<Decider>(m, "Decider")
      .def(
          "__init__",
          [](Decider *self, std::shared_ptr<const Program> program, const std::vector<unsigned> &groups,
             const std::optional<Settings> &machine) {
            std::vector<Group> known;
            for (const unsigned group : groups) {
              if (group > unsigned(Group::action))
                throw std::invalid_argument("a block that is no structure of a decision");
              known.push_back(Group(group));
            }
            if (known.size() != program->image().layout.blocks.size())
              throw std::invalid_argument("one group a block is needed");
            if (machine)
              new (self) Decider(std::move(program), std::move(known), *machine);
            else
              new (self) Decider(std::move(program), std::move(known));
          },
          "program"_a, "groups"_a, "machine"_a.none())
      .def_prop_ro("address", [](const Decider &d) { return reinterpret_cast<std::uintptr_t>(d.seam()); })
      .def_prop_ro("context_bytes", [](const Decider &d) { return d.seam()->context_bytes; });
}

} // namespace rlcc
