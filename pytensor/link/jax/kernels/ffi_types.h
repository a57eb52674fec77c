// What the handlers take and return, in the terms of XLA's foreign function interface.

#pragma once

#include <cstdint>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

template <>  // so that handlers' types say all that XLA must know
struct ffi::CtxBinding<ffi::ThreadPool> {
  using Ctx = ffi::ThreadPool;
};

namespace {

using Buffer = ffi::AnyBuffer;
using Result = ffi::Result<Buffer>;
using Values = ffi::BufferR1<ffi::F32>;
using ValuesOut = ffi::ResultBufferR1<ffi::F32>;
constexpr char kEpsilon[] = "epsilon", kWindow[] = "window";
using Epsilon = ffi::Attr<float, kEpsilon>;
// Strides, dilations and pads, each of rows and columns.
using Window = ffi::Attr<ffi::Span<const int64_t>, kWindow>;

}  // namespace
