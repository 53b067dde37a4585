//! Decimal literals.

use super::arithmetic::fit;
use super::{Decimal, POWERS};

/// A literal cut into its parts: sign, digits before and after the point.
struct Literal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
}

/// Splits `[+-]?[0-9]+(\.[0-9]+)?` off the front; the rest is returned.
fn split(text: &[u8]) -> Option<(Literal<'_>, &[u8])> {
    let (negative, text) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (whole, mut rest) = text.split_at(digits(text));
    if whole.is_empty() {
        return None;
    }
    let mut fraction: &[u8] = &[];
    if let [b'.', after @ ..] = rest {
        (fraction, rest) = after.split_at(digits(after));
        if fraction.is_empty() {
            return None;
        }
    }
    Some((Literal { negative, whole, fraction }, rest))
}

/// A literal of at most 18 digits, the common case: they need no wide arithmetic.
#[inline]
fn parse_short(text: &[u8]) -> Option<Decimal> {
    let (negative, body) = match text {
        [b'-', body @ ..] => (true, body),
        [b'+', body @ ..] => (false, body),
        body => (false, body),
    };
    if body.len() > 18 || !body.first()?.is_ascii_digit() || !body.last()?.is_ascii_digit() {
        return None;
    }
    let (mut magnitude, mut point) = (0u64, body.len() - 1);
    for (at, byte) in body.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            magnitude = magnitude * 10 + u64::from(digit);
        } else if *byte == b'.' && point == body.len() - 1 {
            point = at;
        } else {
            return None;
        }
    }
    let magnitude = i128::from(magnitude);
    let scale = (body.len() - 1 - point) as u8;
    Some(Decimal { coefficient: if negative { -magnitude } else { magnitude }, scale })
}

impl Decimal {
    /// The literal `[+-]?[0-9]+(\.[0-9]+)?` at the scale it is written with: exact or nothing.
    #[inline]
    pub fn parse_literal(text: &[u8]) -> Option<Decimal> {
        if let Some(short) = parse_short(text) {
            return Some(short);
        }
        let (literal, []) = split(text)? else {
            return None;
        };
        literal.exact(literal.fraction)
    }

    /// The literal of [`Decimal::parse_literal`] at a declared scale: nothing when that would need rounding.
    #[inline]
    pub fn parse_literal_at(text: &[u8], scale: u8) -> Option<Decimal> {
        if let Some(found) = parse_short(text).and_then(|short| short.rescale_exact(scale)) {
            return Some(found);
        }
        let (literal, []) = split(text)? else {
            return None;
        };
        // Zeros beyond the declared scale carry nothing, however many they are.
        let keep = usize::from(scale).min(literal.fraction.len());
        let (fraction, surplus) = literal.fraction.split_at(keep);
        if surplus.iter().any(|digit| *digit != b'0') {
            return None;
        }
        literal.exact(fraction)?.rescale_exact(scale)
    }

    /// Whether the text has the form of [`Decimal::parse_literal`], whatever its size.
    pub fn is_literal(text: &[u8]) -> bool {
        matches!(split(text), Some((_, [])))
    }

    /// A JSON number, which may have an exponent, at a declared scale or at the scale its digits have: exact or nothing.
    pub(crate) fn parse_number(literal: &str, scale: Option<u8>) -> Option<Decimal> {
        let Some(end) = literal.find(['e', 'E']) else {
            return match scale {
                Some(scale) => Decimal::parse_literal_at(literal.as_bytes(), scale),
                None => Decimal::parse_literal(literal.as_bytes()),
            };
        };
        let digits = Decimal::parse_literal(&literal.as_bytes()[..end])?;
        let own = i64::from(digits.scale()) - parse_exponent(&literal.as_bytes()[end..])?;
        let value = if own >= 0 {
            Decimal::new(digits.coefficient(), u8::try_from(own).ok()?)?
        } else {
            let factor = *POWERS.get(usize::try_from(-own).ok()?)? as i128;
            Decimal::new(digits.coefficient().checked_mul(factor)?, 0)?
        };
        scale.map_or(Some(value), |scale| value.rescale_exact(scale))
    }

    /// The literal of `to_decimal` (`cxl.md` 10.8): an exponent may follow, and digits that do not fit are rounded off.
    pub fn parse_cxl(text: &str) -> Option<Decimal> {
        /// More digits than a coefficient holds; those that follow only decide the rounding.
        const KEPT: u32 = 36;
        let (literal, rest) = split(text.as_bytes())?;
        let exponent = parse_exponent(rest)?;
        let (mut magnitude, mut kept, mut dropped, mut more) = (0u128, 0, 0i64, false);
        for digit in literal.whole.iter().chain(literal.fraction) {
            if kept == KEPT {
                dropped += 1;
                more |= *digit != b'0';
            } else {
                magnitude = magnitude * 10 + u128::from(digit - b'0');
                kept += u32::from(magnitude != 0);
            }
        }
        let scale = i64::try_from(literal.fraction.len()).ok()?.saturating_sub(exponent);
        if magnitude == 0 {
            return Decimal::new(0, scale.clamp(0, i64::from(Decimal::MAX_SCALE)) as u8);
        }
        fit(literal.negative, magnitude, more, scale.saturating_sub(dropped))
    }
}

/// An optional exponent, saturated far outside what can matter.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    let [b'e' | b'E', text @ ..] = text else {
        return text.is_empty().then_some(0);
    };
    let (negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0i64, |value, digit| (value * 10 + i64::from(digit - b'0')).min(1 << 40));
    Some(if negative { -value } else { value })
}

impl Literal<'_> {
    /// The literal with that many of its fraction digits, if it fits as it is.
    fn exact(&self, fraction: &[u8]) -> Option<Decimal> {
        let scale = u8::try_from(fraction.len()).ok().filter(|scale| *scale <= Decimal::MAX_SCALE)?;
        let mut magnitude = 0u128;
        for digit in self.whole.iter().chain(fraction) {
            // 10^37 * 10 still fits in 128 bits; anything larger is out of range anyway.
            if magnitude >= POWERS[37] {
                return None;
            }
            magnitude = magnitude * 10 + u128::from(digit - b'0');
        }
        let magnitude = i128::try_from(magnitude).ok()?;
        Decimal::new(if self.negative { -magnitude } else { magnitude }, scale)
    }
}
