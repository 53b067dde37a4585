//! Records that become several rows, beside a plain model over trees.

use clinker_format::{ExpandMode, ExpandRule};

use super::oracle::{Tree, tree};
use super::support::{Random, Row, Weather, expander, expander_of, field, lines, options, read, read_in};

fn rule(field: &str, mode: ExpandMode) -> ExpandRule {
    ExpandRule { field: field.into(), keep_empty: true, mode, position_column: None }
}

fn extract(field: &str) -> ExpandRule {
    rule(field, ExpandMode::Extract)
}

fn split(field: &str) -> ExpandRule {
    rule(field, ExpandMode::Split)
}

fn at(name: &str, rule: ExpandRule) -> ExpandRule {
    ExpandRule { position_column: Some(name.into()), ..rule }
}

fn non_empty(rule: ExpandRule) -> ExpandRule {
    ExpandRule { keep_empty: false, ..rule }
}

/// The rows of lines.
fn rows(rules: &[ExpandRule], data: &str) -> Vec<String> {
    let outcome = read(&*expander(rules, None, &[]), data.as_bytes());
    assert_eq!((&outcome.fault, outcome.codes()), (&None, vec![]));
    outcome.shown()
}

#[test]
fn nodes_2_7_stops_become_rows_with_their_leg() {
    let rules = [at("leg", extract("stops"))];
    let data = "{\"bus\":\"7\",\"stops\":[{\"at\":\"A\"},{\"at\":\"B\"}]}\n{\"bus\":\"8\",\"stops\":[]}\n";
    let outcome = read(&*expander(&rules, None, &["bus", "at", "leg"]), data.as_bytes());
    assert_eq!(outcome.shown(), ["bus=\"7\" at=\"A\" leg=1", "bus=\"7\" at=\"B\" leg=2", "bus=\"8\""]);
    // Rows of one record share its number.
    assert_eq!(outcome.rows.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn formats_1_10_what_an_occurrence_is() {
    let data = "{\"a\":1,\"x.y\":[{\"p\":1,\"q\":{\"r\":2}},3,null,[4,5],{}],\"b\":2}\n{\"x\":{\"y\":{\"p\":6}}}\n\
                {\"x\":{\"y\":7}}\n{\"x\":{\"y\":null},\"b\":8}\n{\"b\":9}\n{\"x\":{\"y\":{}}}\n";
    assert_eq!(
        rows(&[at("n", extract("x.y"))], data),
        [
            "a=1 p=1 q.r=2 n=1 b=2",
            "a=1 y=3 n=2 b=2",
            "a=1 y=null n=3 b=2",
            "a=1 y=[4,5] n=4 b=2",
            "a=1 n=5 b=2",
            "p=6 n=1",
            "y=7 n=1",
            "b=8",
            "b=9",
            "n=1",
        ]
    );
    assert_eq!(
        rows(&[split("x.y")], data)[..7],
        [
            "a=1 x.y.p=1 x.y.q.r=2 b=2",
            "a=1 x.y=3 b=2",
            "a=1 x.y=null b=2",
            "a=1 x.y=[4,5] b=2",
            "a=1 b=2",
            "x.y.p=6",
            "x.y=7"
        ]
    );
}

#[test]
fn formats_1_10_a_record_without_an_occurrence_is_kept_or_dropped() {
    let data = "{\"a\":1,\"l\":[]}\n{\"a\":2,\"l\":null}\n{\"a\":3}\n{\"a\":4,\"l\":[5]}\n";
    assert_eq!(rows(&[extract("l")], data), ["a=1", "a=2", "a=3", "a=4 l=5"]);
    let outcome = read(&*expander(&[non_empty(extract("l"))], None, &[]), data.as_bytes());
    assert_eq!((outcome.shown(), outcome.dropped), (vec!["a=4 l=5".into()], 3));
    assert_eq!(outcome.rows[0].0, 4);
}

#[test]
fn formats_1_10_the_occurrence_beats_the_record_and_the_position_beats_both() {
    let data = "{\"sku\":0,\"n\":0,\"l\":[{\"sku\":1,\"n\":9},{\"q\":2}],\"z\":3}\n{\"n\":5}\n";
    assert_eq!(rows(&[at("n", extract("l"))], data), ["sku=1 n=1 z=3", "sku=0 q=2 n=2 z=3", "n=5"]);
}

#[test]
fn formats_1_10_entries_run_in_order_and_multiply() {
    let data = "{\"a\":[1,2],\"b\":[3,4]}\n";
    assert_eq!(rows(&[extract("a"), extract("b")], data), ["a=1 b=3", "a=1 b=4", "a=2 b=3", "a=2 b=4"]);
    assert_eq!(rows(&[extract("b"), extract("a")], data), ["a=1 b=3", "a=2 b=3", "a=1 b=4", "a=2 b=4"]);
    let nested = "{\"o\":[{\"i\":1,\"l\":[{\"s\":2},{\"s\":3}]},{\"i\":4,\"l\":[]}]}\n";
    assert_eq!(rows(&[extract("o"), extract("l")], nested), ["i=1 s=2", "i=1 s=3", "i=4"]);
    let split = [split("o"), at("k", extract("o.l"))];
    assert_eq!(rows(&split, nested), ["o.i=1 s=2 k=1", "o.i=1 s=3 k=2", "o.i=4"]);
}

#[test]
fn formats_1_10_a_record_beyond_the_ceiling_is_kept_whole() {
    let rules = [extract("a"), extract("b")];
    let data =
        "{\"i\":1,\"a\":[1,2],\"b\":[1,2]}\n{\"u\":0,\"i\":2,\"a\":[1,2],\"b\":[1,{\"s\":\"\\t\"},3]}\n{\"i\":3}\n";
    let outcome = read(&*expander(&rules, Some(4), &["i"]), data.as_bytes());
    assert_eq!(outcome.rows.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 1, 1, 1, 3]);
    let whole = tree("{\"i\":2,\"u\":0,\"a\":[1,2],\"b\":[1,{\"s\":\"\\t\"},3]}").expect("a record");
    let Tree::Object(fields) = whole else { panic!("an object") };
    assert_eq!((outcome.overruns, outcome.overrun_places), (vec![(2, fields)], vec![(2, 28)]));
}

#[test]
fn formats_5_3_two_values_of_a_name_are_e427_in_an_occurrence_too() {
    let codes = |rules: &[ExpandRule], fields: &[&str], data: &str| {
        let outcome = read(&*expander(rules, None, fields), data.as_bytes());
        (outcome.codes(), outcome.shown())
    };
    let data = "{\"l\":[{\"s\":1,\"s\":2},{\"s\":3}]}\n{\"l\":[{\"s\":4}]}\n";
    assert_eq!(codes(&[extract("l")], &[], data), (vec![(1, "E427")], vec!["s=4".into()]));
    // A column of several values collects them.
    let collected = (vec![], vec!["s=[1,2]".into(), "s=3".into(), "s=4".into()]);
    assert_eq!(codes(&[extract("l")], &["*s"], data), collected);
    assert_eq!(codes(&[extract("l")], &["*s"], "{\"l\":{\"s\":1,\"s\":2}}\n").1, ["s=[1,2]"]);
    // So it is in arrays that stay values, and between the fields around.
    assert_eq!(codes(&[extract("l")], &[], "{\"l\":[{\"m\":[{\"s\":1,\"s\":2}]}]}\n").0, [(1, "E427")]);
    assert_eq!(codes(&[extract("l")], &[], "{\"l\":[1,2],\"x\":1,\"x\":2}\n").0, [(1, "E427")]);
    assert_eq!(codes(&[extract("l")], &[], "{\"l\":1,\"l\":2}\n").0, [(1, "E427")]);
}

#[test]
fn formats_5_3_levels_of_an_occurrence_count_in_the_name_it_has() {
    let nested = |levels: usize| format!("{{\"l\":[{}1{}]}}\n", "{\"k\":".repeat(levels), "}".repeat(levels));
    let codes =
        |rule: ExpandRule, levels: usize| read(&*expander(&[rule], None, &[]), nested(levels).as_bytes()).codes();
    assert_eq!(codes(extract("l"), 64), []);
    assert_eq!(codes(extract("l"), 65), [(1, "E426")]);
    assert_eq!(codes(split("l"), 63), []);
    assert_eq!(codes(split("l"), 64), [(1, "E426")]);
}

#[test]
fn formats_1_5_names_are_refused_as_rows_have_them() {
    let fields = [field("a"), field("s")];
    let rules = [at("n", extract("l"))];
    let outcome = |rules: &[ExpandRule], limit, data: &str| {
        let factory = expander_of(&options(&lines()), true, (rules, limit), &fields);
        read(&*factory, data.as_bytes())
    };
    // The expanded field itself is none of the row's.
    let fine = outcome(&[extract("l")], None, "{\"a\":1,\"l\":[{\"s\":2},{\"s\":3}]}\n");
    assert_eq!((fine.shown(), fine.fault), (vec!["a=1 s=2".into(), "a=1 s=3".into()], None));
    let other = outcome(&[extract("l")], None, "{\"a\":1,\"l\":[{\"s\":2},{\"t\":3}]}\n");
    assert_eq!((other.fault, other.reason.as_str()), (Some(("E430", 1, 25)), "field `t` is not declared"));
    let position = outcome(&rules, None, "{\"a\":1}\n{\"l\":[{\"s\":2}]}\n");
    assert_eq!((position.fault, position.reason.as_str()), (Some(("E430", 2, 8)), "field `n` is not declared"));
    // A record that is too large is kept with all it has.
    let over = outcome(&[extract("l")], Some(1), "{\"l\":[{\"s\":2},{\"s\":3}],\"a\":1}\n{\"a\":2}\n");
    assert_eq!((over.shown(), over.fault), (vec!["a=2".into()], None));
    assert_eq!(over.overruns[0].1.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["a", "l"]);
}

#[test]
fn formats_1_10_records_of_an_array_are_expanded_too() {
    let rules = [non_empty(extract("l"))];
    let factory = expander_of(&options(&[]), false, (&rules, Some(2)), &[]);
    let data = "[{\"l\":[1,\n2]},{\"l\":[]},\n {\"l\":[1,2,3]}, 4, {\"l\":5}, {\"l\":[6}]\n";
    let outcome = read(&*factory, data.as_bytes());
    assert_eq!(outcome.shown(), ["l=1", "l=2", "l=5"]);
    assert_eq!(outcome.rows.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [1, 1, 5]);
    assert_eq!((outcome.codes(), outcome.dropped), (vec![(4, "E422")], 1));
    assert_eq!((outcome.overrun_places, outcome.overruns[0].0), (vec![(3, 25)], 3));
    assert_eq!(outcome.fault.map(|fault| fault.0), Some("E422"));
}

#[test]
fn formats_1_10_escaped_keys_keep_their_points_in_the_last_segment() {
    let given = options(&[("escape_keys", clinker_format::OptionValue::Bool(true))]);
    let factory = expander_of(&given, false, (&[extract("a.b\\.c")], None), &[]);
    assert_eq!(read(&*factory, b"{\"a\":{\"b.c\":[1,2]}}\n").shown(), ["b\\.c=1", "b\\.c=2"]);
}

/// A record that is cut in plain steps: its fields first, then rule by rule.
fn model(record: Tree, rules: &[ExpandRule]) -> Vec<Vec<(String, Tree)>> {
    let mut rows = vec![flat(record)];
    for rule in rules {
        rows = rows.into_iter().flat_map(|row| one_rule(row, rule)).collect();
    }
    rows.iter_mut().for_each(|row| row.retain(|(_, value)| *value != Tree::Object(vec![])));
    rows
}

fn flat(record: Tree) -> Vec<(String, Tree)> {
    let Tree::Object(members) = record else { panic!("an object") };
    let mut fields = Vec::new();
    for (key, value) in members {
        match value {
            Tree::Object(inner) if !inner.is_empty() => {
                let inner = flat(Tree::Object(inner));
                fields.extend(inner.into_iter().map(|(name, value)| (format!("{key}.{name}"), value)));
            }
            value => fields.push((key, value)),
        }
    }
    fields
}

fn one_rule(row: Vec<(String, Tree)>, rule: &ExpandRule) -> Vec<Vec<(String, Tree)>> {
    let (field, inside) = (&*rule.field, format!("{}.", rule.field));
    let put = |name: &str| if rule.mode == ExpandMode::Split { format!("{inside}{name}") } else { name.to_owned() };
    let exact = row.iter().position(|(name, _)| name == field);
    let belongs = |name: &str| if exact.is_some() { name == field } else { name.starts_with(&inside) };
    let group: Vec<(String, Tree)> = row.iter().filter(|(name, _)| belongs(name)).cloned().collect();
    let stand = row.iter().position(|(name, _)| belongs(name)).unwrap_or(row.len());
    let occurrence = |value: Tree| match value {
        Tree::Object(members) => {
            flat(Tree::Object(members)).into_iter().map(|(name, value)| (put(&name), value)).collect()
        }
        value if rule.mode == ExpandMode::Split => vec![(field.to_owned(), value)],
        value => vec![(field.rsplit('.').next().expect("a segment").to_owned(), value)],
    };
    let mut occurrences: Vec<Vec<(String, Tree)>> = match exact.map(|at| row[at].1.clone()) {
        Some(Tree::Null) => vec![],
        Some(Tree::Array(elements)) => elements.into_iter().map(occurrence).collect(),
        Some(value) => vec![occurrence(value)],
        None if group.is_empty() => vec![],
        None => vec![group.into_iter().map(|(name, value)| (put(&name[inside.len()..]), value)).collect()],
    };
    for (at, occurrence) in occurrences.iter_mut().enumerate() {
        if let Some(position) = &rule.position_column {
            occurrence.retain(|(name, _)| **name != **position);
            occurrence.push((position.to_string(), Tree::Number((at as u64 + 1).into())));
        }
    }
    if occurrences.is_empty() && rule.keep_empty {
        occurrences.push(vec![]);
    }
    let around = |occurrence: Vec<(String, Tree)>| {
        let stays = |(name, _): &&(String, Tree)| !belongs(name) && occurrence.iter().all(|(other, _)| other != name);
        let before: Vec<_> = row[..stand].iter().filter(stays).cloned().collect();
        let behind: Vec<_> = row[stand..].iter().filter(stays).cloned().collect();
        [before, occurrence, behind].concat()
    };
    occurrences.into_iter().map(around).collect()
}

/// A random record whose objects do not repeat a key.
fn object(random: &mut Random, depth: usize) -> Tree {
    let keys = ["a", "b", "c", "d"];
    let from = random.below(4);
    let members = (0..1 + random.below(4)).map(|at| (keys[(from + at) % 4].to_owned(), value(random, depth))).collect();
    Tree::Object(members)
}

fn value(random: &mut Random, depth: usize) -> Tree {
    match random.below(if depth < 3 { 11 } else { 4 }) {
        0 => Tree::Null,
        1 => Tree::Bool(true),
        2 => Tree::String("s\n".repeat(random.below(3))),
        3 => Tree::Number((random.below(90) as u64).into()),
        4 | 5 => object(random, depth + 1),
        _ => Tree::Array((0..random.below(4)).map(|_| value(random, depth + 1)).collect()),
    }
}

fn random_rules(random: &mut Random) -> Vec<ExpandRule> {
    let fields = ["a", "b", "c", "a.b", "b.c", "a.b.c"];
    let mut rules: Vec<ExpandRule> = Vec::new();
    for at in 0..1 + random.below(3) {
        let mode = if random.below(2) == 0 { ExpandMode::Extract } else { ExpandMode::Split };
        let names = ["n", "c", "m"];
        let position = (random.below(2) == 0).then(|| names[at].into());
        let field = fields[random.below(fields.len())];
        if rules.iter().all(|rule| *rule.field != *field) {
            rules.push(ExpandRule {
                field: field.into(),
                keep_empty: random.below(6) > 0,
                mode,
                position_column: position,
            });
        }
    }
    rules
}

#[test]
fn formats_1_10_random_records_and_rules_agree_with_the_plain_model() {
    let mut random = Random(0xB0A7);
    let (mut several, mut none) = (0, 0);
    for _ in 0..2500 {
        let rules = random_rules(&mut random);
        let limit = 2 + random.below(12);
        let (mut data, mut expected, mut over): (String, Vec<Row>, Vec<u64>) = Default::default();
        for row in 1..=1 + random.below(5) as u64 {
            let record = object(&mut random, 0);
            data.push_str(&format!("{record}\n"));
            let rows = model(record, &rules);
            several += usize::from(rows.len() > 1);
            none += usize::from(rows.is_empty());
            match rows.len() > limit {
                true => over.push(row),
                false => expected.extend(rows.into_iter().map(|fields| (row, fields))),
            }
        }
        let factory = expander(&rules, Some(limit as u64), &[]);
        let weather = Weather { chunk: 1 + random.below(9), rows: 1 + random.below(4), bytes: 64, backwards: true };
        let outcome = read_in(&*factory, data.as_bytes(), weather);
        assert_eq!((&outcome.fault, outcome.codes()), (&None, vec![]), "{data}");
        assert_eq!(outcome.rows, expected, "{rules:?} of\n{data}");
        assert_eq!(outcome.overruns.iter().map(|(row, _)| *row).collect::<Vec<_>>(), over);
    }
    assert!(several > 500 && none > 100, "{several} {none}");
}
