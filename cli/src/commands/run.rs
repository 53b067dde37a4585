//! `clinker run`: validate, explain, preview or run a pipeline.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use clinker_engine::{Preview, RunEnvelope, RunError, RunReport};
use clinker_events::{Level, Progress, Subscriber};
use clinker_format::Registry;
use clinker_plan::{CompileRequest, CompiledPlan, ExplainSettings};

use crate::flags::{ExplainForm, RunFlags};
use crate::loader::Loader;
use crate::ui::{Console, ProgressBar};
use crate::{Host, exit};

/// Runs the command.
pub fn run(flags: &RunFlags, host: &Host) -> u8 {
    let console = Console::new(host.stderr.clone(), flags.log_level);
    // Handlers come first: when they cannot be had, nothing has happened yet.
    if let Err(error) = install_signals(host) {
        console.line(
            Level::Error,
            &format!("error: cannot handle SIGINT and SIGTERM: {error}\n  help: own the signals, or relax the sandbox"),
        );
        return exit::INFRASTRUCTURE;
    }
    let start_time = host.clock.now();
    let plan = match compile(flags, host, &console, start_time) {
        Ok(plan) => plan,
        Err(code) => return code,
    };
    let threads = flags.threads.map(|threads| threads as usize).or(plan.threads).unwrap_or_else(cpus);
    if let Some(form) = flags.explain {
        let settings = ExplainSettings { threads };
        return host.deliver(&match form {
            ExplainForm::Text => clinker_plan::explain_text(&plan, &settings),
            ExplainForm::Json => clinker_plan::explain_json(&plan, &settings),
            ExplainForm::Dot => clinker_plan::explain_dot(&plan),
        });
    }
    execute(&plan, threads, flags, host, &console, start_time)
}

/// A dry run, a preview or the run itself.
fn execute(
    plan: &CompiledPlan,
    threads: usize,
    flags: &RunFlags,
    host: &Host,
    console: &Console,
    start_time: i128,
) -> u8 {
    let mut ids = (host.ids)();
    let (execution_id, batch_id) = (ids.next(start_time).to_string(), ids.next(start_time).to_string());
    let batch_id = flags.batch_id.clone().unwrap_or(batch_id);
    if flags.dry_run && flags.dry_run_n.is_none() {
        return host.deliver(&clinker_plan::resolved_outputs(plan, start_time, &execution_id, &batch_id));
    }
    let preview = match preview(flags, host, console) {
        Ok(preview) => preview,
        Err(code) => return code,
    };
    let is_preview = preview.is_some();
    let progress = Arc::new(Progress::default());
    let envelope = RunEnvelope {
        execution_id: execution_id.into(),
        batch_id: batch_id.into(),
        pipeline_path: flags.config.to_string_lossy().into(),
        start_time,
        threads,
        force: flags.force,
        clock: Arc::clone(&host.clock),
        ids,
        storage: Arc::clone(&host.storage),
        inputs: Arc::clone(&host.inputs),
        cancel: host.cancel.clone(),
        progress: Arc::clone(&progress),
        subscriber: Arc::new(console.clone()),
        resident: (host.resident)(),
        preview,
        temporary: std::env::temp_dir(),
    };
    let bar = (host.stderr.is_terminal() && !flags.quiet).then(|| ProgressBar::start(console, progress));
    let outcome = clinker_engine::run(plan, envelope);
    drop(bar);
    if let Ok(report) = &outcome {
        (host.observe)(report);
    }
    conclude(outcome, is_preview, console)
}

fn conclude(outcome: Result<RunReport, RunError>, is_preview: bool, console: &Console) -> u8 {
    match outcome {
        Ok(report) => {
            console.reports(&report.warnings);
            if let Some(volume) = spill_volume(&report.spilled) {
                console.line(Level::Error, &volume);
            }
            if !is_preview {
                summary(&report, console);
            }
            match (report.debt.is_empty(), report.rejected) {
                (false, _) => exit::INFRASTRUCTURE,
                (true, 0) => exit::SUCCESS,
                (true, _) => exit::DEAD_LETTERS,
            }
        }
        Err(RunError::Cancelled) => {
            console.line(Level::Error, "cancelled: nothing was published");
            exit::CANCELLED
        }
        Err(RunError::Failed { exit, diagnostic }) => {
            console.report(&diagnostic);
            exit
        }
    }
}

