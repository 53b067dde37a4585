//! The machine failure codes: what leaves the host instead of a message.

/// Whether a supervisor may run the job again. The order is from strictest to mildest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advice {
    /// The same input fails the same way.
    DoNotRetry,
    /// Someone has to decide.
    PolicyRequired,
    /// A later attempt may succeed unchanged.
    RetryWithBackoff,
}

impl Advice {
    /// The word of machine records.
    pub const fn machine_word(self) -> &'static str {
        match self {
            Advice::DoNotRetry => "do_not_retry",
            Advice::PolicyRequired => "policy_required",
            Advice::RetryWithBackoff => "retry_with_backoff",
        }
    }

    /// The word of `explain`.
    pub const fn word(self) -> &'static str {
        match self {
            Advice::DoNotRetry => "do-not-retry",
            Advice::PolicyRequired => "policy-required",
            Advice::RetryWithBackoff => "retry-with-backoff",
        }
    }
}

/// The subject of a machine failure code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCategory {
    /// Refused for safety.
    SecurityPolicy,
    /// A source broke its protocol or its declaration.
    SourceProtocol,
    /// The engine contradicts itself.
    InternalInvariant,
    /// The job is declared wrongly.
    Configuration,
    /// Files, devices, processes.
    Infrastructure,
    /// Publication of outputs.
    Publication,
    /// Reporting.
    Observability,
}

impl FailureCategory {
    /// The word of machine records.
    pub const fn word(self) -> &'static str {
        match self {
            FailureCategory::SecurityPolicy => "security_policy",
            FailureCategory::SourceProtocol => "source_protocol",
            FailureCategory::InternalInvariant => "internal_invariant",
            FailureCategory::Configuration => "configuration",
            FailureCategory::Infrastructure => "infrastructure",
            FailureCategory::Publication => "publication",
            FailureCategory::Observability => "observability",
        }
    }
}

/// One machine failure code.
#[derive(Debug)]
pub struct Failure {
    /// The code.
    pub id: &'static str,
    /// Its subject.
    pub category: FailureCategory,
    /// Whether to retry.
    pub advice: Advice,
    /// Exit codes of processes that end with it, the usual one first.
    pub exits: &'static [u8],
    /// The only text about the failure that leaves the host.
    pub text: &'static str,
}

/// A compile or start configuration error.
pub const CONFIGURATION_INVALID: &str = "admission.configuration.invalid";
/// The data contradicts its declaration.
pub const SOURCE_DATA_INVALID: &str = "source.data.invalid";
/// A temporary failure of the machine.
pub const TRANSIENT: &str = "infrastructure.runtime.transient";
/// What every failure without a registered code maps to.
pub const UNKNOWN: &str = "runtime.invariant.unknown";

use Advice::{DoNotRetry, PolicyRequired, RetryWithBackoff};
use FailureCategory as Of;

const fn failure(
    id: &'static str,
    category: FailureCategory,
    advice: Advice,
    exits: &'static [u8],
    text: &'static str,
) -> Failure {
    Failure { id, category, advice, exits, text }
}

