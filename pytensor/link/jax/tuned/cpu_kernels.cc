// Convolutions, their gradients, and normalizations with SiLU; float32, channels last, on a CPU.
//
// With image[n, y, x, c], cotangent[n, p, q, k], and y = p * stride + r * dilation - pad (x alike):
//
//   filters   out[r, s, c, k] = sum over n, p, q of image[n, y, x, c] * cotangent[n, p, q, k]
//   depthwise out[r, s, c]    = sum over n, p, q of image[n, y, x, c] * cotangent[n, p, q, c]
//   image     out[n, y, x, c] = sum over r, s, k of cotangent[n, p, q, k] * filters[r, s, k, c]
//
// A tile of `out` stays in registers while what is summed up goes by.  What it reads lies side by
// side in memory, or in rows, so nothing is copied into patches, padded or transposed; where a
// filter reaches over the image's edge, less is summed up.
//
// Each value of `out` is one thread's, and its terms are added in one order: results don't depend on
// the number of threads.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <type_traits>
#include <vector>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

// A tile has kTileRows by two vectors: as many sums as there are registers for.
#if defined(__AVX512F__)
constexpr int kLanes = 16, kTileRows = 8;
#elif defined(__AVX__)
constexpr int kLanes = 8, kTileRows = 4;
#elif defined(__aarch64__)
constexpr int kLanes = 4, kTileRows = 8;
#else
constexpr int kLanes = 4, kTileRows = 4;
#endif
// For one vector after another: enough sums that none waits for its last addition.
constexpr int kVectors = 4;

// About how many positions go by before a tile's sums are put into memory, for the next tile: what
// all tiles read should stay in the nearest caches meanwhile.
constexpr int64_t kPositions = 160;

template <int lanes>
struct VectorOf {
  typedef float type __attribute__((vector_size(lanes * sizeof(float))));
  // In memory it may lie wherever a float may.
  typedef float stored __attribute__((vector_size(lanes * sizeof(float)), aligned(4), may_alias));
};

template <int lanes>
using Floats = typename VectorOf<lanes>::type;

template <int lanes>
void store(float* values, Floats<lanes> v) {
  *reinterpret_cast<typename VectorOf<lanes>::stored*>(values) = v;
}

template <int lanes>
Floats<lanes> load(const float* values) {
  return *reinterpret_cast<const typename VectorOf<lanes>::stored*>(values);
}

template <int lanes>
void add_to(float* values, Floats<lanes> sum) {
  store<lanes>(values, load<lanes>(values) + sum);
}

// Calls `body(lanes, channel)` for vectors of channels, in the end for one after another.
template <typename Body>
inline void over_channels(int64_t c, int64_t end, Body body) {
  for (; c + kLanes <= end; c += kLanes) body(std::integral_constant<int, kLanes>(), c);
  for (; c < end; ++c) body(std::integral_constant<int, 1>(), c);
}

// Two series of values, in rows: what one tile multiplies and sums up.
struct Series {
  int64_t rows, length;
  // How far apart values are, in floats: `a` and `b` are the factors.
  int64_t a_row, a_step, b_row, b_step;
};

// out[i, :] += the sum over the series of a[i] * b[:].  Items of `a` are `apart`, or `adjacent`.
template <int rows, int vectors, int lanes, bool adjacent>
inline void add_products(const float* a, int64_t apart, const float* b, float* out,
                         int64_t out_row, const Series& series) {
  const int64_t item = adjacent ? 1 : apart;
  // From zero: sums of sums lose less than one long sum.
  Floats<lanes> sums[rows][vectors] = {};
  for (int64_t p = 0; p < series.rows; ++p) {
    const float* x = a + p * series.a_row;
    const float* y = b + p * series.b_row;
    for (int64_t q = 0; q < series.length; ++q) {
      Floats<lanes> terms[vectors];
      for (int j = 0; j < vectors; ++j) terms[j] = load<lanes>(y + j * lanes);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < vectors; ++j) sums[i][j] += x[i * item] * terms[j];
      x += series.a_step;
      y += series.b_step;
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) add_to<lanes>(out + i * out_row + j * lanes, sums[i][j]);
}

// The same for `columns` items of `b`, in vectors, in the end in shorter ones.
template <int rows, bool adjacent, int lanes = kLanes>
void add_columns(const float* a, int64_t apart, const float* b, float* out, int64_t out_row,
                 int64_t columns, const Series& series) {
  int64_t k = 0;
  for (; lanes == kLanes && k + 2 * lanes <= columns; k += 2 * lanes)
    add_products<rows, 2, lanes, adjacent>(a, apart, b + k, out + k, out_row, series);
  for (; k + lanes <= columns; k += lanes)
    add_products<rows, 1, lanes, adjacent>(a, apart, b + k, out + k, out_row, series);
  if constexpr (lanes > 1)
    add_columns<rows, adjacent, lanes / 2>(a, apart, b + k, out + k, out_row, columns - k, series);
}

