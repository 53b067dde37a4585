use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use super::Decimal;
use crate::testing::Random;

/// The rules of `cxl.md` 7.3 on rationals of unlimited size, by trying every scale.
mod oracle {
    use super::*;

    fn ten(power: u32) -> BigInt {
        BigInt::from(10).pow(power)
    }

    /// `numerator / denominator` rounded half to even.
    fn round(numerator: &BigInt, denominator: &BigInt) -> BigInt {
        let negative = (numerator.sign() == Sign::Minus) != (denominator.sign() == Sign::Minus);
        let (numerator, denominator) = (numerator.magnitude(), denominator.magnitude());
        let (mut quotient, rest) = (numerator / denominator, numerator % denominator);
        let twice = &rest + &rest;
        if twice > *denominator || twice == *denominator && quotient.bit(0) {
            quotient += 1u8;
        }
        BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, quotient)
    }

    fn in_range(value: &BigInt) -> bool {
        value.magnitude().bits() <= 96
    }

    fn decimal(value: &BigInt, scale: i64) -> Decimal {
        Decimal::new(i128::try_from(value).unwrap(), scale as u8).unwrap()
    }

    /// The fraction at the wished scale, or at the largest smaller one that fits.
    pub fn fit(numerator: &BigInt, denominator: &BigInt, scale: i64) -> Option<Decimal> {
        (0..=scale.clamp(0, 28)).rev().find_map(|scale| {
            let value = round(&(numerator * ten(scale as u32)), denominator);
            in_range(&value).then(|| decimal(&value, scale))
        })
    }

    fn parts(value: Decimal) -> (BigInt, BigInt) {
        (BigInt::from(value.coefficient()), ten(u32::from(value.scale())))
    }

    pub fn add(left: Decimal, right: Decimal) -> Option<Decimal> {
        let ((a, b), (c, d)) = (parts(left), parts(right));
        fit(&(a * &d + c * &b), &(b * d), i64::from(left.scale().max(right.scale())))
    }

    pub fn mul(left: Decimal, right: Decimal) -> Option<Decimal> {
        let ((a, b), (c, d)) = (parts(left), parts(right));
        fit(&(a * c), &(b * d), i64::from(left.scale()) + i64::from(right.scale()))
    }

    pub fn div(left: Decimal, right: Decimal) -> Option<Decimal> {
        let ((a, b), (c, d)) = (parts(left), parts(right));
        let (numerator, denominator) = (a * d, b * c);
        if denominator.sign() == Sign::NoSign {
            return None;
        }
        let start = (i64::from(left.scale()) - i64::from(right.scale())).max(0);
        for scale in start..=28 {
            let scaled = &numerator * ten(scale as u32);
            let exact = (&scaled % &denominator).sign() == Sign::NoSign;
            if exact && in_range(&(&scaled / &denominator)) {
                return Some(decimal(&(scaled / &denominator), scale));
            }
        }
        fit(&numerator, &denominator, 28)
    }

    pub fn rem(left: Decimal, right: Decimal) -> Option<Decimal> {
        let scale = left.scale().max(right.scale());
        let a = BigInt::from(left.coefficient()) * ten(u32::from(scale - left.scale()));
        let b = BigInt::from(right.coefficient()) * ten(u32::from(scale - right.scale()));
        (b.sign() != Sign::NoSign).then(|| decimal(&(a % b), i64::from(scale)))
    }

    pub fn cmp(left: Decimal, right: Decimal) -> Ordering {
        let ((a, b), (c, d)) = (parts(left), parts(right));
        (a * d).cmp(&(c * b))
    }
}

fn any_decimal(random: &mut Random) -> Decimal {
    let bits = random.below(97) as u32;
    let magnitude = if bits == 0 { 0 } else { random.wide() >> (128 - bits) };
    let magnitude = match random.below(8) {
        // Round numbers, numbers at the edge and small ones are where rules change.
        0 => 10u128.pow(random.below(29) as u32),
        1 => (1 << 96) - 1 - u128::from(random.below(3)),
        2 => u128::from(random.below(12)),
        3 => u128::from(random.below(1000)) * 10u128.pow(random.below(20) as u32),
        _ => magnitude,
    };
    let sign = if random.below(2) == 0 { 1 } else { -1 };
    Decimal::new(magnitude as i128 * sign, random.below(29) as u8).unwrap()
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse_literal(text.as_bytes()).unwrap_or_else(|| panic!("{text} is a literal"))
}

