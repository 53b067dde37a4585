//! Diagnostic codes that a plugin may use.

use clinker_format::PluginCode;
use clinker_plugin_abi::Item;

use crate::registration::keep;

/// Codes of the engine that say what is wrong with options.
const COMPILE: &[&str] =
    &["E400", "E401", "E402", "E403", "E404", "E405", "E406", "E407", "E408", "E409", "E411", "E413", "E414", "E446"];
/// Codes of the engine for what is read.
const READ: &[&str] =
    &["E402", "E420", "E421", "E422", "E423", "E424", "E425", "E426", "E427", "E428", "E429", "E430", "E433", "E446"];
/// Those with which a row alone may be rejected.
const ROW: &[&str] = &["E420", "E422", "E423", "E426", "E427"];
/// Those with which a document may be condemned.
const DOCUMENT: &[&str] = &["E428", "E429"];
/// Codes of the engine for what is written.
const WRITE: &[&str] = &["E440", "E441", "E442", "E443", "E444", "E445", "E446", "E447", "E448", "E449"];
/// Warnings of the engine.
const WARNING: &[&str] = &["W401", "W402", "W404", "W405"];

/// Where a code is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Options,
    Corruption,
    Row,
    Document,
    Write,
    Warning,
}

impl Use {
    fn engine(self) -> &'static [&'static str] {
        match self {
            Use::Options => COMPILE,
            Use::Corruption => READ,
            Use::Row => ROW,
            Use::Document => DOCUMENT,
            Use::Write => WRITE,
            Use::Warning => WARNING,
        }
    }

    /// The class under which a plugin registers such a code.
    fn class(self) -> &'static str {
        match self {
            Use::Options => "configuration",
            Use::Corruption => "corruption",
            Use::Row => "row",
            Use::Document => "document",
            Use::Write => "write",
            Use::Warning => "warning",
        }
    }
}

/// The codes of a format.
#[derive(Debug, Default)]
pub(crate) struct Codes(pub Vec<PluginCode>);

impl Codes {
    /// The code of that text, when the format may use it there.
    pub(crate) fn find(&self, text: &str, used: Use) -> Option<&'static str> {
        let own = || self.0.iter().find(|own| own.code == text && own.class == used.class()).map(|own| own.code);
        used.engine().iter().copied().find(|code| *code == text).or_else(own)
    }

    /// Reads the codes that a format registers.
    pub(crate) fn read(items: &[Item]) -> Result<Self, String> {
        let mut codes: Vec<PluginCode> = Vec::new();
        for code in items {
            let text = code.get("code").text().unwrap_or_default();
            let class = code.get("class").text().unwrap_or_default();
            if !is_own(text) {
                return Err(format!("code {text:?} has not the form `E-<NAME>-nnn` or `W-<NAME>-nnn`"));
            }
            let all = [Use::Options, Use::Corruption, Use::Row, Use::Document, Use::Write, Use::Warning];
            let Some(used) = all.into_iter().find(|used| used.class() == class) else {
                return Err(format!("code {text} has the unknown class {class:?}"));
            };
            if (used == Use::Warning) != text.starts_with("W-") {
                return Err(format!("code {text} has the class {class:?}; warnings begin with `W-`, others do not"));
            }
            for key in ["title", "meaning", "remedy", "machine"] {
                if code.get(key).text().is_none_or(str::is_empty) {
                    return Err(format!("code {text} lacks its `{key}`"));
                }
            }
            if codes.iter().any(|known| known.code == text) {
                return Err(format!("code {text} is registered twice"));
            }
            let kept = |key: &str| keep(code.get(key).text().unwrap_or_default());
            codes.push(PluginCode {
                code: keep(text),
                title: kept("title"),
                meaning: kept("meaning"),
                remedy: kept("remedy"),
                class: used.class(),
                machine: kept("machine"),
            });
        }
        Ok(Self(codes))
    }
}

/// Whether a code has the form `E-<NAME>-nnn` or `W-<NAME>-nnn`.
fn is_own(code: &str) -> bool {
    let Some((name, number)) =
        code.strip_prefix("E-").or(code.strip_prefix("W-")).and_then(|rest| rest.rsplit_once('-'))
    else {
        return false;
    };
    let word = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_';
    let in_name = !name.is_empty() && name.bytes().all(word) && name != "SEC";
    in_name && number.len() == 3 && number.bytes().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_15_2_codes_of_plugins_have_a_form_of_their_own() {
        for good in ["E-SHIPMENT-001", "W-HL7_2-999"] {
            assert!(is_own(good), "{good}");
        }
        for bad in ["E422", "E-SEC-001", "E-shipment-001", "E--001", "E-A-1", "X-A-001", "E-A-0001", ""] {
            assert!(!is_own(bad), "{bad}");
        }
    }
}