// The same for up to `rows` items of `a`.
template <bool adjacent, int rows = kTileRows>
void add_tiles(int64_t count, const float* a, int64_t apart, const float* b, float* out,
               int64_t out_row, int64_t columns, const Series& series) {
  if constexpr (rows > 1) {
    if (count < rows)
      return add_tiles<adjacent, rows - 1>(count, a, apart, b, out, out_row, columns, series);
  }
  add_columns<rows, adjacent>(a, apart, b, out, out_row, columns, series);
}

// out[:] += the sum over the series of a[:] * b[:].
template <int vectors, int lanes>
inline void add_vector_products(const float* a, const float* b, float* out, const Series& series) {
  Floats<lanes> sums[vectors] = {};
  for (int64_t p = 0; p < series.rows; ++p) {
    const float* x = a + p * series.a_row;
    const float* y = b + p * series.b_row;
    for (int64_t q = 0; q < series.length; ++q) {
      for (int j = 0; j < vectors; ++j)
        sums[j] += load<lanes>(x + j * lanes) * load<lanes>(y + j * lanes);
      x += series.a_step;
      y += series.b_step;
    }
  }
  for (int j = 0; j < vectors; ++j) add_to<lanes>(out + j * lanes, sums[j]);
}

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

// Along one axis: positions of the image and of the cotangent that belong together at a tap.
struct Axis {
  int64_t image, cotangent, taps, stride, dilation, pad;

  int64_t shift(int64_t tap) const { return tap * dilation - pad; }
  // Of the cotangent's, those that see the image.
  int64_t first(int64_t tap) const { return std::max<int64_t>(0, ceil_div(-shift(tap), stride)); }
  int64_t end(int64_t tap) const {
    return std::min(cotangent, ceil_div(image - shift(tap), stride));
  }
  // Of the taps, those that see the image.
  int64_t first_tap(int64_t p) const {
    return std::max<int64_t>(0, ceil_div(pad - p * stride, dilation));
  }
  int64_t end_tap(int64_t p) const {
    return std::min(taps, ceil_div(image + pad - p * stride, dilation));
  }
};

// What the gradients have in common.
struct Problem {
  const float *first, *second;
  float* out;
  int64_t batch, channels, channels_out;
  Axis y, x;

  int64_t matrix() const { return channels * channels_out; }  // the filters' numbers at a tap
  // Offsets of rows and positions, in positions.
  int64_t image_at(int64_t n, int64_t row, int64_t column) const {
    return (n * y.image + row) * x.image + column;
  }
  int64_t cotangent_at(int64_t n, int64_t p, int64_t q) const {
    return (n * y.cotangent + p) * x.cotangent + q;
  }
  int64_t rows_at_once() const {
    return std::max<int64_t>(1, kPositions / std::max<int64_t>(1, x.cotangent));
  }

  // Call `use(image position, cotangent position, rows, columns)` for what a tap sees of some rows.
  template <typename Use>
  void at_tap(int64_t tap, int64_t n, int64_t p, int64_t rows, Use use) const {
    const int64_t r = tap / x.taps, s = tap % x.taps;
    const int64_t top = std::max(p, y.first(r)), bottom = std::min(p + rows, y.end(r));
    const int64_t left = x.first(s), right = x.end(s);
    if (top < bottom && left < right)
      use(image_at(n, top * y.stride + y.shift(r), left * x.stride + x.shift(s)),
          cotangent_at(n, top, left), bottom - top, right - left);
  }
};

template <bool depthwise>
struct GradFilters : Problem {
  static constexpr int64_t kChannels = depthwise ? kVectors * kLanes : kTileRows;
  int64_t per_tap() const { return ceil_div(channels, kChannels); }
  int64_t size() const { return y.taps * x.taps * per_tap(); }

  void compute(int64_t begin, int64_t end) const {
    const int64_t width = depthwise ? 1 : channels_out;
    const auto channel = [this](int64_t tile) { return tile % per_tap() * kChannels; };
    const auto count = [&](int64_t tile) { return std::min(kChannels, channels - channel(tile)); };
    const auto place = [&](int64_t tile) {
      return out + (tile / per_tap() * channels + channel(tile)) * width;
    };
    for (int64_t tile = begin; tile < end; ++tile)
      std::fill_n(place(tile), count(tile) * width, 0.0f);
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t p = 0; p < y.cotangent; p += rows_at_once())
        for (int64_t tile = begin; tile < end; ++tile)
          at_tap(tile / per_tap(), n, p, rows_at_once(),
                 [&](int64_t image, int64_t cotangent, int64_t rows, int64_t columns) {
                   const float* const a = first + image * channels + channel(tile);
                   const float* const b = second + cotangent * channels_out;
                   const Series series{rows, columns, y.stride * x.image * channels,
                                       x.stride * channels, x.cotangent * channels_out,
                                       channels_out};
                   if constexpr (!depthwise)
                     return add_tiles<true>(count(tile), a, 0, b, place(tile), width, width,
                                            series);
                   const float* const c = b + channel(tile);
                   if (count(tile) == kChannels)
                     return add_vector_products<kVectors, kLanes>(a, c, place(tile), series);
                   over_channels(0, count(tile), [&](auto lanes, int64_t k) {
                     add_vector_products<1, lanes>(a + k, c + k, place(tile) + k, series);
                   });
                 });
  }
};

