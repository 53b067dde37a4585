//! Exact base-10 numbers.

use std::cmp::Ordering;
use std::fmt;

use arrow_array::{Array, FixedSizeBinaryArray};
use arrow_buffer::Buffer;

use crate::Column;
use crate::column::decimal_at;

mod arithmetic;
mod parse;
#[cfg(test)]
mod tests;

/// `coefficient / 10^scale` with |coefficient| < 2^96 and a scale of 0 to 28. There is no negative zero.
///
/// `==` compares coefficient and scale, so `2.5` and `2.50` differ; [`Decimal::numeric_cmp`] compares the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    coefficient: i128,
    scale: u8,
}

/// The powers of ten that fit in 128 bits.
pub(crate) const POWERS: [u128; 39] = {
    let mut powers = [1u128; 39];
    let mut at = 1;
    while at < 39 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

impl Decimal {
    /// The largest coefficient.
    pub const MAX_COEFFICIENT: i128 = (1 << 96) - 1;
    /// The largest scale.
    pub const MAX_SCALE: u8 = 28;
    /// Zero with scale 0.
    pub const ZERO: Decimal = Decimal { coefficient: 0, scale: 0 };

    /// A decimal, if coefficient and scale are in range.
    pub fn new(coefficient: i128, scale: u8) -> Option<Decimal> {
        (coefficient.unsigned_abs() <= Self::MAX_COEFFICIENT.unsigned_abs() && scale <= Self::MAX_SCALE)
            .then_some(Decimal { coefficient, scale })
    }

    /// An integer as a decimal of scale 0.
    pub fn from_i64(value: i64) -> Decimal {
        Decimal { coefficient: i128::from(value), scale: 0 }
    }

    /// The unscaled value.
    pub fn coefficient(self) -> i128 {
        self.coefficient
    }

    /// The number of digits after the point.
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// Whether the number is zero, at any scale.
    pub fn is_zero(self) -> bool {
        self.coefficient == 0
    }

    /// The number of digits of the unscaled value; zero has one.
    pub fn digits(self) -> u8 {
        let magnitude = self.coefficient.unsigned_abs();
        if magnitude == 0 { 1 } else { magnitude.ilog10() as u8 + 1 }
    }

    /// 16 bytes, little endian: 96 bits of magnitude, then the scale, a zero byte, a zero byte and the sign (0 or 1).
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = self.coefficient.unsigned_abs().to_le_bytes();
        bytes[12] = self.scale;
        bytes[13] = 0;
        bytes[14] = 0;
        bytes[15] = u8::from(self.coefficient < 0);
        bytes
    }

    /// The inverse of [`Decimal::to_bytes`].
    pub fn from_bytes(bytes: [u8; 16]) -> Decimal {
        let mut magnitude = bytes;
        magnitude[12..].fill(0);
        let magnitude = i128::from_le_bytes(magnitude);
        Decimal { coefficient: if bytes[15] == 0 { magnitude } else { -magnitude }, scale: bytes[12] }
    }

    /// The order of the numbers, whatever their scales.
    pub fn numeric_cmp(self, other: Decimal) -> Ordering {
        let signs = self.coefficient.signum().cmp(&other.coefficient.signum());
        if signs != Ordering::Equal || self.scale == other.scale {
            return signs.then(self.coefficient.cmp(&other.coefficient));
        }
        let scale = self.scale.max(other.scale);
        let aligned = |decimal: Decimal| {
            decimal.coefficient.unsigned_abs().checked_mul(POWERS[usize::from(scale - decimal.scale)])
        };
        // At most one side is multiplied; when it leaves 128 bits it is the larger one.
        let magnitudes = match (aligned(self), aligned(other)) {
            (Some(left), Some(right)) => left.cmp(&right),
            (None, _) => Ordering::Greater,
            (_, None) => Ordering::Less,
        };
        if self.coefficient < 0 { magnitudes.reverse() } else { magnitudes }
    }

    /// The same number at another scale, if that needs no rounding and fits.
    pub fn rescale_exact(self, scale: u8) -> Option<Decimal> {
        if scale >= self.scale {
            let factor = *POWERS.get(usize::from(scale - self.scale))? as i128;
            return Decimal::new(self.coefficient.checked_mul(factor)?, scale);
        }
        let divisor = POWERS[usize::from(self.scale - scale)] as i128;
        (self.coefficient % divisor == 0).then(|| Decimal { coefficient: self.coefficient / divisor, scale })
    }

    /// The number at exactly `scale` digits after the point, rounded half to even; `None` when it does not fit.
    pub fn rescale_half_even(self, scale: u8) -> Option<Decimal> {
        if scale >= self.scale { self.rescale_exact(scale) } else { Some(self.round_half_even(scale)) }
    }

    /// Rounded half to even at `places` digits after the point; unchanged when it has no more than that.
    #[must_use]
    pub fn round_half_even(self, places: u8) -> Decimal {
        if places >= self.scale {
            return self;
        }
        let divisor = POWERS[usize::from(self.scale - places)];
        let magnitude = self.coefficient.unsigned_abs();
        let (quotient, rest) = (magnitude / divisor, magnitude % divisor);
        let up = match rest.cmp(&(divisor - rest)) {
            Ordering::Less => false,
            Ordering::Equal => quotient % 2 == 1,
            Ordering::Greater => true,
        };
        Decimal { coefficient: signed(self.coefficient < 0, quotient + u128::from(up)), scale: places }
    }

    /// The largest whole number not above it, at scale 0.
    #[must_use]
    pub fn floor(self) -> Decimal {
        let divisor = POWERS[usize::from(self.scale)] as i128;
        Decimal { coefficient: self.coefficient.div_euclid(divisor), scale: 0 }
    }

    /// The smallest whole number not below it, at scale 0.
    #[must_use]
    pub fn ceil(self) -> Decimal {
        self.negated().floor().negated()
    }

    /// The magnitude, at the same scale.
    #[must_use]
    pub fn abs(self) -> Decimal {
        Decimal { coefficient: self.coefficient.abs(), scale: self.scale }
    }

    /// Truncated toward zero, if the result is a 64-bit integer.
    pub fn to_i64(self) -> Option<i64> {
        i64::try_from(self.coefficient / POWERS[usize::from(self.scale)] as i128).ok()
    }

    /// The 64-bit integer of exactly this value, if there is one.
    pub fn to_i64_exact(self) -> Option<i64> {
        self.rescale_exact(0).and_then(Decimal::to_i64)
    }

    /// The nearest binary64 number.
    pub fn to_f64(self) -> f64 {
        const EXACT: u128 = 1 << 53;
        if self.coefficient.unsigned_abs() <= EXACT && self.scale <= 22 {
            // Both operands are exact in binary64, so the one division rounds correctly.
            return self.coefficient as f64 / POWERS[usize::from(self.scale)] as f64;
        }
        self.to_string().parse().expect("the digits of a decimal are a float literal")
    }

    /// Compares with a binary64 number near to this one (its nearest one, or a neighbour of that), exactly.
    pub fn cmp_f64(self, near: f64) -> Ordering {
        let (mine, other) = (self.coefficient, near);
        let sign = |negative: bool, zero: bool| {
            if zero {
                0
            } else if negative {
                -1
            } else {
                1
            }
        };
        let (left, right) = (sign(mine < 0, mine == 0), sign(other < 0.0, other == 0.0));
        if left != right || left == 0 {
            return left.cmp(&right);
        }
        let bits = other.abs().to_bits();
        let exponent = (bits >> 52) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let mantissa = u128::from(if exponent == 0 { fraction } else { fraction | 1 << 52 });
        let power = exponent.max(1) - 1075;
        // |self| * 10^scale against mantissa * 2^power * 10^scale. The two are nearly equal, so neither side is longer
        // than 150 bits.
        let scaled = widening_mul(mantissa, POWERS[usize::from(self.scale)]);
        let magnitude = (0, mine.unsigned_abs());
        let order = if power >= 0 {
            magnitude.cmp(&shifted(scaled, power.unsigned_abs()))
        } else {
            shifted(magnitude, power.unsigned_abs()).cmp(&scaled)
        };
        if left < 0 { order.reverse() } else { order }
    }

    /// Appends the digits, exactly `scale` of them after the point.
    pub fn append_to(self, out: &mut Vec<u8>) {
        if self.coefficient < 0 {
            out.push(b'-');
        }
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(self.coefficient.unsigned_abs()).as_bytes();
        let scale = usize::from(self.scale);
        if scale == 0 {
            out.extend_from_slice(digits);
        } else if digits.len() > scale {
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            out.extend_from_slice(whole);
            out.push(b'.');
            out.extend_from_slice(fraction);
        } else {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + scale - digits.len(), b'0');
            out.extend_from_slice(digits);
        }
    }

    fn negated(self) -> Decimal {
        Decimal { coefficient: -self.coefficient, scale: self.scale }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = Vec::with_capacity(40);
        self.append_to(&mut digits);
        out.write_str(std::str::from_utf8(&digits).expect("digits are ASCII"))
    }
}

