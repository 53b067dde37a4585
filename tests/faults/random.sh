#!/bin/sh
# Thousands of random plans against the plain model, each in all weathers: tests/faults/random.sh [plans, 5000]
# One of them with its document: RANDOM_SEED=17 tests/faults/random.sh
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${RANDOM_SEED:-}" ]; then
    export RANDOM_PLANS="${1:-5000}"
fi
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
    export TMPDIR=/dev/shm
fi
exec cargo test -p clinker-harness --test all -- --nocapture random::eng_189