// `first` is the cotangent, `second` the filters.
struct GradImage : Problem {
  int64_t size() const { return batch * y.image; }

  // Rows of the image.
  void compute(int64_t begin, int64_t end) const {
    std::fill_n(out + begin * x.image * channels, (end - begin) * x.image * channels, 0.0f);
    for (int64_t line = begin; line < end; ++line)
      for (int64_t r = 0; r < y.taps; ++r) {
        const int64_t n = line / y.image, from = line % y.image - y.shift(r), p = from / y.stride;
        if (from < 0 || from % y.stride || p >= y.cotangent) continue;
        for (int64_t s = 0; s < x.taps; ++s)
          for (int64_t q = x.first(s); q < x.end(s); q += kTileRows)
            add_tiles<false>(std::min<int64_t>(kTileRows, x.end(s) - q),
                             first + cotangent_at(n, p, q) * channels_out, channels_out,
                             second + (r * x.taps + s) * channels_out * channels,
                             out + (line * x.image + q * x.stride + x.shift(s)) * channels,
                             x.stride * channels, channels,
                             {1, channels_out, 0, 1, 0, channels});
      }
  }
};

// `first` is the image, `second` the filters: the convolution itself.
struct Convolution : Problem {
  int64_t size() const { return batch * y.cotangent; }

  // Rows of the result.
  void compute(int64_t begin, int64_t end) const {
    std::fill_n(out + begin * x.cotangent * channels_out,
                (end - begin) * x.cotangent * channels_out, 0.0f);
    // Between `left` and `right` a filter is over no edge.
    const int64_t left = std::min(std::max<int64_t>(0, ceil_div(x.pad, x.stride)), x.cotangent);
    const int64_t right = std::max(left, x.end(x.taps - 1));
    for (int64_t line = begin; line < end; ++line) {
      add(line, 0, left, 1);
      add(line, left, right, kTileRows);
      add(line, right, x.cotangent, 1);
    }
  }

  // Taps of a row, and their channels, lie side by side in the image and in the filters.
  void add(int64_t line, int64_t from, int64_t end, int64_t at_once) const {
    const int64_t n = line / y.cotangent, p = line % y.cotangent;
    const int64_t r = y.first_tap(p), rows = y.end_tap(p) - r;
    for (int64_t q = from; q < end && rows > 0; q += at_once) {
      const int64_t s_end = x.end_tap(q);
      const int64_t together = x.dilation == 1 ? s_end - x.first_tap(q) : 1;
      for (int64_t s = x.first_tap(q); s < s_end; s += together)
        add_tiles<false>(
            std::min(at_once, end - q),
            first + image_at(n, p * y.stride + y.shift(r), q * x.stride + x.shift(s)) * channels,
            x.stride * channels, second + (r * x.taps + s) * channels * channels_out,
            out + (line * x.cotangent + q) * channels_out, channels_out, channels_out,
            {rows, together * channels, y.dilation * x.image * channels, 1,
             x.taps * channels * channels_out, channels_out});
    }
  }
};

// Room for numbers, at the beginning of a cache line; what is in it is unknown.
struct Room {
  explicit Room(int64_t size) : data(new (kLine) float[size]) {}
  ~Room() { operator delete[](data, kLine); }
  static constexpr std::align_val_t kLine{64};
  float* const data;
};

// Convolutions by 3 x 3 filters with 4 products for 9 (Winograd; Lavin and Gray 2016, F(2x2, 3x3)):
// a square of 4 x 4 positions and the filters are taken apart into 16 terms each, of which products
// of matrices make those of 2 x 2 results.  What isn't finite spreads over the square.
struct Squares : Problem {
  static constexpr int64_t kSide = 4, kTerms = kSide * kSide;

  // Whether this is faster than all products: with many channels, and more than 24 squares.
  static bool suit(const Problem& p) {
    const auto plain = [](const Axis& a) { return a.taps == 3 && a.stride * a.dilation == 1; };
    return plain(p.y) && plain(p.x) && std::min(p.channels, p.channels_out) >= 32 &&
           p.batch * p.y.cotangent * p.x.cotangent >= 100;
  }

  int64_t down() const { return ceil_div(y.cotangent, 2); }
  int64_t across() const { return ceil_div(x.cotangent, 2); }
  int64_t squares() const { return batch * down() * across(); }
  // So many squares at a time that some terms of theirs stay in the second cache.
  int64_t at_once(int64_t terms) const {
    const int64_t fit = (1 << 16) / terms / (channels + channels_out);
    return std::max<int64_t>(1, fit / kTileRows) * kTileRows;
  }
  static int64_t apart(int64_t numbers) { return numbers + 16; }  // no power of two, for caches

  struct Square {
    const float* image[kTerms];
    int64_t at;          // where its first result is
    bool below, beside;  // whether there are such results
  };

