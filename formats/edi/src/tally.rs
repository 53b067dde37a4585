//! Exact decimal totals.

use clinker_record::Decimal;

/// A sum of decimals that is never rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    coefficient: i128,
    scale: u32,
}

impl Total {
    /// The sum with one more number; `None` when it leaves the range of 38 digits.
    pub(crate) fn plus(self, number: Decimal) -> Option<Total> {
        let other = Total::from(number);
        let scale = self.scale.max(other.scale);
        let coefficient = self.at(scale)?.checked_add(other.at(scale)?)?;
        Some(Total { coefficient, scale }.shortest())
    }

    fn at(self, scale: u32) -> Option<i128> {
        self.coefficient.checked_mul(10i128.checked_pow(scale - self.scale)?)
    }

    /// The same number without zeros at the end of its fraction: equal numbers are then equal values.
    fn shortest(mut self) -> Total {
        while self.scale > 0 && self.coefficient % 10 == 0 {
            self.coefficient /= 10;
            self.scale -= 1;
        }
        self
    }

    /// The digits, for trailers and messages.
    pub(crate) fn digits(self) -> String {
        let sign = if self.coefficient < 0 { "-" } else { "" };
        let digits = self.coefficient.unsigned_abs().to_string();
        let scale = self.scale as usize;
        if scale == 0 {
            return format!("{sign}{digits}");
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        format!("{sign}{whole}.{fraction}")
    }
}

impl From<Decimal> for Total {
    fn from(number: Decimal) -> Self {
        Total { coefficient: number.coefficient(), scale: u32::from(number.scale()) }.shortest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_15_4_sums_are_exact_and_say_when_they_are_too_large() {
        let number = |text: &str| Decimal::parse_literal(text.as_bytes()).unwrap();
        let total = Total::default().plus(number("12.5")).unwrap().plus(number("7.25")).unwrap();
        assert_eq!(total.digits(), "19.75");
        assert_eq!(total, Total::from(number("019.750")));
        assert_eq!(total.plus(number("-19.75")).unwrap(), Total::default());
        assert_eq!(Total::from(number("-0.05")).digits(), "-0.05");
        let large = Total::from(number("79228162514264337593543950335"));
        assert_eq!(large.plus(number("0.0000000001")), None);
        assert_eq!(large.plus(number("1")).unwrap().digits(), "79228162514264337593543950336");
    }
}
