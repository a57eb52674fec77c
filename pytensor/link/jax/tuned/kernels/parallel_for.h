#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <memory>

#include "ffi_types.h"

namespace {

// Threads take parts of a problem as they come.  The last part's thread says that all are done; one
// that comes later finds nothing, so it isn't waited for in vain when all of them wait like this.
template <typename Compute>
void solve(ffi::ThreadPool& pool, int64_t size, const Compute& compute) {
  struct Shared {
    Compute compute;
    std::atomic<int64_t> next{0}, done{0};
    std::promise<void> all{};
  };
  const int64_t parts = std::min<int64_t>(size, std::max<int64_t>(1, pool.num_threads()));
  if (parts <= 0) return;
  const std::shared_ptr<Shared> shared(new Shared{compute});
  const auto take_parts = [=] {
    for (int64_t part; (part = shared->next++) < parts;) {
      shared->compute(part * size / parts, (part + 1) * size / parts);
      if (++shared->done == parts) shared->all.set_value();
    }
  };
  for (int64_t k = 1; k < parts; ++k) pool.Schedule([=] { take_parts(); });
  take_parts();
  shared->all.get_future().wait();
}

template <typename P>
void solve(ffi::ThreadPool& pool, const P& problem) {
  solve(pool, problem.size(), problem);
}

}  // namespace
