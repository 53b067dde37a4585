//! "Did you mean": the nearest of a set of names.

/// The closest candidate at Levenshtein distance 3 or less, and at most half as far as the word is long; among equals the
/// alphabetically first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 3.min((word.chars().count() / 2).max(1));
    candidates
        .into_iter()
        .map(|candidate| (strsim::levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *candidate != word)
        .min()
        .map(|(_, candidate)| candidate)
}

/// ``did you mean `x`?`` when a near name exists.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|name| format!("did you mean `{name}`?"))
}
