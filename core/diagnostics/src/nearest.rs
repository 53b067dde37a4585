//! "Did you mean": the nearest of a set of names.

/// The closest candidate at Levenshtein distance 3 or less; among equals the alphabetically first. This is the rule for the
/// names of a program; for words of a few letters it offers words that share nothing with the one written, see [`nearest`].
pub fn nearest_name<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    closest(word, candidates, 3, strsim::levenshtein)
}

/// The closest of the known words (keys, formats, types): at distance 3 or less and at most half as far as the word is long,
/// where two letters that changed places are one step; among equals the alphabetically first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    closest(word, candidates, 3.min((word.chars().count() / 2).max(1)), strsim::osa_distance)
}

fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
    distance: fn(&str, &str) -> usize,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *candidate != word)
        .min()
        .map(|(_, candidate)| candidate)
}

/// ``did you mean `x`?`` when [`nearest`] finds a word.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(asked)
}

/// ``did you mean `x`?`` when [`nearest_name`] finds a name.
pub fn name_suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest_name(word, candidates).map(asked)
}

fn asked(name: &str) -> String {
    format!("did you mean `{name}`?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diag_words_are_near_when_half_of_them_is_kept() {
        assert_eq!(nearest("cvs", ["csv", "json", "x12"]), Some("csv"));
        assert_eq!(nearest("xml", ["csv", "json", "x12"]), None);
        assert_eq!(nearest("GS", ["ISA"]), None);
        assert_eq!(nearest("itn", ["any", "int"]), Some("int"));
        assert_eq!(nearest("delimeters", ["delimiter", "quote"]), Some("delimiter"));
    }

    #[test]
    fn cxl_5_1_names_are_near_at_distance_three() {
        assert_eq!(nearest_name("wgt", ["height", "weight"]), Some("weight"));
        assert_eq!(nearest_name("ab", ["cde"]), Some("cde"));
        assert_eq!(nearest_name("ab", ["cdef"]), None);
        assert_eq!(nearest_name("one", ["ore", "ole"]), Some("ole"));
    }
}
