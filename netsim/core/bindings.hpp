// Shared by the parts of the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
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

void bind_baselines(nb::module_ &m);
void bind_cohorts(nb::module_ &m);
void bind_configs(nb::module_ &m);
void bind_deciders(nb::module_ &m);

nb::list quantiles(const Histogram &histogram);
nb::dict columns(Records &&records);
nb::object engine_window(const Cohort &cohort, Ps at);
nb::object engine_events(const Cohort &cohort, Ps at);

} // namespace netsim
