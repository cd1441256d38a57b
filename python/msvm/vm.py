"""Reports: what became of programs and jitted functions, why, and what they hold.

Functions that take ``f`` want a ``Program`` or a jitted function; without one they are about all that live. Rates are 0 to 1, compile times
milliseconds, memory bytes. Nothing here changes what a program computes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _context, _core, _registry
from ._errors import FileError, InputError
from ._vm.code import Disassembly, disassembly
from ._vm.debug import DebugServer
from ._vm.debug import start as _start_debugger
from ._vm.jit import JitTable, SlowPaths, hit_rate, jit_table
from ._vm.monitor import Monitor
from ._vm.monitor import start as _start_monitor
from ._vm.scd import ScdTable, scd_table
from ._vm.why import Explanation, explanation

if TYPE_CHECKING:
    from ._vm.alerts.alert import Alert
    from ._vm.alerts.service import AlertTable

__all__ = [
    "add_alert",
    "alerts",
    "bc_trace_summary",
    "bc_trace_to_csv",
    "bc_trace_to_perfetto",
    "clear_cache",
    "disassemble",
    "dump_capability_db",
    "dump_flight_recorder",
    "enable_bc_trace",
    "enable_flight_recorder",
    "explain",
    "get_avg_compile_time",
    "get_jit_hit_rate",
    "jit_info",
    "load_alerts",
    "load_capability_patch",
    "memory_stats",
    "metrics",
    "print_scd_analysis",
    "remove_alert",
    "scd_analysis",
    "set_log_level",
    "slow_path",
    "start_debugger",
    "start_monitor",
    "stop_debugger",
    "wait_compiled",
    "warmup",
]

Folder = str | os.PathLike[str]

_programs = _registry
"""Programs and jitted functions that live."""


def jit_info(f: Any = None) -> JitTable:
    """Regions and their native code: a list of dicts that prints as a table.

    A row for each entry (``entry``, ``alias``, ``box``, ``tier``, ``hits``, ``code_bytes``, ``came``, ``compile_ms``) with its region
    (``program``, ``region``, ``symbols``, ``runs``, ``native``, ``specialised``, ``scd``, ``state``, ``fused``, ``not_fused``); regions
    without entries have one row of tier 0.
    """
    return jit_table(_registry.executables(f))


def get_jit_hit_rate(f: Any = None, *, window: bool | None = None, per: str | None = None, specialised: bool = False) -> Any:
    """Runs of regions in native code / runs of regions, 0 to 1; 0.0 before the first run.

    ``window``: of the latest 1000 or so of each program, not since it was loaded. ``specialised``: only by code for settled sizes.
    ``per="program"`` and ``per="region"`` (which has no window) give dicts by name.
    """
    if window not in (None, False, True):
        raise InputError(f"get_jit_hit_rate: window is True (the latest 1000 or so) or False, found {window!r}")
    return hit_rate([e.jit_view() for e in _registry.executables(f)], bool(window), per, specialised)


def metrics() -> str:
    """What is counted of all programs of the process, as Prometheus text (docs/metrics.md)."""
    return _core.metrics()


def get_avg_compile_time(f: Any = None) -> float:
    """Milliseconds that a compilation took, on average over what was compiled in this process; 0.0 if nothing was."""
    views = [e.jit_view() for e in _registry.executables(f)]
    compiled = sum(v["compiled"] for v in views)
    return float(sum(v["compile_ms"] for v in views) / compiled) if compiled else 0.0


def scd_analysis(f: Any = None, *args: Any) -> ScdTable:
    """Declared Shape Convergence Degree: a list of dicts, one for each tensor, that prints as ``print_scd_analysis`` does.

    Of a jitted function with ``args``: of what it compiles to for them; a plain ``Program`` has its own.
    """
    if hook := getattr(f, "scd_analysis", None):
        return scd_table(hook(*args))
    return scd_table(row for e in _registry.executables(f) for row in e.declared_scd())


def print_scd_analysis(f: Any = None, *args: Any) -> None:
    """Print a line for each tensor: how much of its shape is settled, why, and what would settle more."""
    print(scd_analysis(f, *args))


def explain(f: Any = None, *args: Any) -> Explanation:
    """Why is this slow, or not compiled, now? Causes, the worst first, each with what would mend it.

    With ``args``, ``f`` is called with them first, so that the answer is about them.
    """
    if args:
        f(*args)
    return explanation(_registry.executables(f))


def disassemble(f: Any = None, entry: str | None = None) -> Disassembly:
    """Machine code of an entry beside the loop program, the bytecode and the source it comes from; its ``findings`` say what stands out.

    ``entry``: its name, alias or box as ``jit_info`` shows them; by default the one with code that was hit most often. Raises
    ``InputError`` if there is no such entry, or no native code yet.
    """
    return disassembly(_registry.executables(f), entry)


def wait_compiled(f: Any = None, timeout: float | None = None) -> bool:
    """Wait until what runs have asked for is compiled, ``timeout`` seconds at most; whether it is. Ctrl-C ends the wait."""
    if timeout is not None and not timeout >= 0:
        raise InputError(f"wait_compiled: timeout is seconds or None, found {timeout!r}")
    end = None if timeout is None else time.monotonic() + timeout
    done = True
    for e in _registry.executables(f):
        done = e.wait_compiled(-1.0 if end is None else max(0.0, end - time.monotonic())) and done
    return done


def clear_cache(f: Any = None, disk: bool | None = None) -> None:
    """Take native code out and have it made again; runs are interpreted until then.

    ``disk``: whether the user's compiled code on disk goes as well, that of all programs; by default without ``f`` only.
    """
    if disk if disk is not None else f is None:
        _core.clear_code_cache()
    for e in _registry.executables(f):
        e.remake_code()


def warmup(f: Any, shapes: Any = None) -> None:
    """Have code made now, and wait for it.

    ``shapes``: sizes of the inputs, by name or in order, as in ``{"x": (1, 3, 224, 224)}``, or a list of such; None: for all sizes only.
    A jitted function that was never called compiles nothing: call it once, or give it an ``input_signature``. Raises ``InputError`` for
    names and ranks that don't fit, ``Error`` if something couldn't be compiled.
    """
    executables = _registry.executables(f)
    if not executables:
        raise InputError("warmup: the function was never called: call it once, or give it an input_signature")
    if shapes is None:
        for e in executables:
            e.warm_up()
        return
    one = isinstance(shapes, Mapping) or all(isinstance(s, Sequence) and all(hasattr(n, "__index__") for n in s) for s in shapes)
    for given in [shapes] if one else shapes:
        fitting = [e for e in executables if isinstance(given, Mapping) or len(given) == len(e.input_names())]
        if not fitting:
            raise InputError(f"warmup: {len(given)} shapes are given, but the inputs are {', '.join(executables[0].input_names())}")
        for e in fitting:
            named = given if isinstance(given, Mapping) else dict(zip(e.input_names(), given, strict=True))
            if unknown := [str(name) for name in named if name not in e.input_names()]:
                raise InputError(f"warmup: there is no input {', '.join(unknown)}; the inputs are {', '.join(e.input_names())}")
            e.make_code({str(name): [int(n) for n in shape] for name, shape in named.items()})


def memory_stats() -> dict[str, Any]:
    """Bytes of tensors over all programs of the process: ``in_use``, ``reserved``, ``peak``, ``by_owner`` (interpreter, arena, scratch,
    weights, results); ``fragmentation`` is 1 - in_use / reserved; ``engines`` is how many sets of options share memory.
    """
    return _core.memory_stats()


def dump_capability_db(path: str | os.PathLike[str] | None = None) -> str:
    """The capability database of programs with the context's options, as JSON: hardware, kernels, measured costs. Also into a file."""
    json = _core.capability_db(_context.options_for("load", {}))
    if path is not None:
        try:
            Path(path).write_text(json, encoding="utf-8")
        except OSError as e:
            raise FileError(f"{os.fspath(path)}: {e.strerror}") from e
    return json