/// What each stage has spilled; none when nothing was.
fn spill_volume(spilled: &[(Arc<str>, u64)]) -> Option<String> {
    let total: u64 = spilled.iter().map(|(_, bytes)| bytes).sum();
    let stages: String = spilled.iter().map(|(stage, bytes)| format!("  {stage} → {bytes} bytes\n")).collect();
    (!spilled.is_empty()).then(|| {
        let total = format!("  Total: {total} bytes (compare against the --explain estimate)");
        format!("=== Spill Volume (actual, per stage) ===\n{stages}{total}")
    })
}

fn summary(report: &RunReport, console: &Console) {
    for output in report.outputs.iter().chain(&report.dead_letters) {
        console.event(Level::Debug, &format!("published {}", output.display()));
    }
    console.event(Level::Debug, &format!("sync_ms={}", report.sync.as_millis()));
    console.event(Level::Debug, &format!("peak_reserved_bytes={}", report.peak_reserved));
    for (category, rows) in &report.categories {
        console.event(Level::Debug, &format!("dead-lettered {rows} rows as {category}"));
    }
    let RunReport { total, ok, written, rejected, .. } = report;
    console.line(Level::Info, &format!("Pipeline complete: {total} total, {ok} ok, {written} written, {rejected} dlq"));
    if !report.debt.is_empty() {
        let count = report.debt.len();
        let items = report.debt.join("; ");
        console.line(Level::Error, &format!("output publication completed with {count} cleanup debt item(s): {items}"));
    }
}

fn compile(flags: &RunFlags, host: &Host, console: &Console, now: i128) -> Result<CompiledPlan, u8> {
    let path = host.current_dir.join(&flags.config);
    let shown = flags.config.display().to_string();
    let bytes = std::fs::read(&path).map_err(|error| {
        let help = "give the path of a pipeline document";
        console
            .line(Level::Error, &format!("error: cannot read the pipeline document {shown}: {error}\n  help: {help}"));
        exit::CONFIGURATION
    })?;
    let (env, named) = (Arc::clone(&host.env), flags.env.clone());
    let lookup = move |name: &str| match (&named, name) {
        (Some(named), "CLINKER_ENV") => Some(named.clone()),
        _ => env(name),
    };
    let compiled = clinker_plan::compile(CompileRequest {
        shown,
        path,
        bytes,
        base_dir: flags.base_dir.as_ref().map(|dir| host.current_dir.join(dir)),
        allow_absolute_paths: flags.allow_absolute_paths || (host.env)("CLINKER_ALLOW_ABSOLUTE_PATHS").is_some(),
        env: Box::new(lookup),
        memory_limit: flags.memory_limit.clone(),
        registry: Registry::built_in(),
        loader: Box::new(Loader::new(host)),
        now,
    });
    console.reports(&compiled.diagnostics);
    compiled.plan.ok_or(exit::CONFIGURATION)
}

fn preview(flags: &RunFlags, host: &Host, console: &Console) -> Result<Option<Preview>, u8> {
    let Some(records) = flags.dry_run_n else { return Ok(None) };
    let destination: Box<dyn Write + Send> = match &flags.dry_run_output {
        None => Box::new(host.stdout.clone()),
        Some(path) => Box::new(create(&host.current_dir.join(path)).map_err(|error| {
            console.line(Level::Error, &format!("error: cannot write the preview to {}: {error}", path.display()));
            exit::INFRASTRUCTURE
        })?),
    };
    Ok(Some(Preview { records, destination }))
}

fn create(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::File::create(path)
}

fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The first signal asks the run to stop; a second one ends the process at once.
fn install_signals(host: &Host) -> std::io::Result<()> {
    if !host.signals {
        return Ok(());
    }
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let flag = host.cancel.request_flag();
        signal_hook::flag::register_conditional_shutdown(signal, i32::from(exit::CANCELLED), Arc::clone(&flag))?;
        signal_hook::flag::register(signal, flag)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eng_105_what_each_stage_has_spilled_is_listed() {
        assert_eq!(spill_volume(&[]), None);
        let spilled = [(Arc::from("by_site"), 3_145_728), (Arc::from("all"), 1)];
        let expected = "=== Spill Volume (actual, per stage) ===\n  by_site → 3145728 bytes\n  all → 1 bytes\n  Total: \
                        3145729 bytes (compare against the --explain estimate)";
        assert_eq!(spill_volume(&spilled).as_deref(), Some(expected));
    }
}
