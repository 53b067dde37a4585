#!/usr/bin/env python3
"""Measure csv linked into clinker beside the same format as a plugin, in turn: medians, their ratio, equal outputs.

It builds nothing: make the binary first with `cargo build --release`, and the plugin with
`CARGO_TARGET_DIR=target/plugins cargo build --release --manifest-path plugins/samples/csv/Cargo.toml`.
"""
import argparse
import filecmp
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from run import HERE, ROOT, bounded, measure

TARGET_RATIO = 1.15
SUFFIX = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "target/release/clinker")
    parser.add_argument("--plugin", type=Path, default=ROOT / f"target/plugins/release/libcsv_plugin.{SUFFIX}")
    parser.add_argument("--rows", type=bounded(1, 50_000_000), default=2_000_000)
    parser.add_argument("--runs", type=bounded(1, 101), default=15)
    parser.add_argument("--threads", type=bounded(1, 64), default=2)
    parser.add_argument("--data", type=Path, help="folder of inputs and outputs (default: target/bench/ROWS)")
    return parser.parse_args()


def main():
    options = arguments()
    for needed in (options.bin, options.plugin):
        if not needed.is_file():
            sys.exit(f"{needed}: no such file; see --help for how to build it")
    data = (options.data or ROOT / f"target/bench/{options.rows}").resolve()
    if not (data / "orders.csv").is_file():
        print(f"writing inputs of {options.rows} rows", file=sys.stderr)
        subprocess.run([sys.executable, HERE / "gen.py", data, str(options.rows)], check=True)
    shutil.copy(options.plugin, data / "csv_plugin.lib")
    linked = (HERE / "pipelines/passthrough.yaml").read_text()
    head, nodes = linked.split("\n", 1)
    plugin = f"{head}\nformats: {{ plugins: [csv_plugin.lib] }}\n" + nodes.replace("type: csv", "type: csv_plugin")
    (data / "passthrough.yaml").write_text(linked)
    (data / "plugin.yaml").write_text(plugin.replace("passthrough.out", "plugin.out"))
    walls = {"passthrough": [], "plugin": []}
    for _ in range(options.runs):
        for name, times in walls.items():
            command = [options.bin.resolve(), "run", f"{name}.yaml", "--quiet", "--threads", str(options.threads)]
            times.append(measure(command, data, 0)[0])
    if not filecmp.cmp(data / "passthrough.out", data / "plugin.out", shallow=False):
        sys.exit("the outputs differ")
    medians = {name: statistics.median(times) for name, times in walls.items()}
    print(f"csv linked and as a plugin: {options.rows} rows, {options.runs} runs each, {options.threads} threads")
    for name, times in walls.items():
        print(f"  {name:12} median {medians[name]:.3f} s, min {min(times):.3f} s, max {max(times):.3f} s")
    print(f"  ratio of medians {medians['plugin'] / medians['passthrough']:.3f} (target {TARGET_RATIO})")


if __name__ == "__main__":
    main()
