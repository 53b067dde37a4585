//! The files that a format ships to be tried with.

use clinker_format::{Descriptor, OptionKind, OptionSpec, OptionValue, Options};
use clinker_plugin_abi::Item;

use crate::calls::one_line;
use crate::reading::{list, parse_type};

/// A file that a format ships to be tried with.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusFile {
    /// Its name.
    pub name: String,
    /// Reader options.
    pub options: Vec<(&'static str, OptionValue)>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Rows that are read from it.
    pub rows: u64,
    /// The code of its fault; none for a valid file.
    pub code: Option<String>,
    /// Whether the fault rejects one row only.
    pub bounded: bool,
    /// Whether what was read from it is written back as these bytes.
    pub round_trip: bool,
}

/// The files of a registration.
///
/// # Errors
/// The file that breaks a rule.
pub(crate) fn read(registration: &Item, descriptor: &Descriptor) -> Result<Vec<CorpusFile>, String> {
    let specs = descriptor.read.as_ref().map_or(&[][..], |read| read.options);
    let named = |item: &Item| {
        let name = one_line(item.get("name").text().unwrap_or("a file"));
        file(item, &name, specs).map_err(|fault| format!("format `{}`: corpus: {name}: {fault}", descriptor.name))
    };
    list(registration, "corpus")?.iter().map(named).collect()
}

fn file(item: &Item, name: &str, specs: &'static [OptionSpec]) -> Result<CorpusFile, String> {
    let bool = |key: &str| match item.get(key) {
        Item::Null => Ok(false),
        value => value.bool().ok_or_else(|| format!("`{key}` is not a truth value")),
    };
    let Some(bytes) = item.get("bytes").bytes() else { return Err("`bytes` are missing".into()) };
    Ok(CorpusFile {
        name: name.to_owned(),
        options: options(item.get("options"), specs)?,
        bytes: bytes.to_vec(),
        rows: item.get("rows").number().ok_or("`rows` is not a number")?,
        code: item.get("code").text().map(one_line),
        bounded: bool("bounded")?,
        round_trip: bool("round_trip")?,
    })
}

/// Options by the specification that the format itself registered.
fn options(item: &Item, specs: &'static [OptionSpec]) -> Result<Vec<(&'static str, OptionValue)>, String> {
    let given = |(key, item): &(String, Item)| {
        let spec = specs.iter().find(|spec| spec.key == key).ok_or_else(|| format!("there is no option `{key}`"))?;
        let value = value(item, spec).ok_or_else(|| format!("option `{key}` is not {}", spec.kind.wanted()))?;
        Ok((spec.key, value))
    };
    item.entries().iter().map(given).collect()
}

/// The value of an option; none when it has not the form that is wanted. Options nest as deeply as their registration.
fn value(item: &Item, spec: &'static OptionSpec) -> Option<OptionValue> {
    let text = || item.text().map(|text| OptionValue::Text(text.to_owned()));
    let number = || item.number();
    let map = |item: &Item, specs: &'static [OptionSpec]| {
        let mut all = Options::default();
        options(item, specs).ok()?.into_iter().for_each(|(key, value)| all.set(key, value));
        Some(all)
    };
    match spec.kind {
        OptionKind::Text => text(),
        OptionKind::Bool => item.bool().map(OptionValue::Bool),
        OptionKind::Word(words) => text().filter(|_| item.text().is_some_and(|text| words.contains(&text))),
        OptionKind::BoolOr(words) => {
            let word = || text().filter(|_| item.text().is_some_and(|text| words.contains(&text)));
            item.bool().map(OptionValue::Bool).or_else(word)
        }
        OptionKind::Size => number().map(OptionValue::Number),
        OptionKind::Integer { min, max } => {
            number().filter(|number| (min..=max).contains(number)).map(OptionValue::Number)
        }
        OptionKind::Texts { count } => {
            let texts: Option<Vec<String>> = item.items().iter().map(|item| item.text().map(str::to_owned)).collect();
            texts.filter(|texts| count.is_none_or(|count| texts.len() == count)).map(OptionValue::Texts)
        }
        OptionKind::Fields => {
            let field = |(name, ty): &(String, Item)| Some((name.clone(), parse_type(ty.text()?)?));
            item.entries().iter().map(field).collect::<Option<_>>().map(OptionValue::Fields)
        }
        OptionKind::Map(specs) => map(item, specs).map(OptionValue::Map),
        OptionKind::Maps(specs) => {
            item.items().iter().map(|item| map(item, specs)).collect::<Option<_>>().map(OptionValue::Maps)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A format with three options, and what is wrong with the file of these entries.
    fn fault(entries: Vec<(&str, Item)>) -> Result<CorpusFile, String> {
        let option = |(key, ty): (&str, &str)| {
            Item::map([("key", key.into()), ("type", ty.into()), ("doc", "An option.".into())])
        };
        let options = [("unit", "text"), ("limit", "size"), ("strict", "bool")].map(option);
        let mut file = vec![("bytes", Item::Bytes(b"a\n".to_vec())), ("rows", 1_u64.into())];
        file.extend(entries);
        let file = Item::Map(file.into_iter().map(|(key, item)| (key.to_owned(), item)).collect());
        let registration = Item::map([
            ("name", "trial".into()),
            ("summary", "A trial.".into()),
            ("read", Item::map([("options", Item::List(options.into()))])),
            ("corpus", Item::List(vec![file])),
        ]);
        let (descriptor, _) = crate::registration::read(&registration)?;
        read(&registration, descriptor).map(|mut files| files.remove(0))
    }

    #[test]
    fn formats_15_10_files_of_a_corpus_have_options_of_the_format() {
        let options = Item::map([("unit", "kg".into()), ("limit", 9_u64.into()), ("strict", true.into())]);
        let found = fault(vec![("options", options), ("name", "a file of one row".into())]).unwrap();
        let text = OptionValue::Text("kg".into());
        let expected = [("unit", text), ("limit", OptionValue::Number(9)), ("strict", OptionValue::Bool(true))];
        assert_eq!(found.options, expected);
        assert_eq!((found.rows, found.bytes.as_slice(), found.code), (1, &b"a\n"[..], None));
        for (options, said) in [
            (Item::map([("colour", "red".into())]), "no option `colour`"),
            (Item::map([("limit", "nine".into())]), "option `limit` is not"),
            (Item::map([("strict", 1_u64.into())]), "option `strict` is not"),
        ] {
            let what = fault(vec![("options", options), ("name", "bad".into())]).unwrap_err();
            assert!(what.contains("bad") && what.contains(said), "{what}");
        }
        assert!(fault(vec![("bounded", "yes".into())]).unwrap_err().contains("`bounded`"));
    }
}
