#!/usr/bin/env bash
# Counts the instructions of each workload on 20,000 rows and compares them with instructions.json.
#
#   tests/bench/callgrind.sh            compare; fails when a count grew by more than the tolerance
#   tests/bench/callgrind.sh --update   write the counts that were found
#
# Counts do not depend on how busy a machine is, unlike times. They do depend on compiler and libraries: after changing
# one of these, update. Needs valgrind and a release build (CLINKER_BIN names another binary).
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
binary="${CLINKER_BIN:-$root/target/release/clinker}"
rows=20000
data="$root/target/bench/callgrind-$rows"

command -v valgrind >/dev/null || { echo "valgrind is not installed" >&2; exit 1; }
[[ -x "$binary" ]] || { echo "$binary: no such binary; build it with cargo build --release" >&2; exit 1; }
[[ -f "$data/orders.ndjson" ]] || python3 "$here/gen.py" "$data" "$rows"

counts="$data/counts.txt"
: >"$counts"
for workload in passthrough transform reject to_ndjson from_ndjson reject_all; do
    cp "$here/pipelines/$workload.yaml" "$data/"
    expected=0
    [[ "$workload" == reject* ]] && expected=2
    status=0
    # One thread: with several, the spinning of waiting threads would be counted.
    (cd "$data" && timeout 600 valgrind --tool=callgrind --callgrind-out-file="callgrind.$workload.out" \
        "$binary" run "$workload.yaml" --quiet --threads 1) >"$data/$workload.log" 2>&1 || status=$?
    if [[ $status -ne $expected ]]; then
        tail -20 "$data/$workload.log" >&2
        echo "$workload: exit $status, expected $expected" >&2
        exit 1
    fi
    total="$(awk '$1 == "totals:" || $1 == "summary:" { print $2; exit }' "$data/callgrind.$workload.out")"
    echo "$workload $total" >>"$counts"
done

python3 "$here/budget.py" "$here/instructions.json" "$counts" "$@"