  // Some squares; positions beside the image are `zeros`.
  std::vector<Square> lay(int64_t from, int64_t count, const float* zeros) const {
    std::vector<Square> all(count);
    for (Square& square : all) {
      const int64_t line = from / across(), n = line / down();
      const int64_t p = line % down() * 2, q = from++ % across() * 2;
      for (int64_t k = 0; k < kTerms; ++k) {
        const int64_t row = p + k / kSide - y.pad, column = q + k % kSide - x.pad;
        const bool inside = row >= 0 && row < y.image && column >= 0 && column < x.image;
        square.image[k] = inside ? first + image_at(n, row, column) * channels : zeros;
      }
      square.at = cotangent_at(n, p, q);
      square.below = p + 1 < y.cotangent, square.beside = q + 1 < x.cotangent;
    }
    return all;
  }

  // Turns rows of a square of vectors, then columns of that; `put` says nullptr for one unwanted.
  template <int lanes, int from, int to, typename Get, typename Turn, typename Put>
  static void turn_axes(Get get, Turn turn, Put put) {
    Floats<lanes> half[from][to], values[from], made[to];
    for (int i = 0; i < from; ++i) {
      for (int j = 0; j < from; ++j) values[j] = load<lanes>(get(i, j));
      turn(values, half[i]);
    }
    for (int j = 0; j < to; ++j) {
      for (int i = 0; i < from; ++i) values[i] = half[i][j];
      turn(values, made);
      for (int i = 0; i < to; ++i)
        if (float* const at = put(i, j)) store<lanes>(at, made[i]);
    }
  }

  // A row of the terms of a square's image.
  template <int lanes>
  static void image_terms(int64_t row, const Square& square, int64_t c, float* terms, int64_t step) {
    constexpr int kOne[] = {0, 1, 2, 1}, kOther[] = {2, 2, 1, 3};
    const float sign = row == 1 ? 1.0f : -1.0f;
    Floats<lanes> sums[kSide];
    for (int j = 0; j < kSide; ++j)
      sums[j] = load<lanes>(square.image[kSide * kOne[row] + j] + c) +
                sign * load<lanes>(square.image[kSide * kOther[row] + j] + c);
    store<lanes>(terms + c, sums[0] - sums[2]);
    store<lanes>(terms + step + c, sums[1] + sums[2]);
    store<lanes>(terms + 2 * step + c, sums[2] - sums[1]);
    store<lanes>(terms + 3 * step + c, sums[1] - sums[3]);
  }
};

// `second` are the filters' terms.
struct Winograd : Squares {
  int64_t size() const { return ceil_div(squares(), kTileRows); }

  static void take_filters_apart(const float* filters, float* terms, int64_t size) {
    over_channels(0, size, [=](auto lanes, int64_t at) {
      turn_axes<lanes, 3, kSide>(
          [&](int r, int s) { return filters + (3 * r + s) * size + at; },
          [](const auto* v, auto* out) {
            const auto ends = 0.5f * (v[0] + v[2]), middle = 0.5f * v[1];
            out[0] = v[0], out[1] = ends + middle, out[2] = ends - middle, out[3] = v[2];
          },
          [&](int i, int j) { return terms + (kSide * i + j) * apart(size) + at; });
    });
  }

  void compute(int64_t begin, int64_t end) const {
    const int64_t most = at_once(kTerms), last = std::min(end * kTileRows, squares());
    const int64_t step = apart(most * channels), next = apart(most * channels_out);
    Room image(kTerms * step), made(kTerms * next);
    const std::vector<float> zeros(channels);
    for (int64_t from = begin * kTileRows; from < last; from += most) {
      const auto squares = lay(from, std::min(most, last - from), zeros.data());
      const int64_t count = squares.size();
      for (int64_t k = 0; k < count; ++k)
        over_channels(0, channels, [&](auto lanes, int64_t c) {
          for (int64_t row = 0; row < kSide; ++row)
            image_terms<lanes>(row, squares[k], c,
                               image.data + row * kSide * step + k * channels, step);
        });
      std::fill_n(made.data, kTerms * next, 0.0f);
      for (int64_t term = 0; term < kTerms; ++term)
        for (int64_t k = 0; k < count; k += kTileRows)
          add_tiles<false>(std::min<int64_t>(kTileRows, count - k),
                           image.data + term * step + k * channels, channels,
                           second + term * apart(matrix()),
                           made.data + term * next + k * channels_out, channels_out, channels_out,
                           {1, channels, 0, 1, 0, channels_out});
      for (int64_t k = 0; k < count; ++k)
        put_together(squares[k], made.data + k * channels_out, next);
    }
  }

  void put_together(const Square& square, const float* terms, int64_t step) const {
    over_channels(0, channels_out, [&](auto lanes, int64_t c) {
      turn_axes<lanes, kSide, 2>(
          [&](int i, int j) { return terms + (kSide * i + j) * step + c; },
          [](const auto* v, auto* to) { to[0] = v[0] + v[1] + v[2], to[1] = v[1] - v[2] - v[3]; },
          [&](int i, int j) {
            const bool there = (square.below || !i) && (square.beside || !j);
            return there ? out + (square.at + i * x.cotangent + j) * channels_out + c : nullptr;
          });
    });
  }
};

