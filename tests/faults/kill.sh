#!/usr/bin/env bash
# Kills the release binary (SIGKILL) at random moments of a run and looks at what is left.
#
#   tests/faults/kill.sh [KILLS] [SEED]      500 kills and seed 7 by default
#
# After each kill every final is the old file or the new one, never a part of it, and the next run works at once. The
# moments are drawn from the seed over the time that one whole run takes, and a little beyond it. CLINKER_BIN names
# another binary.
set -euo pipefail

kills="${1:-500}"
RANDOM="${2:-7}"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
binary="${CLINKER_BIN:-$root/target/release/clinker}"
rows=100000

[[ -x "$binary" ]] || { echo "$binary: no such binary; build it with cargo build --release" >&2; exit 1; }
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 "$root/tests/bench/gen.py" "$work" "$rows"
mkdir "$work/out"
cat >"$work/pipeline.yaml" <<'YAML'
pipeline: { name: kills }
nodes:
  - type: source
    name: orders
    config:
      name: orders
      type: csv
      path: orders_bad.csv
      schema:
        - { name: order_id, type: int }
        - { name: region, type: string }
        - { name: qty, type: int }
  - { type: transform, name: doubled, input: orders, config: { cxl: "emit twice = qty * 2" } }
  - { type: sink, name: all, input: orders, config: { name: all, type: csv, path: out/all.csv } }
  - { type: sink, name: twice, input: doubled, config: { name: twice, type: csv, path: out/twice.csv } }
error_handling:
  strategy: continue
  dlq: { path: out/rejects.csv }
YAML
cd "$work"

command=("$binary" run pipeline.yaml --quiet --threads 2 --log-level error)
run() { "${command[@]}"; }
fail() { echo "kill $kill: $*" >&2; exit 1; }
# Of dead letters, ids and times differ from run to run.
facts() { printf '%s ' "$(sha256sum <out/all.csv)" "$(sha256sum <out/twice.csv)" "$(cut -d, -f6-11 out/rejects.csv | sha256sum)"; }

kill=0
status=0
started="$(date +%s%N)"
run || status=$?
whole=$(($(date +%s%N) - started))
[[ $status -eq 2 ]] || fail "an undisturbed run exits with $status"
new="$(facts)"
early=0
for ((kill = 1; kill <= kills; kill++)); do
    rm -rf out/*
    printf 'old\n' >out/all.csv
    moment=$((whole * (RANDOM % 1200) / 1000))
    "${command[@]}" 2>/dev/null &
    child=$!
    sleep "$(printf '%d.%09d' $((moment / 1000000000)) $((moment % 1000000000)))"
    kill -9 "$child" 2>/dev/null || true
    status=0
    wait "$child" 2>/dev/null || status=$?
    [[ $status -eq 137 || $status -eq 2 ]] || fail "the killed run exits with $status"
    [[ $status -eq 137 ]] && early=$((early + 1))
    # Finals appear one after another: each is whole, whichever are there.
    [[ "$(cat out/all.csv)" == old || "$(sha256sum <out/all.csv)" == "${new%% *}"* ]] || fail "half of out/all.csv"
    for final in twice rejects; do
        [[ ! -e out/$final.csv ]] || cp "out/$final.csv" "seen.$final"
    done
    status=0
    started="$(date +%s%N)"
    run || status=$?
    # The machine may become slower or faster.
    whole=$(($(date +%s%N) - started))
    [[ $status -eq 2 ]] || fail "the next run exits with $status"
    [[ "$(facts)" == "$new" ]] || fail "the next run writes something else"
    [[ ! -e seen.twice ]] || cmp -s seen.twice out/twice.csv || fail "half of out/twice.csv"
    [[ ! -e seen.rejects ]] || [[ "$(cut -d, -f6-11 seen.rejects)" == "$(cut -d, -f6-11 out/rejects.csv)" ]] ||
        fail "half of out/rejects.csv"
    rm -f seen.*
done
echo "$kills kills, $early of them before the run ended: every final whole, every next run complete"
