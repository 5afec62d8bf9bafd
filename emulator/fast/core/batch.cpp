#include "batch.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace rlcc {

namespace {

constexpr std::size_t kShard = 4096; // calls that a thread takes at a time

struct Shard {
  std::size_t first = 0, last = 0;
  u32 stack_low = ~0U;
  u64 instructions = 0;
};

template <typename Engine> Outcome call(Engine &engine, const Records &records, std::size_t n) {
  const std::vector<Block> &blocks = engine.blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b)
    std::memcpy(engine.block(b), records.blocks[b] + n * blocks[b].region.size(), blocks[b].region.size());
  return engine.call();
}

void begin(Interpreter &, const Records &, const Shard &) {}

void begin(Machine &machine, const Records &records, const Shard &shard) {
  machine.restart();
  if (machine.state() != State::cold && call(machine, records, shard.first).fault.kind != Fault::none)
    machine.restart(); // the counted call will say it
}

// Makes the calls of a shard up to the first that faults; returns how many.
template <typename Engine>
std::size_t run(Engine &engine, const Records &records, const Results &results, Shard &shard, Fault &fault) {
  const std::vector<Block> &blocks = engine.blocks();
  begin(engine, records, shard);
  for (std::size_t n = shard.first; n < shard.last; ++n) {
    const Outcome outcome = call(engine, records, n);
    if (outcome.fault.kind != Fault::none) {
      fault = outcome.fault;
      return n;
    }
    results.cycles[n] = cycles_in(outcome.cost);
    results.returned[n] = outcome.returned;
    shard.stack_low = std::min(shard.stack_low, outcome.stack_low);
    shard.instructions += instructions_in(outcome.cost);
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (blocks[b].writable)
        std::memcpy(records.blocks[b] + n * blocks[b].region.size(), engine.block(b), blocks[b].region.size());
  }
  return shard.last;
}

template <typename Make>
Summary spread(const Program &program, std::size_t portion, const Records &records, const Results &results,
               unsigned threads, const Make &make) {
  std::vector<Shard> shards;
  for (std::size_t first = 0; first < records.count; first += portion)
    shards.push_back({first, std::min(first + portion, records.count)});
  std::atomic<std::size_t> next = 0, done = records.count;
  std::vector<Fault> faults(shards.size());

  const auto work = [&] {
    auto engine = make();
    for (std::size_t n = next++; n < shards.size() && shards[n].first < done; n = next++) {
      const std::size_t reached = run(engine, records, results, shards[n], faults[n]);
      for (std::size_t least = done; reached < shards[n].last && reached < least;)
        if (done.compare_exchange_weak(least, reached))
          break;
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned n = 1; n < threads && n < shards.size(); ++n)
      others.emplace_back(work);
    work();
  }

  Summary summary;
  summary.done = done;
  summary.stack_low = program.image().layout.stack.high;
  for (std::size_t n = 0; n < shards.size() && shards[n].first <= done; ++n) {
    summary.stack_low = std::min(summary.stack_low, shards[n].stack_low);
    summary.instructions += shards[n].instructions;
    if (done < shards[n].last)
      summary.fault = sentence(faults[n], program);
  }
  return summary;
}

} // namespace

Summary run(const Program &program, const Records &records, const Results &results, unsigned threads) {
  return spread(program, kShard, records, results, threads, [&] { return Interpreter(program); });
}

Summary run(const Program &program, const Settings &settings, std::size_t portion, const Records &records,
            const Results &results, unsigned threads) {
  return spread(program, portion, records, results, threads, [&] { return Machine(program, settings); });
}

} // namespace rlcc
