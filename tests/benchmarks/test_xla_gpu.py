"""Programs that XLA compiled for a GPU are read as they are; what it says of devices as well."""

from pathlib import Path

import pytest

from benchmarks.common import xla_gpu

DEVICE = """
gpu_device_info {
  core_count: 100
  memory_bandwidth: 1000000000000
  clock_rate_ghz: 1.5
  device_memory_size: 80000000000
  scalar_unit_description {
    rate_infos {
      key: 11
      value {
        clock_rate_ghz: 1.5
        units_per_core: 64
        ops_per_clock: 1
      }
    }
  }
  matrix_unit_description {
    rate_infos {
      key: 11
      value {
        clock_rate_ghz: 1.25
        units_per_core: 4
        ops_per_clock: 100
      }
    }
    rate_infos {
      key: 16
      value {
        clock_rate_ghz: 1.25
        units_per_core: 4
        ops_per_clock: 200
      }
    }
  }
}
platform_name: "CUDA"
device_description_str: "Some GPU"
"""

# Convolution, its two gradients, a product, a gather, a sum over devices, a copy to the host, and a
# loop of three turns.  Images are 8 x 6, filters 3 x 5, so that axes can't be mistaken.
PROGRAM = Path(__file__).with_name("program_for_a_gpu.txt").read_text()


def kernels():
    return {kernel.name: kernel for kernel in xla_gpu.read(PROGRAM)}


def test_kernels_are_what_runs_something():
    found = {name: (k.kind, k.times, k.bytes) for name, k in kernels().items()}
    images, results, filters, rows = 2 * 384, 2 * 480, 2 * 300, 80
    assert found == {
        "scaled.1": ("loop fusion", 1, 2 * images + 8),
        "conv": ("cuDNN forward", 1, images + filters + results + 96),
        "filters": ("cuDNN filter gradient", 1, images + filters + results),
        "images": ("cuDNN input gradient", 1, images + filters + results),
        # Two rows of the table, which has 40,000 bytes.
        "rows.1": ("loop fusion", 1, rows + 8 + rows),
        "product": ("triton product", 1, rows + 280 + 56),
        "sum-start": ("all-reduce", 1, 2 * 56),
        "again-start": ("all-reduce", 1, 2 * 56),
        "away": ("copy", 1, 2 * 56),
        "copied": ("copy", 3, 80),
    }


def test_operations_types_and_layouts():
    found = kernels()
    convolution = 2 * (2 * 8 * 6 * 5) * (3 * 5 * 4)
    for name in ("conv", "filters", "images"):
        assert found[name].flop == {"bf16": convolution}
    assert [found[name].detail for name in ("conv", "filters", "images")] == [
        "bf16 NHWC", "bf16 NHWC", "bf16 NCHW",
    ]  # fmt: skip
    assert found["product"].flop == {"f32 highest": 2 * 2 * 10 * 7}
    assert found["scaled.1"].flop == {"other": 384}


def test_names_of_nodes():
    found = kernels()
    assert found["conv"].node == "Conv[w]"
    assert found["scaled.1"].node == "Elemwise.Mul[a]"  # of what the fusion results in
    assert found["filters"].node == "(none)"


def test_summary():
    total = xla_gpu.summary(xla_gpu.read(PROGRAM))
    assert total["kernels"] == total["kernels under 2 MB"] == 12
    assert total["copies"] == 4
    assert total["bytes of copies"] == 2 * 56 + 3 * 80
    assert (total["all-reduces"], total["bytes of all-reduces"]) == (2, 2 * 56)
    assert total["libraries"] == {
        "cuDNN forward bf16 NHWC": 1, "cuDNN filter gradient bf16 NHWC": 1,
        "cuDNN input gradient bf16 NCHW": 1,
    }  # fmt: skip
    assert xla_gpu.host_transfers(PROGRAM) == 1


def test_other_text_is_refused():
    with pytest.raises(ValueError, match="no ENTRY"):
        xla_gpu.read("module @jit_step {}")


def test_description_of_a_device():
    device = xla_gpu.describe(DEVICE)
    assert (device.name, device.memory, device.bandwidth) == ("Some GPU", 80e9, 1e12)
    assert device.matrix == {"f32": 100e12, "bf16": 200e12}
    assert device.scalar == {"f32": pytest.approx(19.2e12)}


def test_roofline_takes_what_lasts_longer_of_each_kernel():
    device = xla_gpu.describe(DEVICE)
    slow_to_read = xla_gpu.Kernel("a", "copy", "", bytes=2_000_000, times=3)
    slow_to_compute = xla_gpu.Kernel("b", "triton product", "", 10, {"bf16": 4_000_000_000})
    exact = xla_gpu.Kernel("c", "triton product", "", 10, {"f32 highest": 19_200_000})
    assert xla_gpu.roofline([slow_to_read], device) == pytest.approx(6e-6)
    assert xla_gpu.roofline([slow_to_compute], device) == pytest.approx(20e-6)
    assert xla_gpu.roofline([slow_to_compute, slow_to_read, exact], device) == pytest.approx(27e-6)
    without = xla_gpu.describe(DEVICE.replace("matrix_unit", "other"))
    assert xla_gpu.roofline([exact], without) is None


def test_without_the_plugin_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(xla_gpu, "find_spec", lambda name: None)
    with pytest.raises(xla_gpu.NoPlugin, match=r"pip install 'jax\[cuda12\]'"):
        xla_gpu.find_device("h200")