/// Every machine failure code, sorted. Append-only: a code never changes its meaning.
pub const FAILURES: &[Failure] = &[
    failure(
        "admission.configuration.batch_id_missing",
        Of::Configuration,
        DoNotRetry,
        &[1],
        "machine mode needs a batch id",
    ),
    failure(CONFIGURATION_INVALID, Of::Configuration, DoNotRetry, &[1], "the configuration was rejected"),
    failure(
        "admission.configuration.memory_budget_unsatisfiable",
        Of::Configuration,
        DoNotRetry,
        &[1],
        "the memory limit is below what the process already holds",
    ),
    failure(
        "admission.configuration.policy_required",
        Of::Configuration,
        PolicyRequired,
        &[1],
        "a deployment policy is needed first",
    ),
    failure(
        "admission.configuration.stdout_conflict",
        Of::Configuration,
        DoNotRetry,
        &[1],
        "standard output is needed by another mode",
    ),
    failure(
        "attempt.publication.finalization_failed",
        Of::Publication,
        RetryWithBackoff,
        &[4],
        "outputs were not ready, or cleanup after publication failed",
    ),
    failure(
        "attempt.publication.manifest_failed",
        Of::Publication,
        RetryWithBackoff,
        &[4],
        "the record of the attempt could not be saved",
    ),
    failure(
        "attempt.publication.promotion_failed",
        Of::Publication,
        PolicyRequired,
        &[4],
        "an output could not be moved into place; some may be visible",
    ),
    failure(
        "attempt.publication.registration_failed",
        Of::Publication,
        PolicyRequired,
        &[4],
        "an output could not be registered, or the attempt is larger than allowed",
    ),
    failure(
        "attempt.retention.budget_exhausted",
        Of::Publication,
        RetryWithBackoff,
        &[4],
        "cleanup stopped at its bound",
    ),
    failure("attempt.retention.cleanup_failed", Of::Infrastructure, RetryWithBackoff, &[4], "cleanup met an I/O error"),
    failure(
        "attempt.retention.clock_ambiguous",
        Of::Publication,
        PolicyRequired,
        &[4],
        "the age of an attempt cannot be trusted",
    ),
    failure("attempt.retention.live", Of::Publication, PolicyRequired, &[4], "a running process owns the attempt"),
    failure(
        "attempt.retention.manifest_invalid",
        Of::SecurityPolicy,
        PolicyRequired,
        &[4],
        "the record of an attempt cannot be read or is invalid",
    ),
    failure(
        "attempt.retention.ownership_refused",
        Of::SecurityPolicy,
        PolicyRequired,
        &[4],
        "the ownership of an attempt is unproven",
    ),
    failure(
        "infrastructure.delivery.unreportable_outcome",
        Of::Infrastructure,
        PolicyRequired,
        &[4],
        "outputs were published, but the outcome could not be reported",
    ),
    failure(
        "infrastructure.runtime.source_unavailable",
        Of::Infrastructure,
        RetryWithBackoff,
        &[4],
        "a source is not available",
    ),
    failure(TRANSIENT, Of::Infrastructure, RetryWithBackoff, &[4], "a temporary runtime or I/O failure"),
    failure(
        "observability.configuration.invalid",
        Of::Observability,
        DoNotRetry,
        &[1],
        "the reporting policy is invalid",
    ),
    failure(
        "observability.configuration.policy_required",
        Of::Observability,
        PolicyRequired,
        &[1],
        "a reporting policy is needed first",
    ),
    failure(
        "observability.delivery.failed",
        Of::Observability,
        RetryWithBackoff,
        &[4],
        "a report could not be delivered",
    ),
    failure("observability.delivery.rejected", Of::Observability, PolicyRequired, &[4], "a collector refused a report"),
    failure("rest.http.client_error", Of::SourceProtocol, DoNotRetry, &[4], "the endpoint rejected the request"),
    failure(
        "rest.protocol.conflicting_continuation",
        Of::SourceProtocol,
        PolicyRequired,
        &[4],
        "several continuation targets disagree",
    ),
    failure(
        "rest.protocol.malformed_continuation",
        Of::SourceProtocol,
        PolicyRequired,
        &[4],
        "continuation metadata cannot be parsed",
    ),
    failure(
        "rest.protocol.page_body_limit_reached",
        Of::SourceProtocol,
        PolicyRequired,
        &[4],
        "a response is larger than allowed",
    ),
    failure(
        "rest.protocol.page_limit_reached",
        Of::SourceProtocol,
        PolicyRequired,
        &[4],
        "more pages follow than allowed",
    ),
    failure(
        "rest.protocol.unresolvable_continuation",
        Of::SourceProtocol,
        PolicyRequired,
        &[4],
        "a continuation target cannot be resolved",
    ),
    failure(
        "rest.protocol.unsupported_continuation",
        Of::SourceProtocol,
        PolicyRequired,
        &[4],
        "the form of continuation is not supported",
    ),
    failure(
        "rest.security.cross_origin",
        Of::SecurityPolicy,
        DoNotRetry,
        &[4],
        "a continuation leaves the origin of its source",
    ),
    failure(
        "rest.security.https_downgrade",
        Of::SecurityPolicy,
        DoNotRetry,
        &[4],
        "a continuation would give up encryption",
    ),
    failure(
        "runtime.invariant.dispatch_mismatch",
        Of::InternalInvariant,
        PolicyRequired,
        &[1],
        "a dispatch invariant broke",
    ),
    failure("runtime.invariant.plan_mismatch", Of::InternalInvariant, PolicyRequired, &[1], "plan and run disagree"),
    failure(
        "runtime.invariant.plugin_contract",
        Of::InternalInvariant,
        PolicyRequired,
        &[1],
        "a format plugin broke its contract",
    ),
    failure("runtime.invariant.poisoned_state", Of::InternalInvariant, PolicyRequired, &[1], "shared state was lost"),
    failure(UNKNOWN, Of::InternalInvariant, PolicyRequired, &[1], "an internal failure"),
    failure(
        "runtime.resource.memory_budget_exceeded",
        Of::Infrastructure,
        PolicyRequired,
        &[1],
        "the memory limit was exceeded",
    ),
    failure(
        "runtime.resource.spill_cap_exceeded",
        Of::Infrastructure,
        PolicyRequired,
        &[4],
        "the spill cap was reached",
    ),
    failure("runtime.resource.spill_failed", Of::Infrastructure, RetryWithBackoff, &[4], "spill storage failed"),
    failure(SOURCE_DATA_INVALID, Of::SourceProtocol, DoNotRetry, &[4, 1, 3], "the data contradicts the admitted plan"),
    failure(
        "source.endpoint.unreadable_material",
        Of::SourceProtocol,
        PolicyRequired,
        &[4],
        "local endpoint material cannot be read",
    ),
    failure("source.endpoint.unresolvable", Of::SourceProtocol, PolicyRequired, &[4], "the host name does not resolve"),
    failure(
        "source.endpoint.untrusted_tls",
        Of::SourceProtocol,
        PolicyRequired,
        &[4],
        "the identity of the endpoint is not trusted",
    ),
];

/// The entry of a machine failure code.
pub fn lookup(id: &str) -> Option<&'static Failure> {
    FAILURES.binary_search_by_key(&id, |failure| failure.id).ok().map(|at| &FAILURES[at])
}
