// A FIFO in a ring buffer whose size is a power of two. It is sized for the usual case beforehand and doubles when
// full, so that nothing is allocated a packet.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace netsim {

template <class T> class Ring {
public:
  explicit Ring(std::size_t capacity = 16) : items_(std::bit_ceil(capacity)) {}

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  T &front() { return items_[head_ & mask()]; }
  const T &operator[](std::size_t i) const { return items_[(head_ + i) & mask()]; }
  void pop() { ++head_; }
  void push(const T &item) {
    if (size() == items_.size())
      grow();
    items_[tail_++ & mask()] = item;
  }

private:
  std::size_t mask() const { return items_.size() - 1; }
  void grow() {
    std::vector<T> larger(2 * items_.size());
    const std::size_t n = size();
    for (std::size_t i = 0; i < n; ++i)
      larger[i] = (*this)[i];
    items_.swap(larger);
    head_ = 0;
    tail_ = n;
  }

  std::vector<T> items_;
  std::size_t head_ = 0; // never wrapped: the difference is the length
  std::size_t tail_ = 0;
};

} // namespace netsim
