//! Plain scalars by the YAML 1.2 core schema.

/// What a scalar is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Core {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer that 64 bits cannot hold.
    HugeInt,
    Float(f64),
    Text,
}

impl Core {
    /// Resolves the text of a plain scalar.
    pub fn of_plain(text: &str) -> Core {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Core::Null,
            "true" | "True" | "TRUE" => return Core::Bool(true),
            "false" | "False" | "FALSE" => return Core::Bool(false),
            ".nan" | ".NaN" | ".NAN" => return Core::Float(f64::NAN),
            _ => {}
        }
        integer(text).or_else(|| float(text)).unwrap_or(Core::Text)
    }

    /// The word messages use.
    pub fn word(&self) -> &'static str {
        match self {
            Core::Null => "nothing",
            Core::Bool(_) => "a boolean",
            Core::Int(_) | Core::HugeInt => "an integer",
            Core::Float(_) => "a number",
            Core::Text => "text",
        }
    }
}

fn integer(text: &str) -> Option<Core> {
    let (digits, radix) = match text.get(..2) {
        Some("0o") => (&text[2..], 8),
        Some("0x") => (&text[2..], 16),
        _ => (text.strip_prefix(['-', '+']).unwrap_or(text), 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let signed = if radix == 10 { text } else { digits };
    Some(i64::from_str_radix(signed, radix).map_or(Core::HugeInt, Core::Int))
}

fn float(text: &str) -> Option<Core> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(Core::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    (mantissa_fits && exponent.is_none_or(digits)).then(|| text.parse().map_or(Core::Text, Core::Float))
}
