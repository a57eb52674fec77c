#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <future>
#include <memory>

#include "ffi_types.h"

namespace {

// Calls `body(begin, end)` for parts of `size` items.  Threads take parts as they come, and whoever
// ends the last one says that all are done.  A thread that comes later finds no part, and nobody
// waits for it: all threads of the pool may be waiting here.
template <typename Body>
void parallel_for(ffi::ThreadPool& pool, int64_t size, const Body& body) {
  struct Shared {
    Body body;
    std::atomic<int64_t> next{0}, done{0};
    std::promise<void> finished{};
  };
  const int64_t parts = std::min<int64_t>(size, std::max<int64_t>(1, pool.num_threads()));
  if (parts <= 0) return;
  const std::shared_ptr<Shared> shared(new Shared{body});
  const auto take_parts = [=] {
    for (int64_t part; (part = shared->next++) < parts;) {
      shared->body(part * size / parts, (part + 1) * size / parts);
      if (++shared->done == parts) shared->finished.set_value();
    }
  };
  for (int64_t k = 1; k < parts; ++k) pool.Schedule([=] { take_parts(); });
  take_parts();
  shared->finished.get_future().wait();
}

template <typename Body>
void parallel_for(ffi::ThreadPool& pool, const Body& body) {
  parallel_for(pool, body.size(), body);
}

}  // namespace