def load_capability_patch(path: str | os.PathLike[str]) -> None:
    """Patch the capability database of all programs, and of those to come; kernels are chosen anew at the next calls.

    Raises ``FileError`` or ``InputError`` for a file that isn't a patch for this machine; then nothing changes.
    """
    try:
        json = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise FileError(f"{os.fspath(path)}: {getattr(e, 'strerror', None) or e}") from e
    _core.patch_capabilities(json, os.fspath(path))


def start_monitor(
    address: str = "127.0.0.1:9464",
    *,
    token: str | os.PathLike[str] | None = None,
    read_token: str | os.PathLike[str] | None = None,
    certificate: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    hosts: Sequence[str] = (),
    open_browser: bool = False,
) -> Monitor:
    """Serve a monitor of this process: a page, ``/metrics`` for Prometheus, JSON, until ``stop()`` or the end of ``with``.

    ``token`` may change things, ``read_token`` may look; a path names a file of mode 0600 that holds one. Without both only this machine
    may be listened on, and everyone on it may do everything. They, ``certificate`` and ``key`` (PEM, for TLS), and ``hosts`` (names that
    browsers may call it by) come from MSVM_MONITOR_TOKEN and the like where they aren't given. Port 0 takes any that is free. Asked again
    for the same address without options, it gives the monitor that runs. Raises ``InputError`` for what isn't safe, ``FileError`` for an
    address that can't be had.
    """
    started = _start_monitor(address, token, read_token, certificate, key, hosts)
    if open_browser:
        started.open()
    return started


