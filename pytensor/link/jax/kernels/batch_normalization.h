// Batch normalization with SiLU, and its gradient.
//
// An image is rows of channels.  Rows of few channels form groups that fill vectors, with the
// values of channels repeated as often.  Rows are summed up in chunks that stay in the caches, and
// the chunks' sums in double precision, in one order.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <type_traits>
#include <vector>

#include "ceil_div.h"
#include "ffi_types.h"
#include "parallel_for.h"
#include "vectors.h"

namespace {

// 1 / (1 + exp(-x)); the relative error is below 3e-7.
template <int lanes>
inline Floats<lanes> sigmoid(Floats<lanes> x) {
  constexpr float kFar = 87.0f, kRound = 12582912.0f;  // 1.5 * 2^23: no digit behind the point
  Floats<lanes> y = x < -kFar ? Floats<lanes>{} + kFar : -x;
  y = y < -kFar ? Floats<lanes>{} - kFar : y;
  // exp(y) = 2^n exp(r); the second by a polynomial through Chebyshev's nodes.
  const Floats<lanes> shifted = y * 1.44269504f + kRound, n = shifted - kRound;
  const Floats<lanes> r = (y - n * 0.693145752f) - n * 1.42860677e-6f;
  Floats<lanes> p = r * 1.39411085e-3f + 8.37512594e-3f;
  p = p * r + 4.16663513e-2f;
  p = p * r + 0.166664153f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const Bits<lanes> bits = (Bits<lanes>)p + ((Bits<lanes>)shifted << 23);
  return x < -kFar ? Floats<lanes>{} : 1.0f / (1.0f + (Floats<lanes>)bits);
}

// The rows of an image, in groups and chunks.
struct ChannelRows {
  int64_t rows, channels;
  static constexpr int64_t kChunk = 16384;  // floats

  // Full groups, or at the end rows that are too few for one.
  struct Chunk {
    int64_t number, at, rows, width;
    bool full;
  };

  int64_t rows_per_group() const {
    int64_t count = kLanes / std::gcd<int64_t>(channels, kLanes);
    while (channels && count * channels < kVectors * kLanes) count *= 2;
    return count;
  }
  int64_t width() const { return rows_per_group() * channels; }
  int64_t groups_per_chunk() const { return std::max<int64_t>(1, kChunk / width()); }
  int64_t full_chunks() const { return ceil_div(rows / rows_per_group(), groups_per_chunk()); }
  int64_t size() const { return channels ? full_chunks() + (rows % rows_per_group() > 0) : 0; }

  Chunk chunk(int64_t number) const {
    const int64_t from = number * groups_per_chunk(), groups = rows / rows_per_group();
    if (number < full_chunks())
      return {number, from * width(), std::min(groups_per_chunk(), groups - from), width(), true};
    return {number, groups * width(), rows % rows_per_group(), channels, false};
  }

  // Values of channels, repeated to the width of a group.
  std::vector<float> repeat_channels(std::initializer_list<const float*> all) const {
    std::vector<float> repeated;
    for (const float* values : all)
      for (int64_t k = 0; k < rows_per_group(); ++k)
        repeated.insert(repeated.end(), values, values + channels);
    return repeated;
  }

