//! Seeded mutations of valid documents: whatever comes in, reports come out.

use super::*;

const SEEDS: [&str; 4] = [
    FEED,
    "pipeline: { name: x, vars: { a: { type: int, default: 3 } }, memory: { limit: 64M } }\nnodes:\n\
     - &s { type: source, name: a, config: { name: a, type: toy, glob: \"in/*.toy\", files: { take_first: 2 },\n\
     \x20 schema: [ { name: é, type: nullable(int) }, { name: b, type: string, multiple: true } ], split_values: [ b ] } }\n\
     - type: sink\n  name: o\n  input: a\n  config: { name: o, type: toy, path: \"{source_name}.toy\", mapping: [ é, { c: b } ] }\n",
    "pipeline: { name: m }\nnodes:\n\
     - { type: source, name: a, config: { name: a, type: toy, path: a, schema: [ { name: x, type: int } ] } }\n\
     - { type: source, name: b, config: { name: b, type: toy, path: b, schema: [ { name: x, type: float } ] } }\n\
     - { type: route, name: r, input: a, config: { conditions: { hi: \"x > 1\", lo: \"x < 0\" }, default: d } }\n\
     - { type: merge, name: m, inputs: [ r.hi, b ], config: { mode: concat } }\n\
     - { type: transform, name: t, input: m, config: { cxl: \"emit y = x\", log: [ { name: e, level: info,\n\
     \x20 when: per_record, every: 2, message: m, fields: [ x ], condition: \"x > 1\" } ] } }\n\
     - { type: sink, name: o, input: t, config: { name: o, type: toy, path: \"{source_name:a}.toy\" } }\n",
    "pipeline:\n  name: ${REGION}\nnodes:\n  - type: transform\n    name: t\n    input: a\n    config:\n      cxl: |-\n        emit x = 1\n\n\
     \x20       filter y > 'ß' # note\n      validations:\n        - { check: >\n              x > 1\n              and x < 3\n            , args: { k: 1 } }\n\
     error_handling: { strategy: continue, dlq: { path: d.csv, per_source: { a: { max_rate: 0.5 } } } }\n",
];

/// A small generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

fn mutate(text: &str, dice: &mut Dice) -> Vec<u8> {
    const PIECES: [&str; 20] = [
        "{", "}", "[", "]", ":", "- ", "\n", "\n  ", "\"", "'", "|", ">", "&a ", "*a", "${X", "$$", "null", "\u{feff}",
        "é", "..",
    ];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + dice.roll(4) {
        let at = dice.roll(bytes.len() + 1);
        match dice.roll(4) {
            0 => drop(bytes.splice(at..at, PIECES[dice.roll(PIECES.len())].bytes())),
            1 => drop(bytes.drain(at..(at + dice.roll(12)).min(bytes.len()))),
            2 if at < bytes.len() => bytes[at] = dice.roll(256) as u8,
            _ => {
                let from = dice.roll(bytes.len() + 1);
                let piece = bytes[from..(from + dice.roll(40)).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, piece));
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

#[test]
fn dia_2_mutated_documents_give_reports_and_never_a_panic() {
    let mut dice = Dice(0x5eed_cafe_f00d_0001);
    for round in 0..4_000 {
        let mut request = request("", Path::new("/no/such/base"));
        request.bytes = mutate(SEEDS[round % SEEDS.len()], &mut dice);
        let compiled = crate::compile(request);
        let failed = compiled.diagnostics.iter().any(Diagnostic::is_error);
        assert_eq!(compiled.plan.is_none(), failed);
        for diagnostic in &compiled.diagnostics {
            assert!(!diagnostic.message.is_empty());
            assert!(!diagnostic.message.contains("was not reported"), "{:?}", diagnostic);
            for label in &diagnostic.labels {
                assert!(label.span.start <= label.span.end && label.span.end <= label.source.text.len());
                assert!(label.source.text.is_char_boundary(label.span.start));
                assert!(label.source.text.is_char_boundary(label.span.end));
            }
        }
    }
}
