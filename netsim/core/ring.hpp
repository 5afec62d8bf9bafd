// A FIFO in a ring buffer whose size is a power of two. It is sized for the usual case beforehand and doubles when
// full, so that nothing is allocated a packet.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace netsim {

template <class T> class Ring {
public:
  explicit Ring(std::size_t capacity = 16) : items_(std::bit_ceil(capacity)), mask_(items_.size() - 1) {}

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }
  T &front() { return items_[head_ & mask_]; }
  const T &front() const { return items_[head_ & mask_]; }
  T &back() { return items_[(tail_ - 1) & mask_]; }
  const T &back() const { return items_[(tail_ - 1) & mask_]; }
  T &operator[](std::size_t i) { return items_[(head_ + i) & mask_]; }
  const T &operator[](std::size_t i) const { return items_[(head_ + i) & mask_]; }
  // The one that comes so many after the first; where there are fewer, any that was here before.
  const T &ahead(std::size_t i) const { return items_[(head_ + i) & mask_]; }
  void pop() { ++head_; }
  void push(const T &item) { add() = item; }
  // The place of a new last one, to be filled in: a copy of what was written just before would have to wait for it.
  T &add() {
    if (size() > mask_)
      grow();
    return items_[tail_++ & mask_];
  }

private:
  void grow() {
    std::vector<T> larger(2 * items_.size());
    const std::size_t n = size();
    for (std::size_t i = 0; i < n; ++i)
      larger[i] = (*this)[i];
    items_.swap(larger);
    mask_ = items_.size() - 1;
    head_ = 0;
    tail_ = n;
  }

  std::vector<T> items_;
  std::size_t mask_;
  std::size_t head_ = 0; // never wrapped: the difference is the length
  std::size_t tail_ = 0;
};

} // namespace netsim