def start_debugger(address: str = "127.0.0.1:0") -> DebugServer:
    """Let a debugger attach to this process (docs/debugging.md). Port 0: any that is free.

    A server that runs already stays and is returned, unless another address is asked for: then it moves, and a debugger is let go. In a
    program that a debugger has launched, that one stays in any case.
    Only this machine, and there only who knows the server's token, reaches it: ``msvm dap`` and VS Code find both by the process's number.
    Without a debugger runs are as fast as ever. Raises ``InputError`` for an address that others reach, ``FileError`` for one that can't be
    had.
    """
    return _start_debugger(address)


def stop_debugger() -> None:
    """End the debug server, if one runs. A debugger that is attached is let go, and the program goes on."""
    _core.stop_debugger()


def set_log_level(level: str) -> None:
    """``debug``, ``info``: what the JIT does, as it happens; ``warning``: slow paths only; ``error``, ``off``: nothing.

    Records go to the logger ``msvm`` of ``logging``; to standard error unless handlers are configured.
    """
    from ._vm.log import set_level

    set_level(level)


def enable_bc_trace(on: bool = True, folder: Folder = "ms_bc_trace", *, max_bytes: int = 1 << 30, max_files: int = 4) -> str:
    """Write what all programs of the process do, run by run, into ``folder``/<time>-<pid>.bclog; returns the path.

    ``False`` ends the log ("" if there was none). A file that has ``max_bytes`` is followed by a new one, of which the latest ``max_files``
    stay. Slow paths also go to ``folder``/slow_path.log, a line of JSON each. Raises ``FileError`` if nothing can be written there.
    """
    from ._vm import trace

    return trace.start(folder, max_bytes, max_files) if on else trace.stop()


def bc_trace_to_csv(log: str | os.PathLike[str] | None = None, out: str | os.PathLike[str] | None = None) -> str:
    """Write a log as CSV, a row for each run, region, call, compilation, ...; returns the path, that of the log with .csv unless ``out``
    names one.

    ``log``: a file, or a folder, whose newest one it is; None or "newest": the log of this process with what was recorded up to now, else
    the newest in ``ms_bc_trace``. The columns are stable: docs/traces.md.
    """
    from ._vm import trace

    return trace.converted(log, out, ".csv")


def bc_trace_to_perfetto(log: str | os.PathLike[str] | None = None, out: str | os.PathLike[str] | None = None) -> str:
    """Write a log as JSON for ui.perfetto.dev; arguments and result as of ``bc_trace_to_csv``."""
    from ._vm import trace

    return trace.converted(log, out, ".json")