#[test]
fn cxl_7_3_decimal_arithmetic_agrees_with_unlimited_rationals() {
    let mut random = Random::new(7);
    for _ in 0..60_000 {
        let (a, b) = (any_decimal(&mut random), any_decimal(&mut random));
        assert_eq!(a.checked_add(b), oracle::add(a, b), "{a} + {b}");
        assert_eq!(a.checked_sub(b), oracle::add(a, b.checked_neg().unwrap()), "{a} - {b}");
        assert_eq!(a.checked_mul(b), oracle::mul(a, b), "{a} * {b}");
        assert_eq!(a.checked_div(b), oracle::div(a, b), "{a} / {b}");
        assert_eq!(a.checked_rem(b), oracle::rem(a, b), "{a} % {b}");
        assert_eq!(a.numeric_cmp(b), oracle::cmp(a, b), "{a} <> {b}");
    }
}

#[test]
fn cxl_7_3_examples() {
    let div = |a: &str, b: &str| decimal(a).checked_div(decimal(b)).unwrap();
    assert_eq!(decimal("12.40").checked_mul(decimal("3")).unwrap().to_string(), "37.20");
    assert_eq!(div("10.00", "3").to_string(), "3.3333333333333333333333333333");
    assert_eq!(div("9.00", "2").to_string(), "4.50");
    assert_eq!(div("10", "4").to_string(), "2.5");
    let third = div("10", "3");
    assert_eq!(third.checked_add(decimal("100")).unwrap().to_string(), "103.33333333333333333333333333");
    assert_eq!(third.checked_mul(decimal("3")).unwrap().to_string(), "10.000000000000000000000000000");
    assert_eq!(decimal("0.00").checked_mul(decimal("5.0")).unwrap().to_string(), "0.000");
    assert_eq!(decimal("-7.5").checked_rem(decimal("2")).unwrap().to_string(), "-1.5");
    assert_eq!(decimal("1").checked_div(decimal("0.00")), None);
    let largest = Decimal::new(Decimal::MAX_COEFFICIENT, 0).unwrap();
    assert_eq!(largest.checked_add(decimal("1")), None);
    assert_eq!(largest.checked_div(decimal("0.1")), None);
}

#[test]
fn cxl_10_4_rounding_and_scales() {
    let round = |text: &str, places| decimal(text).round_half_even(places).to_string();
    assert_eq!(round("7.125", 2), "7.12");
    assert_eq!(round("7.135", 2), "7.14");
    assert_eq!(round("-7.125", 2), "-7.12");
    assert_eq!(round("7.1", 2), "7.1");
    assert_eq!(round("0.5", 0), "0");
    assert_eq!(decimal("-2.1").floor().to_string(), "-3");
    assert_eq!(decimal("-2.1").ceil().to_string(), "-2");
    assert_eq!(decimal("2.1").ceil().to_string(), "3");
    assert_eq!(decimal("2.00").floor().to_string(), "2");
    assert_eq!(decimal("-6.9").to_i64(), Some(-6));
    assert_eq!(decimal("9223372036854775808").to_i64(), None);
    assert_eq!(decimal("6.0").to_i64_exact(), Some(6));
    assert_eq!(decimal("6.1").to_i64_exact(), None);
    assert_eq!(decimal("1.50").rescale_exact(1), Some(decimal("1.5")));
    assert_eq!(decimal("1.55").rescale_exact(1), None);
    assert_eq!(decimal("1.5").rescale_exact(4), Some(decimal("1.5000")));
    assert_eq!(decimal("1.55").rescale_half_even(1), Some(decimal("1.6")));
    assert_eq!(Decimal::new(Decimal::MAX_COEFFICIENT, 0).unwrap().rescale_exact(1), None);
}

