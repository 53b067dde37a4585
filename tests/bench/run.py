#!/usr/bin/env python3
"""Measure whole runs of clinker beside DuckDB and Polars (pyx12 for X12), in turn, and print medians, ratios and peak memory.

It builds nothing: make the binary first with `cargo build --release`. The peers come from PyPI
(`pip install --user duckdb polars pyx12`, or `--install`); a peer that is missing is left out. Inputs are made once per size.
Machines are noisy: compare ratios, not times of different days.
"""
import argparse
import importlib.util
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Exit code of a complete run: two of them have dead letters.
EXPECTED = {
    "passthrough": 0,
    "transform": 0,
    "reject": 2,
    "to_ndjson": 0,
    "from_ndjson": 0,
    "reject_all": 2,
    "sort": 0,
    "sort_tight": 0,
    "x12": 0,
}
WORKLOADS = list(EXPECTED)
PEERS = ["duckdb", "polars", "pyx12"]
# No other engine keeps whole rejected rows aside: megabytes of input a second are the measure.
# With 64 MiB no peer sorts this input. Segments have a peer of their own.
ALONE = {"reject_all", "sort_tight"}
OWN_PEERS = {"x12": ["pyx12"]}
INPUTS = {"reject": "orders_bad.csv", "from_ndjson": "orders.ndjson", "x12": "orders.x12"}
# Times of the faster peer, and megabytes of input a second where there is none.
TARGET_RATIO = {"to_ndjson": 0.8, "from_ndjson": 0.8, "sort": 1.0, "x12": 1 / 45}
TARGET_RATE = {"reject_all": 100}
LONGEST_RUN_SECONDS = 600


def bounded(least, most):
    """An integer argument within bounds."""

    def parse(text):
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"between {least} and {most}")
        return value

    return parse


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release/clinker")
    parser.add_argument("--rows", type=bounded(1, 50_000_000), default=2_000_000)
    parser.add_argument("--runs", type=bounded(1, 25), default=5)
    parser.add_argument("--threads", type=bounded(1, 64), default=2)
    parser.add_argument("--workload", choices=WORKLOADS, action="append")
    parser.add_argument("--data", type=Path, help="folder of inputs and outputs (default: target/bench/ROWS)")
    parser.add_argument("--install", action="store_true", help="install missing peers for this user")
    parser.add_argument("--no-peers", action="store_true")
    return parser.parse_args()


def peers(wanted, install):
    """The peers that can be run."""
    if not wanted:
        return []
    missing = [peer for peer in PEERS if importlib.util.find_spec(peer) is None]
    if missing and install:
        subprocess.run([sys.executable, "-m", "pip", "install", "--user", "--quiet", *missing], check=True)
        importlib.invalidate_caches()
    elif missing:
        print(f"not installed, left out: {', '.join(missing)} (see --install)", file=sys.stderr)
        return [peer for peer in PEERS if peer not in missing]
    return PEERS


def measure(command, folder, expected):
    """Run a command; wall seconds, peak resident MiB, standard error."""
    log = folder / "stderr.log"
    with open(log, "wb") as stderr:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=stderr)
        watchdog = threading.Timer(LONGEST_RUN_SECONDS, child.kill)
        watchdog.start()
        # `wait4` and not `Popen.wait`: it also tells the peak memory of this one child.
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        watchdog.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text(errors="replace")
    if child.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))}: exit {child.returncode}, expected {expected}\n{text[-2000:]}")
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return wall, usage.ru_maxrss / scale, text


def clinker(options, workload, *more):
    pipeline = options.data / f"{workload}.yaml"
    return [options.bin, "run", pipeline, "--quiet", "--threads", str(options.threads), *more]


def sync_milliseconds(options, workload):
    """Median time that runs spent synchronising outputs, as the log at level debug states it."""
    found = []
    for _ in range(min(3, options.runs)):
        command = clinker(options, workload, "--log-level", "debug")
        text = measure(command, options.data, EXPECTED[workload])[2]
        found += [float(value) for value in re.findall(r"sync_ms[=:\s]+([0-9.]+)", text)[-1:]]
    return statistics.median(found) if found else None


def lines(path):
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def target(targets, workload):
    return f" (target {targets[workload]})" if workload in targets else ""


def compare(options, workload, engines):
    """Measure one workload and print its table."""
    commands = {"clinker": (clinker(options, workload), EXPECTED[workload])}
    own = OWN_PEERS.get(workload, ["duckdb", "polars"])
    engines = [] if workload in ALONE else [engine for engine in engines if engine in own]
    for peer in engines:
        commands[peer] = ([sys.executable, HERE / "peers.py", peer, workload], 0)
    walls = {name: [] for name in commands}
    peaks = {name: 0.0 for name in commands}
    for _ in range(options.runs):
        for name, (command, expected) in commands.items():
            wall, peak, _ = measure(command, options.data, expected)
            walls[name].append(wall)
            peaks[name] = max(peaks[name], peak)
    outputs = {name: options.data / f"{workload if name == 'clinker' else name}.out" for name in commands}
    rows = {name: lines(path) for name, path in outputs.items()}
    if len(set(rows.values())) != 1:
        sys.exit(f"{workload}: the outputs differ in their numbers of lines: {rows}")
    sync = sync_milliseconds(options, workload)
    medians = {name: statistics.median(times) for name, times in walls.items()}
    fastest = min((medians[peer] for peer in engines), default=None)
    print(f"\n{workload}: {options.rows} rows, {options.runs} runs each, {options.threads} threads")
    print(f"  {'':10}{'median s':>10}{'min s':>8}{'max s':>8}{'peak MiB':>10}")
    for name, times in walls.items():
        print(f"  {name:10}{medians[name]:10.3f}{min(times):8.3f}{max(times):8.3f}{peaks[name]:10.1f}")
    rate = (options.data / INPUTS.get(workload, "orders.csv")).stat().st_size / 1e6 / medians["clinker"]
    print(f"  input: {rate:.0f} MB/s{target(TARGET_RATE, workload)}")
    if fastest:
        print(f"  ratio to the faster peer: {medians['clinker'] / fastest:.3f}{target(TARGET_RATIO, workload)}")
    print(f"  synchronising outputs: {'not logged' if sync is None else f'{sync:.0f} ms'}, included above")


def main():
    options = arguments()
    options.bin = options.bin.resolve()
    if not options.bin.is_file():
        sys.exit(f"{options.bin}: no such binary; build it with `cargo build --release`")
    options.data = (options.data or ROOT / f"target/bench/{options.rows}").resolve()
    if not (options.data / "orders.x12").is_file():
        print(f"writing inputs of {options.rows} rows", file=sys.stderr)
        subprocess.run([sys.executable, HERE / "gen.py", options.data, str(options.rows)], check=True)
    engines = peers(not options.no_peers, options.install)
    for workload in options.workload or WORKLOADS:
        shutil.copy(HERE / f"pipelines/{workload}.yaml", options.data)
        compare(options, workload, engines)


if __name__ == "__main__":
    main()
