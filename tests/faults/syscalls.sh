#!/usr/bin/env bash
# Kills the release binary (SIGKILL) at each system call that has to do with files and looks at what is left.
#
#   tests/faults/syscalls.sh [SYSTEM CALLS]      those of publication by default
#
# A small run replaces four old finals in two folders: outputs of two Sinks, a sidecar and dead letters. It is killed at
# the first write, at the second one, and so on until it ends before; then at the first rename, and so on. The call
# itself is not made any more. After each kill every final is the old file or the new one, never a part of it, and the
# next run works at once. Needs strace (Linux). CLINKER_BIN names another binary.
set -euo pipefail

calls=("$@")
# Some names are those of other processors.
[[ $# -gt 0 ]] || calls=(openat read write close ftruncate flock mkdir mkdirat rename renameat renameat2 unlink unlinkat
    rmdir fsync fdatasync statx newfstatat clone3 exit_group)
most=200
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
binary="${CLINKER_BIN:-$root/target/release/clinker}"

command -v strace >/dev/null || { echo "strace is not installed" >&2; exit 1; }
[[ -x "$binary" ]] || { echo "$binary: no such binary; build it with cargo build --release" >&2; exit 1; }
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir out more
{
    echo part,count
    for row in {1..50}; do echo "part-$row,$((row % 10 == 9 ? 0 : row))"; done
    echo broken,x
} >parts.csv
cat >pipeline.yaml <<'YAML'
pipeline: { name: syscalls }
nodes:
  - type: source
    name: parts
    config:
      name: parts
      type: csv
      path: parts.csv
      schema: [ { name: part, type: string }, { name: count, type: int } ]
  - { type: transform, name: shares, input: parts, config: { cxl: "emit share = 100 % count" } }
  - { type: sink, name: all, input: parts, config: { name: all, type: csv, path: out/all.csv, write_meta: true } }
  - { type: sink, name: shares_out, input: shares, config: { name: shares_out, type: csv, path: more/shares.csv } }
error_handling:
  strategy: continue
  dlq: { path: out/rejects.csv }
YAML
finals=(out/all.csv out/all.csv.meta.json more/shares.csv out/rejects.csv)

# One thread: a call has the same number in each run.
command=("$binary" run pipeline.yaml --quiet --threads 1 --log-level error)
fail() { echo "$call $number: $*" >&2; exit 1; }
# A final without what differs from run to run: ids and times.
facts() {
    case "$1" in
        *rejects.csv) cut -d, -f4- "$1" ;;
        *.meta.json) grep -vE '"(run_started_at|run_finished_at|elapsed_total_ms|execution_id|batch_id)"' "$1" ;;
        *) cat "$1" ;;
    esac
}
prepare() {
    rm -rf out more
    mkdir out more
    for final in "${finals[@]}"; do printf 'old\n' >"$final"; done
}

call=none
number=0
prepare
status=0
"${command[@]}" || status=$?
[[ $status -eq 2 ]] || fail "an undisturbed run exits with $status"
for final in "${finals[@]}"; do
    facts "$final" >"new.$(basename "$final")"
    [[ "$(cat "$final")" != old ]] || fail "an undisturbed run does not replace $final"
done
is_new() { facts "$1" | cmp -s - "new.$(basename "$1")"; }

kills=0
mixed=0
for call in "${calls[@]}"; do
    for ((number = 1; number <= most; number++)); do
        prepare
        status=0
        # A call that this processor or this strace does not know strikes nowhere.
        strace -f -o /dev/null -e "trace=?$call" -e "inject=?$call:signal=KILL:when=$number" "${command[@]}" 2>stderr &
        wait $! 2>/dev/null || status=$?
        [[ $status -eq 137 || $status -eq 2 ]] || fail "the run exits with $status: $(cat stderr)"
        old=0
        for final in "${finals[@]}"; do
            if [[ "$(head -c 4 "$final")" == old && "$(wc -c <"$final")" -eq 4 ]]; then
                old=$((old + 1))
            else
                is_new "$final" || fail "half of $final"
            fi
        done
        if [[ $status -eq 2 ]]; then
            [[ $old -eq 0 ]] || fail "a run that ends leaves an old final"
            break
        fi
        kills=$((kills + 1))
        [[ $old -eq 0 || $old -eq ${#finals[@]} ]] || mixed=$((mixed + 1))
        status=0
        "${command[@]}" 2>stderr || status=$?
        [[ $status -eq 2 ]] || fail "the next run exits with $status: $(cat stderr)"
        for final in "${finals[@]}"; do
            is_new "$final" || fail "the next run writes something else to $final"
        done
    done
    [[ $number -le $most ]] || fail "the run makes more calls than that"
done
[[ $# -gt 0 || $kills -gt 50 ]] || { echo "only $kills kills: is strace allowed to trace?" >&2; exit 1; }
echo "$kills kills, $mixed of them between two finals: every final whole, every next run complete"
