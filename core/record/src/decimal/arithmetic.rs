//! Arithmetic with one rounding: `cxl.md` 7.3.

use std::cmp::Ordering;

use num_bigint::BigUint;

use super::{Decimal, POWERS, signed};

const MAX: u128 = (1 << 96) - 1;

impl Decimal {
    /// The sum, at the larger of the two scales; `None` when it does not fit even at scale 0.
    pub fn checked_add(self, other: Decimal) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        let (left, right) = (scale - self.scale, scale - other.scale);
        let fast = || {
            let left = self.coefficient.checked_mul(POWERS[usize::from(left)] as i128)?;
            let right = other.coefficient.checked_mul(POWERS[usize::from(right)] as i128)?;
            left.checked_add(right)
        };
        if let Some(sum) = fast() {
            return fit(sum < 0, sum.unsigned_abs(), false, i64::from(scale));
        }
        let left = big(self.coefficient) * BigUint::from(POWERS[usize::from(left)]);
        let right = big(other.coefficient) * BigUint::from(POWERS[usize::from(right)]);
        let negative = self.coefficient < 0;
        if negative == (other.coefficient < 0) {
            return fit_big(negative, left + right, i64::from(scale));
        }
        match left.cmp(&right) {
            Ordering::Less => fit_big(!negative, right - left, i64::from(scale)),
            Ordering::Equal => Decimal::new(0, scale),
            Ordering::Greater => fit_big(negative, left - right, i64::from(scale)),
        }
    }

    /// The difference, under the rules of [`Decimal::checked_add`].
    pub fn checked_sub(self, other: Decimal) -> Option<Decimal> {
        self.checked_add(other.negated())
    }

    /// The product, at the sum of the two scales.
    pub fn checked_mul(self, other: Decimal) -> Option<Decimal> {
        let scale = i64::from(self.scale) + i64::from(other.scale);
        if let Some(product) = self.coefficient.checked_mul(other.coefficient) {
            return fit(product < 0, product.unsigned_abs(), false, scale);
        }
        let negative = (self.coefficient < 0) != (other.coefficient < 0);
        fit_big(negative, big(self.coefficient) * big(other.coefficient), scale)
    }

    /// The quotient: exact at scale `max(0, s1 - s2)` if possible, else in the shortest exact form, else with as many
    /// digits as fit. `None` for a zero divisor and when it does not fit even at scale 0.
    pub fn checked_div(self, other: Decimal) -> Option<Decimal> {
        /// Once a quotient has this many digits, the rest decides no more than the direction of rounding.
        const ENOUGH: u128 = POWERS[36];
        /// One digit beyond the largest scale would do; the second keeps "exactly half" visible.
        const LAST_SCALE: i64 = Decimal::MAX_SCALE as i64 + 2;
        let divisor = other.coefficient.unsigned_abs();
        let mut quotient = self.coefficient.unsigned_abs().checked_div(divisor)?;
        let mut rest = self.coefficient.unsigned_abs() % divisor;
        let mut scale = i64::from(self.scale) - i64::from(other.scale);
        // Long division, digit by digit: the remainder stays below 2^96, so ten times it never overflows.
        while (rest != 0 || scale < 0) && quotient < ENOUGH && scale < LAST_SCALE {
            rest *= 10;
            quotient = quotient * 10 + rest / divisor;
            rest %= divisor;
            scale += 1;
        }
        fit((self.coefficient < 0) != (other.coefficient < 0), quotient, rest != 0, scale)
    }

    /// The remainder of the division truncated toward zero: the sign of the dividend, the larger of the two scales.
    /// `None` for a zero divisor.
    pub fn checked_rem(self, other: Decimal) -> Option<Decimal> {
        let divisor = other.coefficient.unsigned_abs();
        let mut rest = self.coefficient.unsigned_abs();
        if divisor == 0 {
            return None;
        }
        if self.scale >= other.scale {
            // A divisor that leaves 128 bits when aligned is larger than any dividend.
            if let Some(aligned) = divisor.checked_mul(POWERS[usize::from(self.scale - other.scale)]) {
                rest %= aligned;
            }
        } else {
            rest %= divisor;
            for _ in 0..other.scale - self.scale {
                rest = rest * 10 % divisor;
            }
        }
        Decimal::new(signed(self.coefficient < 0, rest), self.scale.max(other.scale))
    }

    /// The negation. It always fits.
    pub fn checked_neg(self) -> Option<Decimal> {
        Some(self.negated())
    }

    /// The exact binary value with trailing zeros dropped, rounded off where it has too many digits. `None` for NaN,
    /// infinities and numbers of 2^96 and more.
    pub fn from_f64(value: f64) -> Option<Decimal> {
        if !value.is_finite() || value.abs() >= 2f64.powi(96) {
            return None;
        }
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        if mantissa == 0 {
            return Some(Decimal::ZERO);
        }
        // value = mantissa * 2^power with an odd mantissa, so that no trailing zero appears below.
        let zeros = mantissa.trailing_zeros();
        let mantissa = u128::from(mantissa >> zeros);
        let power = exponent.max(1) - 1075 + zeros as i32;
        let negative = value < 0.0;
        if power >= 0 {
            return fit(negative, mantissa << power, false, 0);
        }
        let scale = power.unsigned_abs();
        if scale <= 28 {
            return fit(negative, mantissa * 5u128.pow(scale), false, i64::from(scale));
        }
        fit_big(negative, BigUint::from(mantissa) * BigUint::from(5u8).pow(scale), i64::from(scale))
    }
}

