"""The files of programs on disk: damaged, unreadable, old, or of other machines."""

import errno
import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")

import jax

from pytensor.link.jax.mode.store import disk, program_store
from tests.link.jax.mode.store.stored import (
    assert_equal_runs,
    empty_jax_cache,
    make_step,
    programs,
    run,
)

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.slow
def test_a_damaged_program_is_compiled_anew(folder):
    expected = run(*make_step())
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for data in (whole[:-1], b"", whole[:100] + b"?" + whole[101:]):
        file.write_bytes(data)
        empty_jax_cache(folder)
        with pytest.warns(UserWarning, match="is damaged; the program is recompiled"):
            assert_equal_runs(expected, run(*make_step()))
        assert len(file.read_bytes()) > 1000
    assert_equal_runs(expected, run(*make_step()))


@pytest.mark.slow
def test_what_jax_has_read_is_not_written(folder):
    """XLA would write it without its code."""
    expected = run(*make_step())
    (file,) = folder.iterdir()
    file.unlink()
    assert_equal_runs(expected, run(*make_step()))
    assert programs(folder) == []
    empty_jax_cache(folder)
    assert_equal_runs(expected, run(*make_step()))
    assert programs(folder) == [file.name]
    assert_equal_runs(expected, run(*make_step()))


def test_a_program_that_xla_cannot_read(folder, monkeypatch):
    expected = run(*make_step())

    def fail(*args, **kwargs):
        raise jax.errors.JaxRuntimeError("made for another machine")

    monkeypatch.setattr(disk, "deserialize_program", fail)
    with pytest.warns(UserWarning, match="made for another machine; the program is recompiled"):
        assert_equal_runs(expected, run(*make_step()))


def test_a_folder_that_cannot_be_made(folder):
    folder.write_text("a file")
    with pytest.warns(UserWarning, match="compiled programs are not kept"):
        run(*make_step())
    run(*make_step(0.25))  # said once
    assert folder.read_text() == "a file"


@pytest.fixture
def refuse(folder, monkeypatch):
    """Return what makes calls on the programs' folder fail, for root too, whom nothing stops."""

    def refuse(number, *names):
        def refused(method):
            def call(path, *args, **kwargs):
                if folder in (Path(path), *Path(path).parents):
                    raise OSError(number, os.strerror(number))
                return method(path, *args, **kwargs)

            return call

        for name in names:
            owner = os if name == "utime" else Path
            monkeypatch.setattr(owner, name, refused(getattr(owner, name)))

    return refuse


@pytest.mark.slow
def test_a_read_only_folder_is_read(folder, traced, refuse):
    expected = [run(*make_step(rate)) for rate in (0.5, 0.25)]
    kept, files = programs(folder), [path.read_bytes() for path in sorted(folder.iterdir())]
    refuse(errno.EROFS, "utime", "mkdir", "write_bytes", "replace", "unlink")
    for rate, one in zip((0.5, 0.25), expected, strict=True):
        step, w = make_step(rate)
        assert step.maker.deferred
        assert_equal_runs(one, run(step, w))
        assert step.maker.deferred
    assert len(traced) == 2
    with pytest.warns(UserWarning, match=f"{folder} can't be written to"):
        run(*make_step(0.125))
    run(*make_step(0.0625))  # said once
    assert programs(folder) == kept
    assert [path.read_bytes() for path in sorted(folder.iterdir())] == files


