//! Exact base-10 numbers.

/// `coefficient / 10^scale` with |coefficient| < 2^96 and a scale of 0 to 28. There is no negative zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    coefficient: i128,
    scale: u8,
}

impl Decimal {
    /// The largest coefficient.
    pub const MAX_COEFFICIENT: i128 = (1 << 96) - 1;
    /// The largest scale.
    pub const MAX_SCALE: u8 = 28;

    /// A decimal, if coefficient and scale are in range.
    pub fn new(coefficient: i128, scale: u8) -> Option<Decimal> {
        (coefficient.unsigned_abs() <= Self::MAX_COEFFICIENT.unsigned_abs() && scale <= Self::MAX_SCALE)
            .then_some(Decimal { coefficient, scale })
    }

    /// The unscaled value.
    pub fn coefficient(self) -> i128 {
        self.coefficient
    }

    /// The number of digits after the point.
    pub fn scale(self) -> u8 {
        self.scale
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
}