  // Calls `use(rows, sums, other sums)` with the two sums of channels of each row of each chunk.
  template <typename Use>
  void for_each_partial_sum(const std::vector<float>& sums, Use use) const {
    for (int64_t k = 0; k < size(); ++k)
      for (int64_t at = 0; at < chunk(k).width; at += channels)
        use(double(chunk(k).rows), &sums[2 * k * width() + at], &sums[(2 * k + 1) * width() + at]);
  }
};

// Calls `body(vectors, lanes, chunk, column)` for all columns of all chunks.
template <int vectors, typename Body>
void parallel_for_columns(ffi::ThreadPool& pool, const ChannelRows& rows, Body body) {
  parallel_for(pool, rows.size(), [=](int64_t begin, int64_t end) {
    const std::integral_constant<int, 1> one;
    const std::integral_constant<int, kLanes> lanes;
    for (int64_t number = begin, k; number < end; ++number) {
      const ChannelRows::Chunk chunk = rows.chunk(number);
      for (k = 0; chunk.full && k + vectors * kLanes <= chunk.width; k += vectors * kLanes)
        body(std::integral_constant<int, vectors>(), lanes, chunk, k);
      for (; chunk.full && k < chunk.width; k += kLanes) body(one, lanes, chunk, k);
      for (; k < chunk.width; ++k) body(one, one, chunk, k);
    }
  });
}

ChannelRows channel_rows_of(const Buffer& image) {
  const int64_t channels = image.dimensions().back();
  return {channels ? int64_t(image.element_count()) / channels : 0, channels};
}

double inverse_deviation(float variance, float epsilon) {
  return 1 / std::sqrt(double(variance) + epsilon);
}

template <int vectors, int lanes>
void store_sums(float* to, int64_t width, const Floats<lanes>* a, const Floats<lanes>* b) {
  for (int v = 0; v < vectors; ++v) {
    store<lanes>(to + v * lanes, a[v]);
    store<lanes>(to + width + v * lanes, b[v]);
  }
}

template <typename T>
ffi::Error moments(ffi::ThreadPool pool, Buffer image, Values gamma, Epsilon epsilon,
                   ValuesOut mean_out, ValuesOut variance_out, ValuesOut scale_out) {
  const ChannelRows rows = channel_rows_of(image);
  std::vector<float> partial_sums(rows.size() * 2 * rows.width());
  const T* x = image.reinterpret_data<T>();
  // The mean of a chunk, and the squared differences to it.
  parallel_for_columns<kVectors>(
      pool, rows, [=, sums = partial_sums.data()](auto vectors, auto lanes, auto chunk, auto k) {
        Floats<lanes> mean[vectors] = {}, squares[vectors] = {};
        const T* const begin = x + chunk.at + k;
        const T* const end = begin + chunk.rows * chunk.width;
        for (const T* row = begin; row < end; row += chunk.width)
          for (int v = 0; v < vectors; ++v) mean[v] += load<lanes>(row + v * lanes);
        for (int v = 0; v < vectors; ++v) mean[v] /= float(chunk.rows);
        for (const T* row = begin; row < end; row += chunk.width)
          for (int v = 0; v < vectors; ++v) {
            const Floats<lanes> difference = load<lanes>(row + v * lanes) - mean[v];
            squares[v] += difference * difference;
          }
        float* const to = sums + 2 * chunk.number * rows.width() + k;
        store_sums<vectors, lanes>(to, rows.width(), mean, squares);
      });
  const double number = std::max<int64_t>(1, rows.rows);
  std::vector<double> mean(rows.channels), squares(rows.channels);
  rows.for_each_partial_sum(partial_sums, [&](double count, const float* means, const float*) {
    for (int64_t c = 0; c < rows.channels; ++c) mean[c] += count / number * means[c];
  });
  rows.for_each_partial_sum(
      partial_sums, [&](double count, const float* means, const float* of_squares) {
        for (int64_t c = 0; c < rows.channels; ++c)
          squares[c] += of_squares[c] + count * std::pow(means[c] - mean[c], 2);
      });
  for (int64_t c = 0; c < rows.channels; ++c) {
    mean_out->typed_data()[c] = mean[c];
    const float variance = variance_out->typed_data()[c] = squares[c] / number;
    scale_out->typed_data()[c] = gamma.typed_data()[c] * inverse_deviation(variance, *epsilon);
  }
  return ffi::Error::Success();
}

// `count` rows' values of some columns.
template <int count, int vectors, int lanes>
auto load_columns(const float* rows, int64_t width) {
  std::array<std::array<Floats<lanes>, vectors>, count> all;
  for (int i = 0; i < count; ++i)
    for (int v = 0; v < vectors; ++v) all[i][v] = load<lanes>(rows + i * width + v * lanes);
  return all;
}

// gamma over the standard deviation.
std::vector<float> scale_factors(Values gamma, Values variance, float epsilon) {
  std::vector<float> all(gamma.element_count());
  for (size_t c = 0; c < all.size(); ++c)
    all[c] = gamma.typed_data()[c] * inverse_deviation(variance.typed_data()[c], epsilon);
  return all;
}

template <typename T>
ffi::Error normalize_silu(ffi::ThreadPool pool, Buffer image, Values gamma, Values beta,
                          Values mean, Values variance, Epsilon epsilon, Result result) {
  const ChannelRows rows = channel_rows_of(image);
  const std::vector<float> scale = scale_factors(gamma, variance, *epsilon);
  const auto parameters =
      rows.repeat_channels({mean.typed_data(), scale.data(), beta.typed_data()});
  const T* x = image.reinterpret_data<T>();
  T* out = result->reinterpret_data<T>();
  parallel_for_columns<2>(
      pool, rows,
      [=, parameters = parameters.data()](auto vectors, auto lanes, auto chunk, int64_t k) {
        const auto [mean, scale, beta] =
            load_columns<3, vectors, lanes>(parameters + k, rows.width());
        for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
          for (int v = 0; v < vectors; ++v) {
            const auto z = (load<lanes>(x + at + v * lanes) - mean[v]) * scale[v] + beta[v];
            store<lanes>(out + at + v * lanes, z * sigmoid<lanes>(z));
          }
      });
  return ffi::Error::Success();
}

// The gradient of SiLU at z.
template <int lanes>
inline Floats<lanes> silu_gradient(Floats<lanes> cotangent, Floats<lanes> z) {
  const Floats<lanes> s = sigmoid<lanes>(z);
  return cotangent * (s * (1.0f + z * (1.0f - s)));
}

template <typename T>
ffi::Error normalize_silu_grad(ffi::ThreadPool pool, Buffer image, Values gamma, Values beta,
                               Values mean, Values variance, Buffer cotangent, Epsilon epsilon,
                               Result g_image, ValuesOut g_gamma, ValuesOut g_beta) {
  const ChannelRows rows = channel_rows_of(image);
  const int64_t channels = rows.channels;
  const std::vector<float> scale = scale_factors(gamma, variance, *epsilon);
  const auto parameters =
      rows.repeat_channels({mean.typed_data(), scale.data(), beta.typed_data()});
  const T *x = image.reinterpret_data<T>(), *g = cotangent.reinterpret_data<T>();
  std::vector<double> total(channels), products(channels);
  std::vector<float> slope(channels), offset(channels),
      partial_sums(rows.size() * 2 * rows.width());
  T* out = g_image->reinterpret_data<T>();
  // Sums of the normalized image's gradient, and of that times the centred image.
  parallel_for_columns<2>(
      pool, rows,
      [=, parameters = parameters.data(), sums = partial_sums.data()](auto vectors, auto lanes,
                                                                      auto chunk, int64_t k) {
        const auto [mean, scale, beta] =
            load_columns<3, vectors, lanes>(parameters + k, rows.width());
        Floats<lanes> total[vectors] = {}, products[vectors] = {};
        for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
          for (int v = 0; v < vectors; ++v) {
            const Floats<lanes> centred = load<lanes>(x + at + v * lanes) - mean[v];
            const auto back =
                silu_gradient<lanes>(load<lanes>(g + at + v * lanes), centred * scale[v] + beta[v]);
            total[v] += back;
            products[v] += back * centred;
          }
        float* const to = sums + 2 * chunk.number * rows.width() + k;
        store_sums<vectors, lanes>(to, rows.width(), total, products);
      });
  rows.for_each_partial_sum(partial_sums, [&](double, const float* of_g, const float* of_products) {
    for (int64_t c = 0; c < channels; ++c) {
      total[c] += of_g[c];
      products[c] += of_products[c];
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    g_beta->typed_data()[c] = total[c];
    const double inverse = inverse_deviation(variance.typed_data()[c], *epsilon);
    g_gamma->typed_data()[c] = products[c] *= inverse;
    offset[c] = total[c] / rows.rows;
    slope[c] = products[c] * inverse / rows.rows;
  }
  const auto corrections = rows.repeat_channels({slope.data(), offset.data()});
  // To compute the derivative again takes less time than to read it from memory.
  parallel_for_columns<2>(
      pool, rows,
      [=, parameters = parameters.data(), corrections = corrections.data()](
          auto vectors, auto lanes, auto chunk, int64_t k) {
        const auto [mean, scale, beta] =
            load_columns<3, vectors, lanes>(parameters + k, rows.width());
        const auto [slope, offset] = load_columns<2, vectors, lanes>(corrections + k, rows.width());
        for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
          for (int v = 0; v < vectors; ++v) {
            const Floats<lanes> centred = load<lanes>(x + at + v * lanes) - mean[v];
            const auto back =
                silu_gradient<lanes>(load<lanes>(g + at + v * lanes), centred * scale[v] + beta[v]);
            store<lanes>(out + at + v * lanes, scale[v] * (back - offset[v] - centred * slope[v]));
          }
      });
  return ffi::Error::Success();
}

}  // namespace