def test_a_full_disk_leaves_no_part_of_a_program(folder, monkeypatch):
    write = Path.write_bytes

    def full(path, data):
        if path.parent != folder:
            return write(path, data)
        write(path, data[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.warns(UserWarning, match="No space left on device"):
        run(*make_step())
    assert programs(folder) == []
    monkeypatch.undo()
    empty_jax_cache(folder)
    run(*make_step())
    assert len(programs(folder)) == 1


def test_a_program_that_cannot_be_read_from_the_disk(folder):
    expected = run(*make_step())
    (file,) = folder.iterdir()
    file.unlink()
    file.mkdir()
    empty_jax_cache(folder)
    with (
        pytest.warns(UserWarning, match="can't be written to"),
        pytest.warns(UserWarning, match=f"{file.name}: Is a directory; the program is recompiled"),
    ):
        assert_equal_runs(expected, run(*make_step()))
    assert programs(folder) == [file.name]


def test_a_folder_that_cannot_be_listed(refuse):
    expected = run(*make_step())
    refuse(errno.EACCES, "glob")
    step, w = make_step()
    assert not step.maker.deferred
    assert_equal_runs(expected, run(step, w))


def test_a_program_is_kept_where_old_ones_cannot_be_deleted(folder, monkeypatch, refuse):
    """In a folder of several users, say, or as another process has just deleted them."""
    monkeypatch.setattr(disk, "MAX_PROGRAMS", 1)
    refuse(errno.EPERM, "unlink")
    for rate in (0.5, 0.25):
        run(*make_step(rate))
    assert len(programs(folder)) == 2


def test_threads_that_write_one_program(folder, monkeypatch):
    """They have both written it when the first gives it its name."""
    barrier, replace = threading.Barrier(2, timeout=20), Path.replace

    def together(path, target):
        if path.parent == folder:
            barrier.wait()
        return replace(path, target)

    program = jax.jit(lambda x: x + 1).lower(np.ones(3)).compile()
    monkeypatch.setattr(Path, "replace", together)
    with ThreadPoolExecutor(2) as threads:
        done = [threads.submit(disk.save, folder / "0-0", program) for _ in range(2)]
        for thread in done:
            thread.result()
    assert programs(folder) == ["0-0"]
    assert disk.load(folder / "0-0", jax.devices()[0])(np.ones(3))[0] == 2


def test_programs_that_call_python_are_not_kept(folder, caplog):
    caplog.set_level(logging.INFO, logger="pytensor.link.jax.mode.store.disk")
    double = jax.jit(
        lambda x: jax.pure_callback(lambda v: 2 * v, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    )
    disk.save(folder / "0-0", double.lower(np.ones(3)).compile())
    assert programs(folder) == []
    assert "The program is not kept on disk" in caplog.text


def test_platforms_that_cannot_write_programs(folder, caplog, monkeypatch):
    caplog.set_level(logging.INFO, logger="pytensor.link.jax.mode.store.disk")

    def fail(program):
        raise jax.errors.JaxRuntimeError("UNIMPLEMENTED: not on this platform")

    monkeypatch.setattr(disk, "serialize_program", fail)
    run(*make_step())
    assert programs(folder) == []
    assert "not kept on disk: UNIMPLEMENTED" in caplog.text


@pytest.mark.slow
def test_old_programs_are_deleted(folder, monkeypatch):
    monkeypatch.setattr(disk, "MAX_PROGRAMS", 2)
    kept = []
    for k, rate in enumerate((0.1, 0.2, 0.3)):
        run(*make_step(rate))
        (new,) = set(programs(folder)) - set(kept)
        kept = [*kept, new][-2:]
        os.utime(folder / new, (1000 + k, 1000 + k))
        assert set(programs(folder)) == set(kept)
    run(*make_step(0.2))  # used last now
    run(*make_step(0.4))
    assert kept[0] in programs(folder)
    assert kept[1] not in programs(folder)


def test_arguments_on_several_devices_or_processes(monkeypatch):
    assert program_store.the_device([np.ones(2)]) is jax.local_devices()[0]
    device = jax.devices()[0]
    assert program_store.the_device([jax.device_put(np.ones(2), device)]) is device

    class Spread:
        committed = True
        sharding = type("Sharding", (), {"device_set": {0, 1}})()

    monkeypatch.setattr(program_store, "is_committed", lambda value: True)
    assert program_store.the_device([Spread()]) is None
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    assert program_store.the_device([]) is None


def test_where_arrays_are_is_part_of_the_signature():
    array = np.ones(2)
    kinds = [array, array[:1], array.astype("f4"), jax.device_put(array, jax.devices()[0])]
    assert len({str(program_store.signature([value])) for value in kinds}) == 4
    # where JAX was not told, it makes the same program
    assert program_store.signature([array]) == program_store.signature([jax.device_put(array)])


@pytest.mark.slow
def test_precision_in_a_context_makes_another_program(folder):
    run(*make_step())
    with jax.default_matmul_precision("highest"):
        run(*make_step())
    assert len(programs(folder)) == 2
    names = {name.split("-")[0] for name in programs(folder)}
    assert len(names) == 1  # of the same graph
