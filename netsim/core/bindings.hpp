// Shared by the parts of the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <nanobind/stl/optional.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cohort.hpp"
#include "histogram.hpp"

namespace netsim {

namespace nb = nanobind;

template <class T> using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <class T> using ReadOnly = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A NumPy array that owns what was a vector: nothing is copied.
template <class T> Column<T> take(std::vector<T> &&values) {
  auto *owner = new std::vector<T>(std::move(values));
  nb::capsule capsule(owner, [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
  return Column<T>(owner->data(), {owner->size()}, capsule);
}

template <class T> std::vector<T> copy_of(const ReadOnly<T> &array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

// .. of `value(i)` for each i below `size`.
template <class F> auto column(std::size_t size, F value) {
  std::vector<decltype(value(size))> values(size);
  for (std::size_t i = 0; i < size; ++i)
    values[i] = value(i);
  return take(std::move(values));
}

using Named = nb::typed<nb::dict, nb::str, nb::any>;

// What totals have grown by, by their names.
template <class Totals>
void add_growth(nb::dict &d, const Totals &now, const Totals &begin,
                std::initializer_list<std::pair<const char *, std::uint64_t Totals::*>> totals) {
  for (const auto &[name, total] : totals)
    d[name] = now.*total - begin.*total;
}

void bind_baselines(nb::module_ &m);
void bind_cohorts(nb::module_ &m);
void bind_configs(nb::module_ &m);
void bind_deciders(nb::module_ &m);

nb::list quantiles(const Histogram &histogram);
Named columns(Records &&records);
std::optional<Named> engine_window(const Cohort &cohort, Ps at);
std::optional<Named> engine_events(const Cohort &cohort, Ps at);

} // namespace netsim