#[test]
fn formats_1_4_decimal_literals() {
    for (text, shown) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.00", "0.00"),
        ("+1", "1"),
        ("007.10", "7.10"),
        ("-.0", ""),
        (".5", ""),
        ("5.", ""),
        ("", ""),
        ("+", ""),
        ("1e3", ""),
        (" 1", ""),
        ("1 ", ""),
        ("1_000", ""),
        ("1,5", ""),
        ("١", ""),
        ("NaN", ""),
        ("79228162514264337593543950335", "79228162514264337593543950335"),
        ("79228162514264337593543950336", ""),
        ("0.1234567890123456789012345678", "0.1234567890123456789012345678"),
        ("0.12345678901234567890123456789", ""),
    ] {
        let found = Decimal::parse_literal(text.as_bytes()).map(|value| value.to_string());
        assert_eq!(found.as_deref().unwrap_or(""), shown, "{text}");
    }
    assert_eq!(Decimal::parse_literal("9".repeat(400).as_bytes()), None);
    assert_eq!(Decimal::parse_literal(("0".repeat(400) + "9").as_bytes()), Some(decimal("9")));
    assert_eq!(Decimal::parse_literal_at(("1.".to_owned() + &"0".repeat(400)).as_bytes(), 2), Some(decimal("1.00")));
    assert_eq!(Decimal::parse_literal_at(b"1.005", 2), None);
}

#[test]
fn cxl_10_8_to_decimal_rounds_what_does_not_fit() {
    for (text, shown) in [
        ("3.10", "3.10"),
        ("1.10e1", "11.0"),
        ("1e3", "1000"),
        ("1E-3", "0.001"),
        ("1.5e+1", "15"),
        ("0e999999999999999999999", "0"),
        ("1e-999999999999999999999", "0.0000000000000000000000000000"),
        ("0.12345678901234567890123456785", "0.1234567890123456789012345678"),
        ("0.123456789012345678901234567850000000000000000000001", "0.1234567890123456789012345679"),
        ("79228162514264337593543950335.4", "79228162514264337593543950335"),
        ("79228162514264337593543950335.5", ""),
        ("1e29", ""),
        ("1e", ""),
        (".5", ""),
        ("5.", ""),
        ("inf", ""),
    ] {
        let found = Decimal::parse_cxl(text).map(|value| value.to_string());
        assert_eq!(found.as_deref().unwrap_or(""), shown, "{text}");
    }
    let from = |value: f64| Decimal::from_f64(value).map(|value| value.to_string()).unwrap_or_default();
    assert_eq!(from(0.5), "0.5");
    assert_eq!(from(-0.0), "0");
    assert_eq!(from(0.1), "0.1000000000000000055511151231");
    assert_eq!(from(100.0), "100");
    assert_eq!(from(5e-324), "0.0000000000000000000000000000");
    assert_eq!(from(79228162514264337593543950336.0), "");
    assert_eq!(from(f64::NAN), "");
    assert_eq!(from(f64::INFINITY), "");
}

#[test]
fn cxl_10_8_float_conversions_agree_with_exact_digits() {
    let mut random = Random::new(11);
    for _ in 0..20_000 {
        let value = any_decimal(&mut random);
        assert_eq!(value.to_f64().to_bits(), value.to_string().parse::<f64>().unwrap().to_bits(), "{value}");
        let float = f64::from_bits(random.next());
        if float.is_finite() && float.abs() < 1e28 {
            // The standard library prints the exact binary value when asked for enough digits.
            let digits = format!("{float:.1080}");
            let expected = Decimal::parse_cxl(digits.trim_end_matches('0').trim_end_matches('.'));
            assert_eq!(Decimal::from_f64(float), expected, "{float:e}");
        }
    }
}

#[test]
fn cxl_4_1_sixteen_bytes_keep_value_and_scale() {
    let mut random = Random::new(13);
    for _ in 0..5_000 {
        let value = any_decimal(&mut random);
        assert_eq!(Decimal::from_bytes(value.to_bytes()), value);
        assert_eq!(Decimal::parse_literal(value.to_string().as_bytes()), Some(value));
        assert_eq!(value.digits() as usize, value.coefficient().unsigned_abs().to_string().len());
    }
}