def bc_trace_summary(log: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Where the time of a log went: by instruction and kernel, tiers, compilations, outliers with their causes. A dict that prints as text;
    ``log`` as in ``bc_trace_to_csv``.
    """
    from ._vm import trace

    return trace.TraceSummary(trace.log_path(log))


def slow_path(f: Any = None) -> SlowPaths:
    """Why something ran, or stayed, on a slower path: a list of dicts that prints as a table, the latest 256 of each program."""
    return SlowPaths({"program": v["program"], **row} for e in _registry.executables(f) for v in [e.jit_view()] for row in v["slow_path"])


def enable_flight_recorder(on: bool = True, seconds: float = 30.0, folder: Folder = "ms_bc_trace", *, on_crash: bool = True) -> None:
    """Keep what all programs did in the last ``seconds`` in memory (64 MB at most), for ``dump_flight_recorder``.

    ``on_crash``: a process that dies of a signal writes ``folder``/crash-<pid>.bclog on its way.
    """
    if on:
        _core.start_flight_recorder(float(seconds), os.fsencode(folder), bool(on_crash))
    else:
        _core.stop_flight_recorder()


def dump_flight_recorder(reason: str = "asked for") -> str:
    """Write what the flight recorder holds as a log; returns the path. Raises ``InputError`` if it isn't on."""
    return _core.dump_flight_recorder(str(reason))


def add_alert(
    rule: str,
    *,
    mail: str | Sequence[str] | None = None,
    webhook: Any = None,
    for_: float | str | None = None,
    message: str = "",
    f: Any = None,
    smtp: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    window: float | str = 10,
    hold: float | str = 60,
    limit_per_hour: int = 12,
    on_fire: Callable[[Alert], Any] | None = None,
) -> Alert:
    """Watch a rule such as ``hit_rate < 0.85 for 60s``, and tell ``mail`` and ``webhook`` once when it holds, and once when it's over.

    Values are of the last ``window`` seconds, looked at once a second; ``for_`` (or in the rule): how long the condition has to hold;
    ``hold``: how long it must not hold until the incident is over. ``message`` is told along. ``f``: a Program, a jitted function or a
    program's name; by default all. ``smtp``: ``host``, ``port``, ``user``, ``password``, ``sender``, ``tls``, ``ca``, or a file (0600) with
    them; else ``MSVM_SMTP_HOST`` and so on. A recipient gets ``limit_per_hour`` messages. ``on_fire`` is called with the alert. All of it:
    docs/alerts.md. Raises ``InputError`` for a rule, naming the column and what is possible there.
    """
    from ._vm.alerts import service

    about = {"mail": mail, "webhook": webhook, "for_": for_, "message": message, "f": f, "smtp": smtp}
    made = service.make(rule, **about, window=window, hold=hold, limit_per_hour=limit_per_hour, on_fire=on_fire)
    service.add([made])
    return made


def remove_alert(alert: Alert | str) -> None:
    """Don't watch an alert, or those with this rule, any more; nobody is told."""
    from ._vm.alerts import service

    service.remove(alert)


def alerts() -> AlertTable:
    """What is watched: a list of dicts that prints as a table: ``state`` (ok, pending, firing), ``since``, ``value``, who was told, …"""
    from ._vm.alerts import service

    return service.table()


def load_alerts(path: str | os.PathLike[str]) -> list[Alert]:
    """Watch the rules of a TOML or JSON file (docs/alerts.md): all of them, or none and an error. ``MSVM_ALERTS`` does it at the start."""
    from ._vm.alerts import files

    return files.load(path)


def _as_statement(report: Callable[..., Any]) -> Callable[..., Any]:
    """In a compiled function, a report as a statement: made at the first call of each signature, about that function."""

    def at_first_call(function: Any, signature: Any, /, *args: Any, **kwargs: Any) -> None:
        if not args and "f" not in kwargs:
            args = (function, *signature.args) if report in (scd_analysis, print_scd_analysis, explain) else (function,)
        found = report(*args, **kwargs)
        if found is not None:
            print(found)

    report.__msvm_report__ = at_first_call  # type: ignore[attr-defined]
    return report


for _report in (explain, get_avg_compile_time, get_jit_hit_rate, jit_info, print_scd_analysis, scd_analysis):
    _as_statement(_report)
