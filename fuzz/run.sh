#!/usr/bin/env bash
# Fuzzes each target, or those named, for so many seconds: fuzz/run.sh SECONDS [TARGET...]
#
# One process at a time, no input longer than the longest seed, no more than 2 GiB and 60 seconds for an input. Begins
# with the seeds (fuzz/src/seeds.rs) and goes on where it stopped: fuzz/corpus keeps what reached something new. What
# fails is left in fuzz/artifacts; a find that is mended goes to fuzz/finds/TARGET, where tests/files/fuzzed.rs reads
# it. There is no `unsafe` in this project, so no sanitizer is asked for: a find is a panic, an overflow, an endless
# loop, too much memory, or an oracle that says otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:?how many seconds}
shift
targets=("$@")
((${#targets[@]})) || targets=(tables schedules traces jobs execution machines plans certificates)
built=${CARGO_TARGET_DIR:-$PWD/target/fuzz}
logs=$built/logs
mkdir -p "$logs"

cargo run --quiet --manifest-path fuzz/Cargo.toml --target-dir "$built" --release --example seeds -- .
cargo fuzz build --sanitizer none --target-dir "$built"

status=0
printf '| target | executions | edges | features | corpus | finds |\n| --- | ---: | ---: | ---: | ---: | ---: |\n' > "$logs/table.md"
for target in "${targets[@]}"; do
    longest=20000
    [[ -e fuzz/$target.dict ]] || longest=400
    mkdir -p "fuzz/artifacts/$target"
    arguments=(-max_total_time="$seconds" -max_len="$longest" -rss_limit_mb=2048 -timeout=60 -print_final_stats=1)
    [[ ! -e fuzz/$target.dict ]] || arguments+=(-dict="fuzz/$target.dict")
    "$built"/*/release/"$target" "${arguments[@]}" -artifact_prefix="fuzz/artifacts/$target/" \
        "fuzz/corpus/$target" > "$logs/$target.log" 2>&1 || { status=1; tail -n 30 "$logs/$target.log"; }
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$target.log")
    last=$(grep -oE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$logs/$target.log" | tail -n 1)
    finds=$(find "fuzz/artifacts/$target" -type f ! -name 'slow-unit-*' | wc -l)
    read -r _ edges _ features _ corpus <<< "${last:-- - - - - -}"
    printf '| %s | %s | %s | %s | %s | %s |\n' "$target" "${executions:-?}" "$edges" "$features" "$corpus" "$finds" \
        | tee -a "$logs/table.md"
done
cat "$logs/table.md"
exit "$status"
