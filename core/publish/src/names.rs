//! Names of the hidden files that stand for a final: never longer than a file system takes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Bytes a file name may have on the file systems in use.
const NAME_MAX: usize = 255;
/// Hexadecimal digits of the hash that stands for what is cut off a name.
const HASH_DIGITS: usize = 32;
/// Appended to the name of a staged file that takes the place of another one.
pub(crate) const COMPLETE: &str = ".complete";

/// `.clinker-<leaf>.reservation`. The leaf of a long name is cut, and a hash of all of it follows.
pub(crate) fn reservation(leaf: &OsStr) -> OsString {
    around(".clinker-", leaf, ".reservation", 0)
}

/// `<number>-<leaf>`, with room left for [`COMPLETE`].
pub(crate) fn staged(number: usize, leaf: &OsStr) -> OsString {
    around(&format!("{number:04}-"), leaf, "", COMPLETE.len())
}

fn around(before: &str, leaf: &OsStr, after: &str, spare: usize) -> OsString {
    let leaf = leaf.as_bytes();
    let room = NAME_MAX - before.len() - after.len() - spare;
    let mut name = before.as_bytes().to_vec();
    if leaf.len() <= room {
        name.extend_from_slice(leaf);
    } else {
        let mut kept = room - HASH_DIGITS - 1;
        // Some file systems take whole characters only.
        while kept > 0 && leaf[kept] & 0xC0 == 0x80 {
            kept -= 1;
        }
        name.extend_from_slice(&leaf[..kept]);
        name.push(b'~');
        name.extend_from_slice(&blake3::hash(leaf).to_hex().as_bytes()[..HASH_DIGITS]);
    }
    name.extend_from_slice(after.as_bytes());
    OsString::from_vec(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pb_15_3_the_reservation_of_an_ordinary_name_is_the_documented_one() {
        assert_eq!(reservation(OsStr::new("out.csv")), ".clinker-out.csv.reservation");
        assert_eq!(staged(3, OsStr::new("out.csv")), "0003-out.csv");
        let longest = "n".repeat(NAME_MAX - ".clinker-.reservation".len());
        assert_eq!(reservation(OsStr::new(&longest)).to_string_lossy(), format!(".clinker-{longest}.reservation"));
    }

    #[test]
    fn pb_15_3_hidden_names_of_any_final_fit_and_differ() {
        for unit in ["n", "é", "漢"] {
            for bytes in 200..=NAME_MAX {
                let stem = unit.repeat(bytes / unit.len() - 1);
                let names = [format!("{stem}a"), format!("{stem}b")];
                for make in [reservation, |leaf: &OsStr| staged(9_999, leaf)] {
                    let [first, second] = [make(OsStr::new(&names[0])), make(OsStr::new(&names[1]))];
                    assert!(first.len() <= NAME_MAX, "{bytes} bytes of {unit}");
                    assert_ne!(first, second, "{bytes} bytes of {unit}");
                    assert!(first.to_str().is_some(), "whole characters");
                }
                assert!(staged(0, OsStr::new(&names[0])).len() + COMPLETE.len() <= NAME_MAX);
            }
        }
    }
}
