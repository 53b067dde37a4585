//! Plans at random against a plain model: rows, their order and every dead letter, in all weathers.
//!
//! `RANDOM_PLANS=5000` runs more of them, `RANDOM_SEED=17` only that one, showing its document.

mod expr;
mod generate;
mod model;
mod outputs;
mod plan;
pub mod rng;
mod sources;

use clinker_harness::weather::{self, Weather};
use clinker_harness::{Command, Outcome as Found, Scratch};

use self::model::{Dead, Outcome, Rejects};
use self::outputs::outputs;
use self::plan::{Op, Plan, SinkSpec, SourceSpec, Split};

const PLANS: u64 = 2000;

#[test]
fn eng_189_random_plans_give_what_the_model_says_in_all_weathers() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (one, more) = (number("RANDOM_SEED"), number("RANDOM_PLANS"));
    let seeds = one.map_or(0..more.unwrap_or(PLANS), |seed| seed..seed + 1);
    let thorough = one.is_some() || more.is_some();
    let mut wrong = Vec::new();
    for seed in seeds {
        let plan = generate::plan(seed);
        let expected = model::run(&plan);
        for (at, weather) in (0..).zip(weather::ALL) {
            // Each weather has its share of the plans where the whole has to be quick.
            if !thorough && (seed + at) % 3 != 0 {
                continue;
            }
            if let Err(difference) = check(&plan, &expected, weather) {
                let document = if one.is_some() { plan.document() } else { String::new() };
                wrong.push(format!("seed {seed} in {weather:?}: {difference}\n{document}"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} plan(s) differ\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn random_plans_reach_every_kind_of_run() {
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for seed in 0..PLANS {
        let plan = generate::plan(seed);
        let outcome = model::run(&plan);
        let mut saw = |what: String| *seen.entry(what).or_default() += 1;
        saw(format!("exit {}", outcome.exit));
        if !plan.fail_fast && outcome.exit == 3 {
            let turns = plan.nodes.iter().any(|node| matches!(node.op, Op::Merge { interleave: true }));
            saw(format!("a breaker trips, turns {turns}"));
        }
        for node in &plan.nodes {
            saw(match &node.op {
                Op::Source(SourceSpec { rows: Some(rows), .. }) => {
                    format!("source, several rows a record, position {}", rows.position.is_some())
                }
                Op::Source(source) => format!("source, json {}, drop {}", source.json, source.drop),
                Op::Transform { checks, .. } => format!("transform, checks {}", checks.len()),
                Op::Route { inclusive, .. } => format!("route, inclusive {inclusive}"),
                Op::Merge { interleave } => format!("merge, interleave {interleave}, rejected {}", outcome.exit == 2),
                Op::Sink(SinkSpec { json, split: Some(Split { bytes: Some(_), .. }), .. }) => {
                    format!("sink, json {json}, split by bytes")
                }
                Op::Sink(SinkSpec { json, unmapped, per_file, .. }) => {
                    format!("sink, json {json}, unmapped {unmapped}, each file {per_file}")
                }
            });
        }
        for dead in outcome.rejects.values().flat_map(|rejects| &rejects.rows) {
            saw(format!("{} at {}", dead.category, dead.stage.split(':').next().unwrap_or_default()));
        }
    }
    assert!(seen.len() >= 36, "{seen:#?}");
    assert!(seen.values().all(|times| *times >= 5), "{seen:#?}");
}

fn check(plan: &Plan, expected: &Outcome, weather: Weather) -> Result<(), String> {
    let scratch = Scratch::new();
    scratch.write("pipeline.yaml", weather.document(&plan.document()));
    let inputs = plan.inputs();
    for (name, bytes) in &inputs {
        scratch.write(name, bytes);
    }
    let mut args = vec!["run", "pipeline.yaml"];
    args.extend(weather.flags());
    let mut command = Command::new(scratch.path(), &args);
    weather.apply(&mut command);
    let found = command.run();
    if found.exit != expected.exit {
        return Err(format!("exit {} instead of {}\n{}", found.exit, expected.exit, found.stderr));
    }
    let mut files = scratch.files();
    files.retain(|name| name != "pipeline.yaml" && !inputs.iter().any(|(input, _)| input == name));
    if !matches!(expected.exit, 0 | 2) {
        return stopped(expected, &found, &files);
    }
    let mut wanted: Vec<String> = expected.rejects.keys().cloned().collect();
    for (name, text) in outputs(plan, expected) {
        let written = scratch.read(&name).unwrap_or_default();
        if written != text {
            return Err(format!("{name}\n--- expected\n{text}\n--- found\n{written}"));
        }
        wanted.push(name);
    }
    wanted.sort();
    if files != wanted {
        return Err(format!("files {files:?} instead of {wanted:?}"));
    }
    for (name, rejects) in &expected.rejects {
        same_rejects(rejects, &scratch.read(name).unwrap_or_default()).map_err(|text| format!("{name}: {text}"))?;
    }
    Ok(())
}

/// A run that stops publishes nothing and names the row.
fn stopped(expected: &Outcome, found: &Found, files: &[String]) -> Result<(), String> {
    if !files.is_empty() {
        return Err(format!("a run that stops publishes {files:?}"));
    }
    let Some(Dead { file, row, category, stage, .. }) = &expected.stopped_by else { return Ok(()) };
    let text = found.stderr.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    let named = match (stage.as_str(), *category) {
        ("source", "structural_validation" | "expansion_limit_exceeded") => vec![format!("file {file}, line ")],
        ("source", _) => vec![format!("file=\"{file}\" row={row} ")],
        _ => vec![stage.clone(), format!("file {file}"), format!("row {row}")],
    };
    match named.iter().find(|named| !text.contains(*named)) {
        None => Ok(()),
        Some(named) => Err(format!("`{named}` is not named: {text}")),
    }
}

const META: [&str; 13] = [
    "_cxl_dlq_id",
    "_cxl_dlq_trigger_id",
    "_cxl_dlq_timestamp",
    "_cxl_dlq_source_file",
    "_cxl_dlq_source_name",
    "_cxl_dlq_source_row",
    "_cxl_dlq_triggering_field",
    "_cxl_dlq_triggering_value",
    "_cxl_dlq_error_category",
    "_cxl_dlq_error_detail",
    "_cxl_dlq_stage",
    "_cxl_dlq_route",
    "_cxl_dlq_trigger",
];

fn same_rejects(expected: &Rejects, text: &str) -> Result<(), String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().map_err(|error| error.to_string())?.iter().map(str::to_owned).collect();
    let wanted: Vec<String> = META.iter().map(|name| (*name).to_owned()).chain(expected.columns.clone()).collect();
    if header != wanted {
        return Err(format!("columns {header:?} instead of {wanted:?}"));
    }
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    for (at, dead) in expected.rows.iter().enumerate() {
        let Some(row) = rows.get(at) else { return Err(format!("row {at} is missing: {dead:?}\n{text}")) };
        let found: Vec<&str> = (0..header.len()).filter(|at| ![0, 1, 2, 9].contains(at)).map(|at| &row[at]).collect();
        let number = dead.row.to_string();
        let mut cells: Vec<&str> =
            vec![&dead.file, &dead.source, &number, &dead.field, &dead.value, dead.category, &dead.stage, &dead.route];
        cells.push("true");
        for name in &expected.columns {
            let cell = dead.cells.iter().find(|(known, _)| known == name).map_or("", |(_, cell)| cell.as_str());
            cells.push(if name == "_cxl_dlq_source_record" { &dead.raw } else { cell });
        }
        if row[0] != row[1] {
            return Err(format!("row {at} is its own trigger: {row:?}"));
        }
        if found != cells {
            return Err(format!("row {at}\n--- expected\n{cells:?}\n--- found\n{found:?}\n{text}"));
        }
    }
    if rows.len() == expected.rows.len() { Ok(()) } else { Err(format!("{} rows\n{text}", rows.len())) }
}