// The gradient of the filters' terms; a thread has some rows of these, or some channels.
struct WinogradGradFilters : Squares {
  int64_t blocks() const { return ceil_div(channels, kTileRows); }
  int64_t size() const { return kSide * blocks(); }

  void compute(int64_t begin, int64_t end) const {
    const int64_t most = at_once(kSide), step = apart(most * channels);
    const int64_t next = apart(most * channels_out);
    Room image(kSide * step), cotangent(kSide * next);
    const std::vector<float> zeros(std::max(channels, channels_out));
    for (int64_t from = 0; from < squares(); from += most) {
      const auto squares = lay(from, std::min(most, this->squares() - from), zeros.data());
      const int64_t count = squares.size();
      for (int64_t row = begin / blocks(); row * blocks() < end; ++row) {
        const int64_t low = std::max<int64_t>(0, begin - row * blocks()) * kTileRows;
        const int64_t high = std::min(channels, (end - row * blocks()) * kTileRows);
        for (int64_t k = 0; k < count; ++k) {
          over_channels(low, high, [&](auto lanes, int64_t c) {
            image_terms<lanes>(row, squares[k], c, image.data + k * channels, step);
          });
          cotangent_terms(row, squares[k], zeros.data(), cotangent.data + k * channels_out, next);
        }
        for (int64_t j = 0; j < kSide; ++j) {
          float* const to = out + (row * kSide + j) * matrix();
          if (from == 0) std::fill(to + low * channels_out, to + high * channels_out, 0.0f);
          for (int64_t c = low; c < high; c += kTileRows)
            add_tiles<true>(std::min<int64_t>(kTileRows, high - c), image.data + j * step + c, 0,
                            cotangent.data + j * next, to + c * channels_out, channels_out,
                            channels_out, {1, count, 0, channels, 0, channels_out});
        }
      }
    }
  }

  void cotangent_terms(int64_t row, const Square& square, const float* zeros, float* terms,
                       int64_t step) const {
    const float* const g = second + square.at * channels_out;
    const float* const under = square.below ? g + x.cotangent * channels_out : zeros;
    const float* const right[] = {square.beside ? g + channels_out : zeros,
                                  square.below && square.beside ? under + channels_out : zeros};
    const float upper = row < 3, lower = row == 0 ? 0.0f : row == 1 ? 1.0f : -1.0f;
    over_channels(0, channels_out, [&](auto lanes, int64_t k) {
      const auto a = upper * load<lanes>(g + k) + lower * load<lanes>(under + k);
      const auto b = upper * load<lanes>(right[0] + k) + lower * load<lanes>(right[1] + k);
      store<lanes>(terms + k, a);
      store<lanes>(terms + step + k, a + b);
      store<lanes>(terms + 2 * step + k, a - b);
      store<lanes>(terms + 3 * step + k, -b);
    });
  }

  static void put_together(const float* terms, float* filters, int64_t size) {
    over_channels(0, size, [=](auto lanes, int64_t at) {
      turn_axes<lanes, kSide, 3>(
          [&](int i, int j) { return terms + (kSide * i + j) * size + at; },
          [](const auto* v, auto* out) {
            const auto both = 0.5f * (v[1] + v[2]);
            out[0] = v[0] + both, out[1] = 0.5f * (v[1] - v[2]), out[2] = both + v[3];
          },
          [&](int r, int s) { return filters + (3 * r + s) * size + at; });
    });
  }
};

// Parts of a problem, which threads take as they come.
template <typename P>
struct Shared {
  explicit Shared(const P& problem) : problem(problem) {}

  P problem;
  int64_t parts;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::condition_variable changed;
  int64_t done = 0;

  void take_parts() {
    const int64_t size = problem.size();
    for (int64_t part; (part = next++) < parts;) {
      problem.compute(part * size / parts, (part + 1) * size / parts);
      std::lock_guard<std::mutex> lock(mutex);
      if (++done == parts) changed.notify_all();
    }
  }
};

template <typename P>
void solve(ffi::ThreadPool& pool, const P& problem) {
  auto shared = std::make_shared<Shared<P>>(problem);
  shared->parts = std::min<int64_t>(problem.size(), std::max<int64_t>(1, pool.num_threads()));
  for (int64_t k = 1; k < shared->parts; ++k) pool.Schedule([shared] { shared->take_parts(); });
  shared->take_parts();
  // Nothing is left to take: what isn't done yet, running threads have.  One that comes later finds
  // nothing, so it isn't waited for in vain when all threads of the pool wait like this one.
  std::unique_lock<std::mutex> lock(shared->mutex);
  shared->changed.wait(lock, [&] { return shared->done == shared->parts; });
}

// ------------------------------------------------------------------------------ normalization
//
// Of rows of channels.  Rows of few channels are taken several at a time, as a wide one that fills
// vectors; values of channels are repeated as often.  Rows are summed up in chunks that stay in the
// caches, and the chunks' sums in double precision, in one order.

// 1 / (1 + exp(-x)); the relative error is below 3e-7.
template <int lanes>
inline Floats<lanes> sigmoid(Floats<lanes> x) {
  typedef int32_t Integers __attribute__((vector_size(lanes * sizeof(int32_t))));
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
  const Integers bits = (Integers)p + ((Integers)shifted << 23);
  return x < -kFar ? Floats<lanes>{} : 1.0f / (1.0f + (Floats<lanes>)bits);
}