/// The decimal `magnitude / 10^scale` at that scale or, if it does not fit there, at the largest smaller scale at which
/// it does, rounded once, half to even. `more` says that the exact value is larger by less than one unit of
/// `magnitude`; the caller passes digits enough that such a value is always rounded here.
pub(super) fn fit(negative: bool, magnitude: u128, more: bool, scale: i64) -> Option<Decimal> {
    if scale < 0 {
        let factor = if magnitude == 0 { 0 } else { *POWERS.get(usize::try_from(-scale).ok()?)? };
        let whole = magnitude.checked_mul(factor)?;
        return (whole <= MAX).then(|| Decimal { coefficient: signed(negative, whole), scale: 0 });
    }
    let mut target = scale.min(i64::from(Decimal::MAX_SCALE));
    loop {
        let rounded = round(magnitude, more, scale - target);
        if rounded <= MAX {
            return Some(Decimal { coefficient: signed(negative, rounded), scale: target as u8 });
        }
        if target == 0 {
            return None;
        }
        // Each step drops at least the digits that surely have to go.
        let excess = i64::from((rounded / MAX).checked_ilog10().unwrap_or(0)).max(1);
        target = (target - excess).max(0);
    }
}

/// `magnitude / 10^drop`, half to even; `more` as in [`fit`].
fn round(magnitude: u128, more: bool, drop: i64) -> u128 {
    if drop == 0 {
        return magnitude;
    }
    let Some(divisor) = usize::try_from(drop).ok().and_then(|drop| POWERS.get(drop)) else {
        // 2^128 is less than half of 10^39.
        return 0;
    };
    let (quotient, rest) = (magnitude / divisor, magnitude % divisor);
    let up = match rest.cmp(&(divisor - rest)) {
        Ordering::Less => false,
        Ordering::Equal => more || quotient % 2 == 1,
        Ordering::Greater => true,
    };
    quotient + u128::from(up)
}

/// [`fit`] for magnitudes beyond 128 bits.
fn fit_big(negative: bool, magnitude: BigUint, scale: i64) -> Option<Decimal> {
    // Cut to at least 36 digits: far more than a coefficient holds, so the rest only decides the rounding.
    let digits = (magnitude.bits() as f64 * std::f64::consts::LOG10_2) as i64;
    let drop = digits - 36;
    if drop <= 0 {
        return fit(negative, magnitude.try_into().ok()?, false, scale);
    }
    let divisor = BigUint::from(10u8).pow(u32::try_from(drop).ok()?);
    let kept = &magnitude / &divisor;
    let more = &kept * divisor != magnitude;
    fit(negative, kept.try_into().expect("at most 38 digits are left"), more, scale - drop)
}

fn big(coefficient: i128) -> BigUint {
    BigUint::from(coefficient.unsigned_abs())
}
