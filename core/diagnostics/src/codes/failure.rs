//! Error handling, dead letters and attempts.

use super::entry::{Code, Phase};

pub(super) const CODES: &[Code] = &[
    Code::data(
        "E315",
        "Dead-letter rate of the pipeline",
        "The share of dead-lettered rows reached `dlq.max_rate` after `min_records` rows were read.",
        "Fix the input, or raise the rate.",
    )
    .exits(&[3]),
    Code::data(
        "E316",
        "Dead-letter rate of a Source",
        "The share of dead-lettered rows of one Source reached its `max_rate` after `min_records` rows were \
         read.",
        "Fix the input of that Source, or raise its rate.",
    )
    .exits(&[3]),
    Code::compile(
        "E317",
        "Unknown `per_source` key",
        "A key of `per_source` is no Source node.",
        "Use a listed Source.",
    ),
    Code::compile(
        "E318",
        "Dead-letter configuration",
        "A `max_rate` is not a number above 0 and up to 1, or two dead-letter paths name one file.",
        "Correct the rate, or separate the paths.",
    ),
    Code::compile(
        "E322",
        "Outputs collide",
        "Two Sinks, or a Sink and a dead-letter path, resolve to one file.",
        "Give each its own path.",
    )
    .phases(&[Phase::Compile, Phase::Start]),
    Code::compile(
        "E343",
        "Document rejection with per-file Sink",
        "`dlq_granularity: document` meets a Sink path with `{source_file}` or `{source_path}`.",
        "Use one output path, or `record` granularity.",
    ),
    Code::compile(
        "E344",
        "Document rejection under `fail_fast`",
        "`dlq_granularity: document` is set without `strategy: continue`.",
        "Set `continue`, or `record` granularity.",
    ),
    Code::compile(
        "E370",
        "Two rejection models",
        "`dlq_granularity: document` is combined with a `correlation_key`.",
        "Keep one of them.",
    ),
    Code::compile(
        "E371",
        "Retained attempt refused",
        "Evidence about ownership, record, liveness or age of a retained attempt is not sufficient.",
        "Inspect the attempt, resolve the doubt, then retry by policy.",
    )
    .phases(&[Phase::Tool, Phase::Run])
    .exits(&[4])
    .machine(&[
        "attempt.retention.ownership_refused",
        "attempt.retention.manifest_invalid",
        "attempt.retention.live",
        "attempt.retention.clock_ambiguous",
    ]),
    Code::compile(
        "E372",
        "Cleanup incomplete",
        "A cleanup reached its bound or failed part-way.",
        "Retry after a pause.",
    )
    .phases(&[Phase::Tool, Phase::Run])
    .exits(&[4])
    .machine(&["attempt.retention.budget_exhausted", "attempt.retention.cleanup_failed"]),
    Code::compile(
        "E378",
        "Sink in composition body",
        "A composition body declares a Sink while a Source rejects whole documents.",
        "Declare the Sink in the pipeline and feed it from an output port.",
    ),
    Code::compile(
        "E393",
        "`best_effort` removed",
        "`strategy: best_effort` is not a strategy.",
        "Write `strategy: continue`.",
    ),
];