struct Rows {
  int64_t rows, channels;
  static constexpr int64_t kChunk = 16384;  // floats

  // Wide rows, or in the end rows that are too few for one.
  struct Chunk {
    int64_t number, at, rows, width;
    bool whole;
  };

  int64_t beside() const {
    int64_t count = kLanes / std::gcd<int64_t>(channels, kLanes);
    while (channels && count * channels < kVectors * kLanes) count *= 2;
    return count;
  }
  int64_t width() const { return beside() * channels; }
  int64_t at_once() const { return std::max<int64_t>(1, kChunk / width()); }
  int64_t whole() const { return ceil_div(rows / beside(), at_once()); }
  int64_t size() const { return channels ? whole() + (rows % beside() > 0) : 0; }

  Chunk chunk(int64_t number) const {
    const int64_t from = number * at_once(), wide = rows / beside();
    if (number < whole())
      return {number, from * width(), std::min(at_once(), wide - from), width(), true};
    return {number, wide * width(), rows % beside(), channels, false};
  }

  // Values of channels, as a wide row.
  std::vector<float> repeated(const float* values) const {
    std::vector<float> all;
    for (int64_t k = 0; k < beside(); ++k) all.insert(all.end(), values, values + channels);
    return all;
  }

  // Two sums of each column of the chunks.
  std::vector<float> make_sums() const { return std::vector<float>(size() * 2 * width()); }

  // Call `use(rows, sums, other sums)` with those of all channels, as often as there are some.
  template <typename Use>
  void over_sums(const std::vector<float>& sums, Use use) const {
    for (int64_t k = 0; k < size(); ++k)
      for (int64_t at = 0; at < chunk(k).width; at += channels)
        use(double(chunk(k).rows), &sums[2 * k * width() + at], &sums[(2 * k + 1) * width() + at]);
  }
};

// Calls `body(vectors, lanes, chunk, column)` for all columns of all chunks.
template <int vectors, typename Body>
struct Pass : Rows {
  Body body;

  void compute(int64_t begin, int64_t end) const {
    const std::integral_constant<int, 1> one;
    const std::integral_constant<int, kLanes> lanes;
    for (int64_t number = begin; number < end; ++number) {
      const Chunk part = chunk(number);
      int64_t k = 0;
      for (; part.whole && k + vectors * kLanes <= part.width; k += vectors * kLanes)
        body(std::integral_constant<int, vectors>(), lanes, part, k);
      for (; part.whole && k < part.width; k += kLanes) body(one, lanes, part, k);
      for (; k < part.width; ++k) body(one, one, part, k);
    }
  }
};

template <int vectors, typename Body>
void pass(ffi::ThreadPool& pool, const Rows& rows, Body body) {
  solve(pool, Pass<vectors, Body>{rows, body});
}

using Image = ffi::Buffer<ffi::F32>;
using Values = ffi::BufferR1<ffi::F32>;
using ImageOut = ffi::ResultBuffer<ffi::F32>;
using ValuesOut = ffi::ResultBufferR1<ffi::F32>;

Rows rows_of(const Image& image) {
  const int64_t channels = image.dimensions().back();
  return {channels ? int64_t(image.element_count()) / channels : 0, channels};
}

double inverse_deviation(float variance, float epsilon) {
  return 1 / std::sqrt(double(variance) + epsilon);
}

