//! Valid files.

use super::support::*;

#[test]
fn formats_8_6_the_example_reads_as_shown() {
    let outcome = read(&*reader(&[]), EXAMPLE.as_bytes());
    assert_eq!(outcome.faults(), []);
    let set = [Some("0001"), Some("856")];
    assert_eq!(
        outcome.rows(),
        [
            vec![Some("ST"), set[0], set[1], Some("856"), Some("0001")],
            vec![Some("BSN"), set[0], set[1], Some("00"), Some("SHP771"), Some("20260115"), Some("0930")],
            vec![Some("HL"), set[0], set[1], Some("1"), None, Some("S")],
        ]
    );
}
