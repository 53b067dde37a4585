//! Random texts through each escape style: what is written is one element, and reads back as it was.

use clinker_format::charset::Charset;

use super::support::{harbour, released, x12};
use crate::dialect::{EscapeStyle, Role, WriterRules};
use crate::writer::escape::Escape;
use crate::writer::separators::Separators;

/// A small seeded generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    pub fn text(&mut self, of: &[&str], longest: u64) -> String {
        (0..self.below(longest + 1)).map(|_| of[self.below(of.len() as u64) as usize]).collect()
    }
}

fn sequences() -> (EscapeStyle, WriterRules, Separators) {
    let names = [
        ("F", Role::Element),
        ("S", Role::Component),
        ("T", Role::Subcomponent),
        ("R", Role::Repetition),
        ("E", Role::Release),
    ];
    let names = names.map(|(name, role)| (name.into(), role)).to_vec();
    let mut rules = released().writer.unwrap();
    rules.escape = vec![Role::Element, Role::Release, Role::Terminator];
    let mut separators = Separators::default();
    for (role, byte) in [
        (Role::Element, b'|'),
        (Role::Component, b'^'),
        (Role::Repetition, b'~'),
        (Role::Release, b'\\'),
        (Role::Subcomponent, b'&'),
        (Role::Terminator, b'\r'),
    ] {
        separators.set(role, Some(byte));
    }
    (EscapeStyle::Sequence { names, hex: Some("X".into()) }, rules, separators)
}

fn styles() -> Vec<(EscapeStyle, WriterRules, Separators, Vec<&'static str>)> {
    let (style, rules, separators) = sequences();
    let dialects = [
        (x12(), vec!["a", "b", "*", "~", ":", "^", "?", "Ø", " "]),
        (harbour(), vec!["a", "|", "\\", "\n", "=", "\r", "Ø"]),
        (released(), vec!["a", "?", "+", "'", ":", "\n", "Ø"]),
    ];
    let mut all = vec![(style, rules, separators, vec!["H", "F", "E", "X0D", "\\", "|", "^", "\r", "&", "Ø"])];
    all.extend(dialects.into_iter().map(|(dialect, letters)| {
        let separators = Separators::defaults(&dialect);
        (dialect.framing.escape, dialect.writer.unwrap(), separators, letters)
    }));
    all
}

#[test]
fn formats_15_5_decoded_text_reads_back_or_is_refused() {
    let mut random = Random(7);
    for (style, rules, separators, letters) in styles() {
        let escape = Escape::new(&style, &rules, false, Charset::Utf8, separators);
        let (mut written, mut refused) = (0, 0);
        for _ in 0..4_000 {
            let text = random.text(&letters, 8);
            let part = random.below(2) == 0;
            let mut out = Vec::new();
            let Ok(()) = escape.append(&text, None, part, &mut out) else {
                refused += 1;
                continue;
            };
            written += 1;
            assert_eq!(escape.decoded(&out), text, "{style:?} wrote {:?}", String::from_utf8_lossy(&out));
            check_one_element(&escape, &style, &out);
        }
        assert!(written > 300, "{style:?}: {written} written");
        assert_eq!(refused > 0, style == EscapeStyle::None, "{style:?}: {refused} refused");
    }
}

#[test]
fn formats_7_4_wire_text_is_one_element_or_refused() {
    let mut random = Random(11);
    for (style, rules, separators, letters) in styles() {
        let escape = Escape::new(&style, &rules, true, Charset::Utf8, separators);
        let (mut written, mut refused) = (0, 0);
        for _ in 0..4_000 {
            let text = random.text(&letters, 6);
            let mut out = Vec::new();
            if escape.append(&text, None, false, &mut out).is_err() {
                refused += 1;
                continue;
            }
            written += 1;
            assert_eq!(String::from_utf8_lossy(&out), text, "wire text passes as it is");
            check_one_element(&escape, &style, &out);
        }
        assert!(written > 300 && refused > 300, "{style:?}: {written} written, {refused} refused");
    }
}

/// No separator of elements and no terminator stands in it unescaped, and no escape reaches behind it.
fn check_one_element(escape: &Escape, style: &EscapeStyle, wire: &[u8]) {
    let separators = escape.separators;
    let mut at = 0;
    while at < wire.len() {
        let byte = Some(wire[at]);
        if *style == EscapeStyle::Release && byte == separators.release() {
            assert!(at + 1 < wire.len());
            at += 2;
            continue;
        }
        assert!(byte != separators.element() && byte != separators.terminator(), "{:?}", String::from_utf8_lossy(wire));
        at += 1;
    }
}

#[test]
fn formats_10_6_sequences_that_mean_nothing_are_kept() {
    let (style, rules, separators) = sequences();
    let write = |wire: bool, text: &str| {
        let escape = Escape::new(&style, &rules, wire, Charset::Utf8, separators);
        let mut out = Vec::new();
        escape.append(text, None, false, &mut out).map(|()| String::from_utf8(out).unwrap())
    };
    for (text, wire) in [
        ("a|b", r"a\F\b"),
        (r"\.br\x\H\", r"\.br\x\H\"),
        (r"\F\", r"\E\F\E\"),
        (r"\X0D\", r"\E\X0D\E\"),
        (r"\X0\", r"\X0\"),
        (r"a\b", r"a\E\b"),
        (r"\a|b\", r"\E\a\F\b\E\"),
        ("a\rb", r"a\X0D\b"),
        ("a^b~c&d", "a^b~c&d"),
    ] {
        assert_eq!(write(false, text).as_deref(), Ok(wire), "{text:?}");
    }
    for bad in [r"a\b", r"\a|b\", "a|b", "a\rb"] {
        assert!(write(true, bad).is_err(), "{bad:?}");
    }
}
