// What one run is told: a text file of "key value ..." lines, written by emulator/job.py. An unknown key ends the run.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cache.hpp"

struct Region {
  uint32_t low = 0;
  uint32_t high = 0; // one past the end
  bool covers(uint32_t address, uint32_t size) const { return address >= low && uint64_t(address) + size <= high; }
};

struct Image { // bytes of a file to put at an address
  uint32_t address = 0;
  std::string path;
};

struct Block { // an argument structure; its bytes come from the input stream
  std::string name;
  Region region;
  bool writable = false;
  uint32_t size() const { return region.high - region.low; }
};

// What the caches hold when a call begins.
enum class State {
  hot,         // what the calls before have left
  cold,        // nothing, and the core was reset (which empties caches of its own)
  other_flow,  // what the calls before have left, but of the writable structures nothing
  back_to_back // hot, and right before it another decision, whose stores may not have ended (CVA6; else as hot)
};

struct Job {
  std::vector<Image> images;
  Region instruction, data, text, constants, stack;
  std::vector<Block> blocks;
  uint32_t arguments = 0; // address of the words loaded into a0, a1, ...
  uint32_t mailbox = 0;   // the runner stores a0 here when the function has returned
  uint32_t trap = 0;      // ... and mcause here when it has not
  uint32_t entry = 0, back = 0;
  uint32_t instruction_wait = 0, data_wait = 0;
  uint32_t table_wait = 0;                                  // of constants
  uint32_t instruction_first_wait = 0, data_first_wait = 0; // behind a core's own caches: of a line never read before
  CacheShape instruction_cache, data_cache;
  State state = State::hot;
  uint64_t portion = 0;     // records after which the engine starts anew
  uint64_t cycle_limit = 0; // of one call
  bool by_address = false;  // also count cycles by instruction
};

inline State read_state(const std::string &name) {
  if (name == "hot")
    return State::hot;
  if (name == "cold")
    return State::cold;
  if (name == "other-flow")
    return State::other_flow;
  if (name == "back-to-back")
    return State::back_to_back;
  throw std::runtime_error("unknown state " + name);
}

inline Job read_job(const std::string &path) {
  Job job;
  std::ifstream file(path);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string key;
    in >> key;
    auto region = [&in](Region &r) { in >> r.low >> r.high; };
    auto cache = [&in](CacheShape &c) { in >> c.bytes >> c.line_bytes >> c.ways >> c.miss_cycles; };
    if (key == "image") {
      Image image;
      in >> image.address;
      std::getline(in >> std::ws, image.path);
      job.images.push_back(image);
      continue;
    }
    if (key == "block") {
      Block block;
      in >> block.name >> block.region.low >> block.region.high >> block.writable;
      job.blocks.push_back(block);
    } else if (key == "instruction")
      region(job.instruction);
    else if (key == "data")
      region(job.data);
    else if (key == "text")
      region(job.text);
    else if (key == "constants")
      region(job.constants);
    else if (key == "stack")
      region(job.stack);
    else if (key == "arguments")
      in >> job.arguments;
    else if (key == "mailbox")
      in >> job.mailbox;
    else if (key == "trap")
      in >> job.trap;
    else if (key == "entry")
      in >> job.entry;
    else if (key == "back")
      in >> job.back;
    else if (key == "instruction_wait")
      in >> job.instruction_wait;
    else if (key == "data_wait")
      in >> job.data_wait;
    else if (key == "table_wait")
      in >> job.table_wait;
    else if (key == "instruction_first_wait")
      in >> job.instruction_first_wait;
    else if (key == "data_first_wait")
      in >> job.data_first_wait;
    else if (key == "instruction_cache")
      cache(job.instruction_cache);
    else if (key == "data_cache")
      cache(job.data_cache);
    else if (key == "state") {
      std::string name;
      in >> name;
      job.state = read_state(name);
    } else if (key == "portion")
      in >> job.portion;
    else if (key == "cycle_limit")
      in >> job.cycle_limit;
    else if (key == "by_address")
      in >> job.by_address;
    else
      throw std::runtime_error("unknown key " + key);
    if (!in)
      throw std::runtime_error("bad value in line: " + line);
  }
  return job;
}