/// A product as (high, low) halves of 128 bits; the first factor has less than 64 bits.
fn widening_mul(small: u128, factor: u128) -> (u128, u128) {
    let low = small * (factor & u128::from(u64::MAX));
    let high = small * (factor >> 64);
    let (low, carry) = low.overflowing_add(high << 64);
    ((high >> 64) + u128::from(carry), low)
}

/// A 256-bit number shifted left; what leaves it on the left is lost.
fn shifted((high, low): (u128, u128), by: u32) -> (u128, u128) {
    match by {
        0 => (high, low),
        1..128 => (high << by | low >> (128 - by), low << by),
        128..256 => (low << (by - 128), 0),
        _ => (0, 0),
    }
}

/// A decimal column with every value at exactly `scale` digits after the point, rounded half to even. A value that does
/// not fit that scale keeps its own; columns of another kind are unchanged.
pub fn round_column(column: &Column, scale: u8) -> Column {
    let Column::Decimal(array) = column else {
        return column.clone();
    };
    let rounded = |row| {
        let value = decimal_at(array, row);
        i128::from_ne_bytes(value.rescale_half_even(scale).unwrap_or(value).to_bytes())
    };
    let values = (0..array.len()).map(|row| if array.is_null(row) { 0 } else { rounded(row) }).collect();
    Column::Decimal(FixedSizeBinaryArray::new(16, Buffer::from_vec(values), array.nulls().cloned()))
}

/// A magnitude below 2^127 with its sign.
fn signed(negative: bool, magnitude: u128) -> i128 {
    if negative { -(magnitude as i128) } else { magnitude as i128 }
}