ffi::Error moments(ffi::ThreadPool pool, Image image, Values gamma, float epsilon,
                   ValuesOut mean_out, ValuesOut variance_out, ValuesOut scale_out) {
  const Rows rows = rows_of(image);
  std::vector<float> all = rows.make_sums();
  const float* x = image.typed_data();
  float* sums = all.data();
  // The mean of a chunk, and the squared differences to it.
  pass<kVectors>(pool, rows, [=](auto vectors, auto lanes, const Rows::Chunk& chunk, int64_t k) {
    Floats<lanes> mean[vectors] = {}, squares[vectors] = {};
    const float* const begin = x + chunk.at + k;
    const float* const end = begin + chunk.rows * chunk.width;
    for (const float* row = begin; row < end; row += chunk.width)
      for (int v = 0; v < vectors; ++v) mean[v] += load<lanes>(row + v * lanes);
    for (int v = 0; v < vectors; ++v) mean[v] /= float(chunk.rows);
    for (const float* row = begin; row < end; row += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const Floats<lanes> difference = load<lanes>(row + v * lanes) - mean[v];
        squares[v] += difference * difference;
      }
    float* out = sums + 2 * chunk.number * rows.width() + k;
    for (int v = 0; v < vectors; ++v) {
      store<lanes>(out + v * lanes, mean[v]);
      store<lanes>(out + rows.width() + v * lanes, squares[v]);
    }
  });
  const int64_t channels = rows.channels;
  const double number = std::max<int64_t>(1, rows.rows);
  std::vector<double> mean(channels), squares(channels);
  rows.over_sums(all, [&](double count, const float* means, const float*) {
    for (int64_t c = 0; c < channels; ++c) mean[c] += count / number * means[c];
  });
  rows.over_sums(all, [&](double count, const float* means, const float* of_squares) {
    for (int64_t c = 0; c < channels; ++c) {
      const double difference = means[c] - mean[c];
      squares[c] += of_squares[c] + count * difference * difference;
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    mean_out->typed_data()[c] = mean[c];
    const float variance = variance_out->typed_data()[c] = squares[c] / number;
    scale_out->typed_data()[c] = gamma.typed_data()[c] * inverse_deviation(variance, epsilon);
  }
  return ffi::Error::Success();
}

// Some of a wide row's values.
template <int vectors, int lanes>
struct Part {
  Floats<lanes> v[vectors];

  explicit Part(const float* values) {
    for (int i = 0; i < vectors; ++i) v[i] = load<lanes>(values + i * lanes);
  }
  const Floats<lanes>& operator[](int i) const { return v[i]; }
};

// What the passes over a normalization's image read, as wide rows.
struct Normalized {
  std::vector<double> inverse;
  std::vector<float> mean, scale, beta;

  Normalized(const Rows& rows, Values gamma, Values beta_of, Values mean_of, Values variance,
             float epsilon)
      : inverse(rows.channels),
        mean(rows.repeated(mean_of.typed_data())),
        beta(rows.repeated(beta_of.typed_data())) {
    std::vector<float> scale_of(rows.channels);
    for (int64_t c = 0; c < rows.channels; ++c) {
      inverse[c] = inverse_deviation(variance.typed_data()[c], epsilon);
      scale_of[c] = gamma.typed_data()[c] * inverse[c];
    }
    scale = rows.repeated(scale_of.data());
  }
};

ffi::Error normalize_silu(ffi::ThreadPool pool, Image image, Values gamma, Values beta_of,
                          Values mean_of, Values variance, float epsilon, ImageOut result) {
  const Rows rows = rows_of(image);
  const Normalized known(rows, gamma, beta_of, mean_of, variance, epsilon);
  const float *x = image.typed_data(), *means = known.mean.data(), *scales = known.scale.data();
  const float* betas = known.beta.data();
  float* out = result->typed_data();
  pass<2>(pool, rows, [=](auto vectors, auto lanes, const Rows::Chunk& chunk, int64_t k) {
    const Part<vectors, lanes> mean(means + k), scale(scales + k), beta(betas + k);
    for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const auto z = (load<lanes>(x + at + v * lanes) - mean[v]) * scale[v] + beta[v];
        store<lanes>(out + at + v * lanes, z * sigmoid<lanes>(z));
      }
  });
  return ffi::Error::Success();
}

// SiLU's derivative at the normalized image.
template <int lanes>
inline Floats<lanes> slope_of_silu(Floats<lanes> centred, Floats<lanes> scale,
                                   Floats<lanes> beta) {
  const Floats<lanes> z = centred * scale + beta, s = sigmoid<lanes>(z);
  return s * (1.0f + z * (1.0f - s));
}

ffi::Error normalize_silu_grad(ffi::ThreadPool pool, Image image, Values gamma, Values beta_of,
                               Values mean_of, Values variance, Image cotangent, float epsilon,
                               ImageOut g_image, ValuesOut g_gamma, ValuesOut g_beta) {
  const Rows rows = rows_of(image);
  const int64_t channels = rows.channels;
  const Normalized known(rows, gamma, beta_of, mean_of, variance, epsilon);
  const float *x = image.typed_data(), *g = cotangent.typed_data(), *means = known.mean.data();
  const float *scales = known.scale.data(), *betas = known.beta.data();
  std::vector<double> total(channels), products(channels);
  std::vector<float> slope_of(channels), offset_of(channels);
  auto all_sums = rows.make_sums();
  float *sums = all_sums.data(), *out = g_image->typed_data();
  // Sums of the normalized image's gradient, and of that times the centred image.
  pass<2>(pool, rows, [=](auto vectors, auto lanes, const Rows::Chunk& chunk, int64_t k) {
    const Part<vectors, lanes> mean(means + k), scale(scales + k), beta(betas + k);
    Floats<lanes> total[vectors] = {}, products[vectors] = {};
    for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const Floats<lanes> centred = load<lanes>(x + at + v * lanes) - mean[v];
        const Floats<lanes> back = load<lanes>(g + at + v * lanes) *
                                   slope_of_silu<lanes>(centred, scale[v], beta[v]);
        total[v] += back;
        products[v] += back * centred;
      }
    float* to = sums + 2 * chunk.number * rows.width() + k;
    for (int v = 0; v < vectors; ++v) {
      store<lanes>(to + v * lanes, total[v]);
      store<lanes>(to + rows.width() + v * lanes, products[v]);
    }
  });
  rows.over_sums(all_sums, [&](double, const float* of_g, const float* of_products) {
    for (int64_t c = 0; c < channels; ++c) {
      total[c] += of_g[c];
      products[c] += of_products[c];
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    g_beta->typed_data()[c] = total[c];
    g_gamma->typed_data()[c] = products[c] *= known.inverse[c];
    offset_of[c] = total[c] / rows.rows;
    slope_of[c] = products[c] * known.inverse[c] / rows.rows;
  }
  const auto all_slopes = rows.repeated(slope_of.data());
  const auto all_offsets = rows.repeated(offset_of.data());
  const float *slopes = all_slopes.data(), *offsets = all_offsets.data();
  // To compute the derivative again takes less time than to read it from memory.
  pass<2>(pool, rows, [=](auto vectors, auto lanes, const Rows::Chunk& chunk, int64_t k) {
    const Part<vectors, lanes> mean(means + k), scale(scales + k), beta(betas + k);
    const Part<vectors, lanes> slope(slopes + k), offset(offsets + k);
    for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const Floats<lanes> centred = load<lanes>(x + at + v * lanes) - mean[v];
        const Floats<lanes> back = load<lanes>(g + at + v * lanes) *
                                   slope_of_silu<lanes>(centred, scale[v], beta[v]);
        store<lanes>(out + at + v * lanes, scale[v] * (back - offset[v] - centred * slope[v]));
      }
  });
  return ffi::Error::Success();
}

using Sizes = ffi::Span<const int64_t>;
using Images = ffi::BufferR4<ffi::F32>;

// Of arrays with the dimensions of an image, a cotangent and filters.
Problem problem_of(const float* first, const float* second, float* out, Images::Dimensions image,
                   Images::Dimensions cotangent, Images::Dimensions filters, Sizes stride,
                   Sizes dilation, Sizes pad) {
  return {first, second, out, image[0], image[3], cotangent[3],
          {image[1], cotangent[1], filters[0], stride[0], dilation[0], pad[0]},
          {image[2], cotangent[2], filters[1], stride[1], dilation[1], pad[1]}};
}

template <bool depthwise>
ffi::Error grad_filters(ffi::ThreadPool pool, Images image, Images cotangent, Sizes stride,
                        Sizes dilation, Sizes pad, ffi::ResultBufferR4<ffi::F32> out) {
  const Problem problem = problem_of(
      image.typed_data(), cotangent.typed_data(), out->typed_data(), image.dimensions(),
      cotangent.dimensions(), out->dimensions(), stride, dilation, pad);
  if (!depthwise && Squares::suit(problem)) {
    Room terms(Squares::kTerms * problem.matrix());
    WinogradGradFilters winograd{{problem}};
    winograd.out = terms.data;
    solve(pool, winograd);
    WinogradGradFilters::put_together(terms.data, problem.out, problem.matrix());
  } else {
    solve(pool, GradFilters<depthwise>{problem});
  }
  return ffi::Error::Success();
}

ffi::Error convolution(ffi::ThreadPool pool, Images image, Images filters, Sizes stride,
                       Sizes dilation, Sizes pad, ffi::ResultBufferR4<ffi::F32> out) {
  const Problem problem = problem_of(
      image.typed_data(), filters.typed_data(), out->typed_data(), image.dimensions(),
      out->dimensions(), filters.dimensions(), stride, dilation, pad);
  if (Squares::suit(problem)) {
    Room terms(Squares::kTerms * Squares::apart(problem.matrix()));
    Winograd::take_filters_apart(problem.second, terms.data, problem.matrix());
    Winograd winograd{{problem}};
    winograd.second = terms.data;
    solve(pool, winograd);
  } else {
    solve(pool, Convolution{problem});
  }
  return ffi::Error::Success();
}

ffi::Error grad_image(ffi::ThreadPool pool, Images cotangent, Images filters, Sizes stride,
                      Sizes dilation, Sizes pad, ffi::ResultBufferR4<ffi::F32> out) {
  solve(pool, GradImage{problem_of(
                  cotangent.typed_data(), filters.typed_data(), out->typed_data(),
                  out->dimensions(), cotangent.dimensions(), filters.dimensions(), stride,
                  dilation, pad)});
  return ffi::Error::Success();
}

auto binding() {
  return ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<Images>().Arg<Images>().Attr<Sizes>("stride")
      .Attr<Sizes>("dilation").Attr<Sizes>("pad").Ret<Images>();
}

auto moments_binding() {
  return ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<Image>().Arg<Values>().Attr<float>("epsilon")
      .Ret<Values>().Ret<Values>().Ret<Values>();
}

// Image, gamma, beta, mean, variance.
auto normalized_binding() {
  return ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<Image>().Arg<Values>().Arg<Values>()
      .Arg<Values>().Arg<Values>();
}

}  // namespace

// What is called from Python has checked the shapes.
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_conv_grad_filters, grad_filters<false>, binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_depthwise_grad_filters, grad_filters<true>, binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_conv_grad_image, grad_image, binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_convolution, convolution, binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_moments, moments, moments_binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pytensor_normalize_silu, normalize_silu,
                              normalized_binding().Attr<float>("epsilon").Ret<Image>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    pytensor_grad_normalize_silu, normalize_silu_grad,
    normalized_binding().Arg<Image>().Attr<float>("epsilon").Ret<Image>().Ret<Values>()
        .Ret<Values>());
