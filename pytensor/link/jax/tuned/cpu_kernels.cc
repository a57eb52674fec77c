// Convolutions, their gradients, and normalizations with SiLU; channels last, on a CPU.  Images and
// their gradients are float32 or bfloat16 (T); all else is float32, and so are sums.
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
// Each value of `out` is one thread's, and its terms are added in one order: the number of threads
// changes nothing.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <numeric>
#include <type_traits>
#include <vector>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

template <>  // so that handlers' types say all that XLA must know
struct ffi::CtxBinding<ffi::ThreadPool> {
  using Ctx = ffi::ThreadPool;
};

namespace {

// A tile has kTileRows by two vectors: as many sums as there are registers for.
#if defined(__AVX512F__)
constexpr int kLanes = 16, kTileRows = 8;
#elif defined(__AVX__)
constexpr int kLanes = 8, kTileRows = 6;
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

template <typename T, int lanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(lanes * sizeof(T))));
  // In memory it may lie wherever a number may.
  typedef T stored __attribute__((vector_size(lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
};

template <int lanes> using Floats = typename VectorOf<float, lanes>::type;
template <int lanes> using Bits = typename VectorOf<uint32_t, lanes>::type;
// The upper half of a float.
using BFloat16 = uint16_t;

template <int lanes, typename T>
Floats<lanes> load(const T* values) {
  const auto v = *reinterpret_cast<const typename VectorOf<T, lanes>::stored*>(values);
  if constexpr (std::is_same_v<T, float>) return v;
  else return (Floats<lanes>)(__builtin_convertvector(v, Bits<lanes>) << 16);
}

template <int lanes, typename T>
void store(T* values, Floats<lanes> v) {
  auto& to = *reinterpret_cast<typename VectorOf<T, lanes>::stored*>(values);
  if constexpr (std::is_same_v<T, float>) {
    to = v;
  } else {  // to the nearest, of two to the even one; what is no number stays so
    const Bits<lanes> bits = (Bits<lanes>)v, nearest = bits + 0x7fff + (bits >> 16 & 1);
    const Bits<lanes> all = v == v ? nearest : bits | 0x400000;
    to = __builtin_convertvector(all >> 16, typename VectorOf<T, lanes>::type);
  }
}

// Calls `body(lanes, channel)` for vectors of channels, in the end for one after another.
template <typename Body>
inline void over_channels(int64_t c, int64_t end, Body body) {
  for (; c + kLanes <= end; c += kLanes) body(std::integral_constant<int, kLanes>(), c);
  for (; c < end; ++c) body(std::integral_constant<int, 1>(), c);
}

// Room for numbers, at the beginning of a cache line; what is in it is unknown.
struct Room {
  explicit Room(int64_t size) : data(new (kLine) float[size]) {}
  ~Room() { operator delete[](data, kLine); }
  static constexpr std::align_val_t kLine{64};
  float* const data;
};

// Some numbers of an array as floats: where they lie, or else a copy, always in the same room.
template <typename T>
struct Wide {
  const float* data;
  int64_t begin;
  std::vector<float> room;

  void read(const T* values, int64_t from, int64_t end) {
    begin = from;
    if constexpr (std::is_same_v<T, float>) {
      data = values + from;
    } else {
      room.resize(std::max<int64_t>(room.size(), end - from));
      over_channels(0, end - from, [&](auto lanes, int64_t k) {
        store<lanes>(&room[k], load<lanes>(values + from + k));
      });
      data = room.data();
    }
  }
  const float* at(int64_t k) const { return data + (k - begin); }
};

// Two series of values, in rows: what one tile multiplies and sums up.
struct Series {
  int64_t rows, length;
  // How far apart values are, in floats: `a` and `b` are the factors.
  int64_t a_row, a_step, b_row, b_step;
};

// Items of `a` are apart, and the sums are stored; or they lie side by side, and the sums are added
// to what is there; or they are multiplied with one item of `b` each, and added.
enum Kind { kApart, kAdjacent, kPairs };

// out[i, :] is, or gets, the sum over the series of a[i] * b[:], or out[:] that of a[:] * b[:].
template <int rows, int vectors, int lanes, Kind kind, typename T>
inline void sum_products(const float* a, int64_t apart, const float* b, T* out, int64_t out_row,
                         const Series& series) {
  const int64_t item = kind == kApart ? apart : 1;
  // From zero: sums of sums lose less than one long sum.
  Floats<lanes> sums[rows][vectors] = {};
  for (int64_t p = 0; p < series.rows; ++p) {
    const float* x = a + p * series.a_row;
    const float* y = b + p * series.b_row;
    for (int64_t q = 0; q < series.length; ++q) {
      Floats<lanes> terms[vectors];
      for (int j = 0; j < vectors; ++j) terms[j] = load<lanes>(y + j * lanes);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < vectors; ++j)
          if constexpr (kind == kPairs) sums[i][j] += load<lanes>(x + j * lanes) * terms[j];
          else sums[i][j] += x[i * item] * terms[j];
      x += series.a_step;
      y += series.b_step;
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) {
      T* const to = out + i * out_row + j * lanes;
      store<lanes>(to, kind == kApart ? sums[i][j] : load<lanes>(to) + sums[i][j]);
    }
}

// The same for `columns` items of `b`, or pairs, in vectors, in the end in shorter ones.
template <int rows, Kind kind, int lanes = kLanes, typename T>
void sum_columns(const float* a, int64_t apart, const float* b, T* out, int64_t out_row,
                 int64_t columns, const Series& series) {
  constexpr int most = lanes < kLanes ? 1 : kind == kPairs ? kVectors : 2;
  const auto at = [=](int64_t k) { return kind == kPairs ? a + k : a; };
  int64_t k = 0;
  for (; k + most * lanes <= columns; k += most * lanes)
    sum_products<rows, most, lanes, kind>(at(k), apart, b + k, out + k, out_row, series);
  for (; k + lanes <= columns; k += lanes)
    sum_products<rows, 1, lanes, kind>(at(k), apart, b + k, out + k, out_row, series);
  if constexpr (lanes > 1)
    sum_columns<rows, kind, lanes / 2>(at(k), apart, b + k, out + k, out_row, columns - k, series);
}

// The same for up to `rows` items of `a`.
template <Kind kind, int rows = kTileRows, typename T>
void sum_tiles(int64_t count, const float* a, int64_t apart, const float* b, T* out,
               int64_t out_row, int64_t columns, const Series& series) {
  if constexpr (rows > 1)
    if (count < rows)
      return sum_tiles<kind, rows - 1>(count, a, apart, b, out, out_row, columns, series);
  sum_columns<rows, kind>(a, apart, b, out, out_row, columns, series);
}

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

// Along one axis: positions of the image and of the cotangent that belong together at a tap.
struct Axis {
  int64_t image, cotangent, taps, stride, dilation, pad;

  int64_t shift(int64_t tap) const { return tap * dilation - pad; }
  bool is_plain() const { return taps == 1 && stride == 1 && image == cotangent && pad == 0; }
  // Of the cotangent's, those that see the image.
  int64_t first(int64_t tap) const { return std::max<int64_t>(0, ceil_div(-shift(tap), stride)); }
  int64_t end(int64_t r) const { return std::min(cotangent, ceil_div(image - shift(r), stride)); }
  // Of the taps, those that see the image.
  int64_t first_tap(int64_t p) const {
    return std::max<int64_t>(0, ceil_div(pad - p * stride, dilation));
  }
  int64_t end_tap(int64_t p) const {
    return std::min(taps, ceil_div(image + pad - p * stride, dilation));
  }
  int64_t first_seeing(int64_t start) const { return (start + pad) % stride; }
  // Of the image's gradient at `start` and each `stride` on, which is a convolution of the
  // cotangent: by the tap `first_seeing` and each `stride` on, turned round.  Without dilation.
  Axis backward(int64_t start) const {
    const int64_t seeing = std::max<int64_t>(0, ceil_div(taps - first_seeing(start), stride));
    return {cotangent, ceil_div(image - start, stride), seeing, 1, 1,
            seeing - 1 - (start + pad) / stride};
  }
};

// What convolutions and their gradients have in common.
struct Problem {
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
};

template <typename T, bool depthwise>
struct GradFilters : Problem {
  const T *image, *cotangent;
  float* out;

  static constexpr int64_t kChannels = depthwise ? kVectors * kLanes : kTileRows;
  int64_t per_tap() const { return ceil_div(channels, kChannels); }
  int64_t size() const { return y.taps * x.taps * per_tap(); }

  void operator()(int64_t begin, int64_t end) const {
    const int64_t width = depthwise ? 1 : channels_out;
    const auto channel = [this](int64_t tile) { return tile % per_tap() * kChannels; };
    const auto count = [&](int64_t tile) { return std::min(kChannels, channels - channel(tile)); };
    const auto place = [&](int64_t tile) {
      return out + (tile / per_tap() * channels + channel(tile)) * width;
    };
    for (int64_t tile = begin; tile < end; ++tile)
      std::fill_n(place(tile), count(tile) * width, 0.0f);
    const int64_t rows_at_once = kPositions / (x.cotangent + 1) + 1;
    Wide<T> images, cotangents;
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t p = 0, past; p < y.cotangent; p = past) {
        past = std::min(y.cotangent, p + rows_at_once);
        const int64_t high = std::max<int64_t>(0, p * y.stride + y.shift(0));
        const int64_t low = std::min(y.image, (past - 1) * y.stride + y.shift(y.taps - 1) + 1);
        images.read(image, image_at(n, high, 0) * channels, image_at(n, low, 0) * channels);
        cotangents.read(cotangent, cotangent_at(n, p, 0) * channels_out,
                        cotangent_at(n, past, 0) * channels_out);
        for (int64_t tile = begin; tile < end; ++tile) {
          const int64_t r = tile / per_tap() / x.taps, s = tile / per_tap() % x.taps;
          // What the tap sees of these rows.
          const int64_t top = std::max(p, y.first(r)), bottom = std::min(past, y.end(r));
          const int64_t left = x.first(s), right = x.end(s);
          if (top >= bottom || left >= right) continue;
          const Series series{bottom - top, right - left, y.stride * x.image * channels,
                              x.stride * channels, x.cotangent * channels_out, channels_out};
          const float* const a = channel(tile) + images.at(channels * image_at(
              n, top * y.stride + y.shift(r), left * x.stride + x.shift(s)));
          const float* const b = cotangents.at(cotangent_at(n, top, left) * channels_out);
          if constexpr (depthwise)
            sum_columns<1, kPairs>(a, 0, b + channel(tile), place(tile), 0, count(tile), series);
          else
            sum_tiles<kAdjacent>(count(tile), a, 0, b, place(tile), width, width, series);
        }
      }
  }
};

// Columns of its filters are not dilated.
template <typename T>
struct Convolution : Problem {
  const T* image;
  const float* filters;
  T* out;
  int64_t images_apart, down, across;  // in `out`: images, rows and columns, in positions

  int64_t size() const { return batch * y.cotangent; }

  void operator()(int64_t begin, int64_t end) const {
    // Between `left` and `right` a filter is over no edge.
    const int64_t left = std::min(std::max<int64_t>(0, ceil_div(x.pad, x.stride)), x.cotangent);
    const int64_t right = std::max(left, x.end(x.taps - 1));
    Wide<T> images;
    for (int64_t line = begin; line < end; ++line) {
      const int64_t n = line / y.cotangent, p = line % y.cotangent, r = y.first_tap(p);
      const int64_t rows = y.end_tap(p) - r, top = p * y.stride + y.shift(r);
      const int64_t bottom = top + (rows - 1) * y.dilation + 1;
      images.read(image, image_at(n, top, 0) * channels, image_at(n, bottom, 0) * channels);
      // Taps of a row, and their channels, lie side by side in the image and in the filters.
      const auto sum = [&](int64_t from, int64_t end, int64_t at_once, int64_t k) {
        for (int64_t q = from; q < end; q += at_once) {
          const int64_t s = x.first_tap(q), length = (x.end_tap(q) - s) * channels;
          sum_tiles<kApart>(
              std::min(at_once, end - q),
              images.at(image_at(n, top, q * x.stride + x.shift(s)) * channels),
              x.stride * channels, filters + (r * x.taps + s) * matrix() + k,
              out + (n * images_apart + p * down + q * across) * channels_out + k,
              across * channels_out, std::min<int64_t>(2 * kLanes, channels_out - k),
              {rows, length, y.dilation * x.image * channels, 1, x.taps * matrix(), channels_out});
        }
      };
      // The filters that two vectors read stay in the nearest cache.
      for (int64_t k = 0; k < channels_out; k += 2 * kLanes) {
        sum(0, left, 1, k);
        sum(left, right, kTileRows, k);
        sum(right, x.cotangent, 1, k);
      }
    }
  }
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

  template <typename T>
  struct Square {
    const T* image[kTerms];
    int64_t at;          // where its first result is
    bool below, beside;  // whether there are such results
  };

  // Some squares; positions beside the image are `zeros`.
  template <typename T>
  std::vector<Square<T>> lay(const T* images, int64_t from, int64_t count, const T* zeros) const {
    std::vector<Square<T>> all(count);
    for (Square<T>& square : all) {
      const int64_t line = from / across(), n = line / down();
      const int64_t p = line % down() * 2, q = from++ % across() * 2;
      for (int64_t k = 0; k < kTerms; ++k) {
        const int64_t row = p + k / kSide - y.pad, column = q + k % kSide - x.pad;
        const bool inside = row >= 0 && row < y.image && column >= 0 && column < x.image;
        square.image[k] = inside ? images + image_at(n, row, column) * channels : zeros;
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
        if (auto* const at = put(i, j)) store<lanes>(at, made[i]);
    }
  }

  // A row of the terms of a square's image.
  template <int lanes, typename T>
  static void image_terms(int64_t row, const Square<T>& square, int64_t c, float* terms,
                          int64_t step) {
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

template <typename T>
struct Winograd : Squares {
  const T* image;
  const float* filters;  // their terms
  T* out;

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

  void operator()(int64_t begin, int64_t end) const {
    const int64_t most = at_once(kTerms), last = std::min(end * kTileRows, squares());
    const int64_t step = apart(most * channels), next = apart(most * channels_out);
    Room terms(kTerms * step), made(kTerms * next);
    const std::vector<T> zeros(channels);
    for (int64_t from = begin * kTileRows; from < last; from += most) {
      const auto squares = lay(image, from, std::min(most, last - from), zeros.data());
      const int64_t count = squares.size();
      for (int64_t k = 0; k < count; ++k)
        over_channels(0, channels, [&](auto lanes, int64_t c) {
          for (int64_t row = 0; row < kSide; ++row)
            image_terms<lanes>(row, squares[k], c,
                               terms.data + row * kSide * step + k * channels, step);
        });
      for (int64_t term = 0; term < kTerms; ++term)
        for (int64_t k = 0; k < count; k += kTileRows)
          sum_tiles<kApart>(std::min<int64_t>(kTileRows, count - k),
                           terms.data + term * step + k * channels, channels,
                           filters + term * apart(matrix()),
                           made.data + term * next + k * channels_out, channels_out, channels_out,
                           {1, channels, 0, 1, 0, channels_out});
      for (int64_t k = 0; k < count; ++k)
        put_together(squares[k], made.data + k * channels_out, next);
    }
  }

  void put_together(const Square<T>& square, const float* terms, int64_t step) const {
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
template <typename T>
struct WinogradGradFilters : Squares {
  const T *image, *cotangent;
  float* out;

  int64_t blocks() const { return ceil_div(channels, kTileRows); }
  int64_t size() const { return kSide * blocks(); }

  void operator()(int64_t begin, int64_t end) const {
    const int64_t most = at_once(kSide), step = apart(most * channels);
    const int64_t next = apart(most * channels_out);
    Room a(kSide * step), b(kSide * next);
    const std::vector<T> zeros(std::max(channels, channels_out));
    for (int64_t from = 0; from < squares(); from += most) {
      const int64_t count = std::min(most, squares() - from);
      const auto squares = lay(image, from, count, zeros.data());
      for (int64_t row = begin / blocks(); row * blocks() < end; ++row) {
        const int64_t low = std::max<int64_t>(0, begin - row * blocks()) * kTileRows;
        const int64_t high = std::min(channels, (end - row * blocks()) * kTileRows);
        for (int64_t k = 0; k < count; ++k) {
          over_channels(low, high, [&](auto lanes, int64_t c) {
            image_terms<lanes>(row, squares[k], c, a.data + k * channels, step);
          });
          cotangent_terms(row, squares[k], zeros.data(), b.data + k * channels_out, next);
        }
        for (int64_t j = 0; j < kSide; ++j) {
          float* const to = out + (row * kSide + j) * matrix();
          if (from == 0) std::fill(to + low * channels_out, to + high * channels_out, 0.0f);
          for (int64_t c = low; c < high; c += kTileRows)
            sum_tiles<kAdjacent>(std::min<int64_t>(kTileRows, high - c), a.data + j * step + c, 0,
                            b.data + j * next, to + c * channels_out, channels_out,
                            channels_out, {1, count, 0, channels, 0, channels_out});
        }
      }
    }
  }

  void cotangent_terms(int64_t row, const Square<T>& square, const T* zeros, float* terms,
                       int64_t step) const {
    const T* const g = cotangent + square.at * channels_out;
    const T* const under = square.below ? g + x.cotangent * channels_out : zeros;
    const T* const right[] = {square.beside ? g + channels_out : zeros,
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

// Threads take parts of a problem as they come.  The last part's thread says that all are done; one
// that comes later finds nothing, so it isn't waited for in vain when all of them wait like this.
template <typename Compute>
void solve(ffi::ThreadPool& pool, int64_t size, const Compute& compute) {
  struct Shared {
    Compute compute;
    std::atomic<int64_t> next{0}, done{0};
    std::promise<void> all;
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

// ------------------------------------------------------------------------------ normalization
//
// Of rows of channels.  Rows of few channels are taken several at a time, as a wide one that fills
// vectors; values of channels are repeated as often.  Rows are summed up in chunks that stay in the
// caches, and the chunks' sums in double precision, in one order.

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

  // Values of channels, as wide rows.
  std::vector<float> repeated(std::initializer_list<const float*> all) const {
    std::vector<float> wide;
    for (const float* values : all)
      for (int64_t k = 0; k < beside(); ++k) wide.insert(wide.end(), values, values + channels);
    return wide;
  }

  // Call `use(rows, sums, other sums)` with two sums of all channels, as often as there are some.
  template <typename Use>
  void over_sums(const std::vector<float>& sums, Use use) const {
    for (int64_t k = 0; k < size(); ++k)
      for (int64_t at = 0; at < chunk(k).width; at += channels)
        use(double(chunk(k).rows), &sums[2 * k * width() + at], &sums[(2 * k + 1) * width() + at]);
  }
};

// Calls `body(vectors, lanes, chunk, column)` for all columns of all chunks.
template <int vectors, typename Body>
void pass(ffi::ThreadPool& pool, const Rows& rows, Body body) {
  solve(pool, rows.size(), [=](int64_t begin, int64_t end) {
    const std::integral_constant<int, 1> one;
    const std::integral_constant<int, kLanes> lanes;
    for (int64_t number = begin, k; number < end; ++number) {
      const Rows::Chunk part = rows.chunk(number);
      for (k = 0; part.whole && k + vectors * kLanes <= part.width; k += vectors * kLanes)
        body(std::integral_constant<int, vectors>(), lanes, part, k);
      for (; part.whole && k < part.width; k += kLanes) body(one, lanes, part, k);
      for (; k < part.width; ++k) body(one, one, part, k);
    }
  });
}

using Buffer = ffi::AnyBuffer;
using Result = ffi::Result<Buffer>;
using Values = ffi::BufferR1<ffi::F32>;
using ValuesOut = ffi::ResultBufferR1<ffi::F32>;
constexpr char kEpsilon[] = "epsilon", kWindow[] = "window";
using Epsilon = ffi::Attr<float, kEpsilon>;
// Strides, dilations and pads, each of rows and columns.
using Window = ffi::Attr<ffi::Span<const int64_t>, kWindow>;

Rows rows_of(const Buffer& image) {
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
  const Rows rows = rows_of(image);
  std::vector<float> all(rows.size() * 2 * rows.width());
  const T* x = image.reinterpret_data<T>();
  // The mean of a chunk, and the squared differences to it.
  pass<kVectors>(pool, rows, [=, sums = all.data()](auto vectors, auto lanes, auto chunk, auto k) {
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
  rows.over_sums(all, [&](double count, const float* means, const float*) {
    for (int64_t c = 0; c < rows.channels; ++c) mean[c] += count / number * means[c];
  });
  rows.over_sums(all, [&](double count, const float* means, const float* of_squares) {
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

// Some columns of wide rows.
template <int count, int vectors, int lanes>
auto parts_of(const float* rows, int64_t width) {
  std::array<std::array<Floats<lanes>, vectors>, count> all;
  for (int i = 0; i < count; ++i)
    for (int v = 0; v < vectors; ++v) all[i][v] = load<lanes>(rows + i * width + v * lanes);
  return all;
}

// gamma over the standard deviation.
std::vector<float> scales_of(Values gamma, Values variance, float epsilon) {
  std::vector<float> all(gamma.element_count());
  for (size_t c = 0; c < all.size(); ++c)
    all[c] = gamma.typed_data()[c] * inverse_deviation(variance.typed_data()[c], epsilon);
  return all;
}

template <typename T>
ffi::Error normalize_silu(ffi::ThreadPool pool, Buffer image, Values gamma, Values beta,
                          Values mean, Values variance, Epsilon epsilon, Result result) {
  const Rows rows = rows_of(image);
  const std::vector<float> scale = scales_of(gamma, variance, *epsilon);
  const auto known = rows.repeated({mean.typed_data(), scale.data(), beta.typed_data()});
  const T* x = image.reinterpret_data<T>();
  T* out = result->reinterpret_data<T>();
  pass<2>(pool, rows, [=, all = known.data()](auto vectors, auto lanes, auto chunk, int64_t k) {
    const auto [mean, scale, beta] = parts_of<3, vectors, lanes>(all + k, rows.width());
    for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const auto z = (load<lanes>(x + at + v * lanes) - mean[v]) * scale[v] + beta[v];
        store<lanes>(out + at + v * lanes, z * sigmoid<lanes>(z));
      }
  });
  return ffi::Error::Success();
}

// What comes back through SiLU.
template <int lanes>
inline Floats<lanes> through_silu(Floats<lanes> cotangent, Floats<lanes> z) {
  const Floats<lanes> s = sigmoid<lanes>(z);
  return cotangent * (s * (1.0f + z * (1.0f - s)));
}

template <typename T>
ffi::Error normalize_silu_grad(ffi::ThreadPool pool, Buffer image, Values gamma, Values beta,
                               Values mean, Values variance, Buffer cotangent, Epsilon epsilon,
                               Result g_image, ValuesOut g_gamma, ValuesOut g_beta) {
  const Rows rows = rows_of(image);
  const int64_t channels = rows.channels;
  const std::vector<float> scale = scales_of(gamma, variance, *epsilon);
  const auto known = rows.repeated({mean.typed_data(), scale.data(), beta.typed_data()});
  const T *x = image.reinterpret_data<T>(), *g = cotangent.reinterpret_data<T>();
  std::vector<double> total(channels), products(channels);
  std::vector<float> slope(channels), offset(channels), all_sums(rows.size() * 2 * rows.width());
  T* out = g_image->reinterpret_data<T>();
  // Sums of the normalized image's gradient, and of that times the centred image.
  pass<2>(pool, rows, [=, all = known.data(), sums = all_sums.data()](
                          auto vectors, auto lanes, auto chunk, int64_t k) {
    const auto [mean, scale, beta] = parts_of<3, vectors, lanes>(all + k, rows.width());
    Floats<lanes> total[vectors] = {}, products[vectors] = {};
    for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const Floats<lanes> centred = load<lanes>(x + at + v * lanes) - mean[v];
        const auto back = through_silu<lanes>(load<lanes>(g + at + v * lanes),
                                              centred * scale[v] + beta[v]);
        total[v] += back;
        products[v] += back * centred;
      }
    float* const to = sums + 2 * chunk.number * rows.width() + k;
    store_sums<vectors, lanes>(to, rows.width(), total, products);
  });
  rows.over_sums(all_sums, [&](double, const float* of_g, const float* of_products) {
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
  const auto also = rows.repeated({slope.data(), offset.data()});
  // To compute the derivative again takes less time than to read it from memory.
  pass<2>(pool, rows, [=, all = known.data(), more = also.data()](
                          auto vectors, auto lanes, auto chunk, int64_t k) {
    const auto [mean, scale, beta] = parts_of<3, vectors, lanes>(all + k, rows.width());
    const auto [slope, offset] = parts_of<2, vectors, lanes>(more + k, rows.width());
    for (int64_t row = 0, at = chunk.at + k; row < chunk.rows; ++row, at += chunk.width)
      for (int v = 0; v < vectors; ++v) {
        const Floats<lanes> centred = load<lanes>(x + at + v * lanes) - mean[v];
        const auto back = through_silu<lanes>(load<lanes>(g + at + v * lanes),
                                              centred * scale[v] + beta[v]);
        store<lanes>(out + at + v * lanes, scale[v] * (back - offset[v] - centred * slope[v]));
      }
  });
  return ffi::Error::Success();
}

// Of arrays with the dimensions of an image, a cotangent and filters.
Problem problem_of(const Buffer& image, const Buffer& cotangent, const Buffer& filters,
                   Window window) {
  const auto x = image.dimensions(), g = cotangent.dimensions(), w = filters.dimensions();
  const auto v = *window;
  return {x[0], x[3], g[3], {x[1], g[1], w[0], v[0], v[2], v[4]},
          {x[2], g[2], w[1], v[1], v[3], v[5]}};
}

template <typename T>
ffi::Error grad_filters(ffi::ThreadPool pool, Buffer image, Buffer cotangent, Window window,
                        Result out) {
  const Problem problem = problem_of(image, cotangent, *out, window);
  const T *x = image.reinterpret_data<T>(), *g = cotangent.reinterpret_data<T>();
  float* const to = out->typed_data<float>();
  if (out->dimensions()[2] < problem.channels) {
    solve(pool, GradFilters<T, true>{problem, x, g, to});
  } else if (Squares::suit(problem)) {
    Room terms(Squares::kTerms * problem.matrix());
    solve(pool, WinogradGradFilters<T>{{problem}, x, g, terms.data});
    WinogradGradFilters<T>::put_together(terms.data, to, problem.matrix());
  } else {
    solve(pool, GradFilters<T, false>{problem, x, g, to});
  }
  return ffi::Error::Success();
}

// Images, rows and columns of the result are so many positions apart.
template <typename T>
void convolve(ffi::ThreadPool& pool, Problem problem, const T* image, const float* filters, T* out,
              int64_t images_apart, int64_t down, int64_t across) {
  Axis &y = problem.y, &x = problem.x;
  const bool dense = across == 1 && down == x.cotangent;
  if (dense && Squares::suit(problem)) {
    Room terms(Squares::kTerms * Squares::apart(problem.matrix()));
    Winograd<T>::take_filters_apart(filters, terms.data, problem.matrix());
    return solve(pool, Winograd<T>{{problem}, image, terms.data, out});
  }
  // Where positions are all alike, longer rows leave fewer tiles that aren't full.
  for (int64_t k = kPositions / std::max<int64_t>(1, x.image); k > 1; --k)
    if (dense && y.is_plain() && x.is_plain() && y.image % k == 0) {
      y.image = y.cotangent /= k, x.image = x.cotangent *= k, down *= k;
      break;
    }
  solve(pool, Convolution<T>{problem, image, filters, out, images_apart, down, across});
}

template <typename T>
ffi::Error convolution(ffi::ThreadPool pool, Buffer image, Buffer filters, Window window,
                       Result out) {
  const Problem problem = problem_of(image, *out, filters, window);
  const int64_t width = problem.x.cotangent;
  convolve(pool, problem, image.reinterpret_data<T>(), filters.typed_data<float>(),
           out->reinterpret_data<T>(), problem.y.cotangent * width, width, 1);
  return ffi::Error::Success();
}

template <typename T>
ffi::Error grad_image(ffi::ThreadPool pool, Buffer cotangent, Buffer filters, Window window,
                      Result out) {
  const Problem p = problem_of(*out, cotangent, filters, window);
  for (int64_t row = 0; row < p.y.stride; ++row)
    for (int64_t column = 0; column < p.x.stride; ++column) {
      const Axis y = p.y.backward(row), x = p.x.backward(column);
      Room turned(y.taps * x.taps * p.matrix());
      for (int64_t tap = 0; tap < y.taps * x.taps; ++tap) {
        const int64_t r = p.y.first_seeing(row) + (y.taps - 1 - tap / x.taps) * p.y.stride;
        const int64_t s = p.x.first_seeing(column) + (x.taps - 1 - tap % x.taps) * p.x.stride;
        std::copy_n(filters.typed_data<float>() + (r * p.x.taps + s) * p.matrix(), p.matrix(),
                    turned.data + tap * p.matrix());
      }
      convolve(pool, {p.batch, p.channels_out, p.channels, y, x}, cotangent.reinterpret_data<T>(),
               turned.data, out->reinterpret_data<T>() + (row * p.x.image + column) * p.channels,
               p.y.image * p.x.image, p.y.stride * p.x.image, p.x.stride);
    }
  return ffi::Error::Success();
}

}  // namespace

// What is called from Python has checked shapes and dtypes.
#define FOR_EACH_T(name, handler)                               \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name##_float32, handler<float>); \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name##_bfloat16, handler<BFloat16>)

FOR_EACH_T(pytensor_conv_grad_filters, grad_filters);
FOR_EACH_T(pytensor_conv_grad_image, grad_image);
FOR_EACH_T(pytensor_convolution, convolution);
FOR_EACH_T(pytensor_moments, moments);
FOR_EACH_T(pytensor_normalize_silu, normalize_silu);
FOR_EACH_T(pytensor_grad_normalize_silu, normalize_silu_grad);
