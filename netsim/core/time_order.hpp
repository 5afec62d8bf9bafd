// Items that came in any order, by their times: into as many buckets of time as there are items, then within each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace netsim {

class TimeOrder {
public:
  struct Place {
    std::uint64_t key;
    std::uint32_t index; // of the item
    bool operator<(const Place &other) const { return key != other.key ? key < other.key : index < other.index; }
  };

  // Returns the places of `items`, one at least, by their keys. Those of one key stay in order. `key(i)`: a time, or
  // one with a stream.
  template <class Key> const std::vector<Place> &operator()(std::size_t items, Key key) {
    std::uint64_t first = key(0), last = first;
    for (std::size_t i = 1; i < items; ++i) {
      first = std::min(first, key(i));
      last = std::max(last, key(i));
    }
    const std::size_t buckets = std::bit_ceil(items);
    const int shift = std::max(0, static_cast<int>(std::bit_width(last - first)) - std::countr_zero(buckets));
    const auto bucket = [&](std::size_t i) { return static_cast<std::size_t>((key(i) - first) >> shift); };
    ends_.assign(buckets + 1, 0);
    for (std::size_t i = 0; i < items; ++i)
      ++ends_[bucket(i) + 1];
    for (std::size_t b = 1; b <= buckets; ++b)
      ends_[b] += ends_[b - 1];
    places_.resize(items);
    for (std::size_t i = 0; i < items; ++i)
      places_[ends_[bucket(i)]++] = Place{key(i), static_cast<std::uint32_t>(i)};
    std::size_t start = 0;
    for (std::size_t b = 0; b < buckets; start = ends_[b++]) {
      if (ends_[b] - start > 1)
        std::sort(places_.begin() + start, places_.begin() + ends_[b]);
    }
    return places_;
  }

private:
  std::vector<Place> places_;
  std::vector<std::uint32_t> ends_; // of the buckets
};

} // namespace netsim
