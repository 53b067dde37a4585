//! Identity and time of dead letters, both replaceable so that runs can be compared byte for byte.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::{Builder, Uuid};

/// The wall clock.
pub trait Clock: Send + Sync {
    /// Nanoseconds since 1970-01-01T00:00:00 UTC.
    fn now(&self) -> i128;
}

/// The machine's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i128 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_nanos() as i128,
            Err(before) => -(before.duration().as_nanos() as i128),
        }
    }
}

/// Makes UUIDs of version 7 that never decrease.
pub struct IdSource {
    state: u64,
    milliseconds: u64,
    /// The 74 bits behind the timestamp, counted up within one millisecond.
    tail: u128,
}

const TAIL_BITS: u32 = 74;

impl IdSource {
    /// Ids that nobody else makes.
    pub fn random() -> Self {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        hasher.write_u128(SystemClock.now() as u128);
        Self::seeded(hasher.finish())
    }

    /// The same ids for the same seed and times.
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed, milliseconds: 0, tail: 0 }
    }

    /// Another source of ids, for other things than dead letters; this one does not notice.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::seeded(self.state.rotate_left(32) ^ 0x6A09_E667_F3BC_C908)
    }

    /// SplitMix64: a small generator whose whole state is one number.
    fn random_word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// The next id for a moment (nanoseconds since 1970). A moment before that of the last id counts as that one.
    pub fn next(&mut self, now: i128) -> Uuid {
        let milliseconds = u64::try_from(now / 1_000_000).unwrap_or(0);
        if milliseconds > self.milliseconds {
            self.milliseconds = milliseconds;
            // The top bit stays free, so that counting up within the millisecond cannot run over.
            self.tail =
                (u128::from(self.random_word()) << 64 | u128::from(self.random_word())) >> (128 - TAIL_BITS + 1);
        } else {
            self.tail += 1 + u128::from(self.random_word() >> 40);
            if self.tail >> TAIL_BITS != 0 {
                self.milliseconds += 1;
                self.tail >>= 2;
            }
        }
        let high = (self.tail >> 62) as u16;
        let low = (self.tail as u64) & ((1 << 62) - 1);
        let mut random = [0; 10];
        random[..2].copy_from_slice(&high.to_be_bytes());
        random[2..].copy_from_slice(&low.to_be_bytes());
        Builder::from_unix_timestamp_millis(self.milliseconds, &random).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i128 = 1_927_281_600_000_000_000;

    #[test]
    fn dlq_37_ids_order_as_the_moments_they_were_taken_at_and_never_repeat() {
        let mut ids = IdSource::seeded(1);
        // Many within one millisecond, a clock that steps back, then later ones.
        let moments = (0..20_000).map(|at| NOON + at / 4).chain([NOON - 5_000_000_000, NOON + 7_000_000]);
        let made: Vec<Uuid> = moments.map(|moment| ids.next(moment)).collect();
        assert!(made.windows(2).all(|pair| pair[0] < pair[1]), "each id is larger than the one before it");
        assert!(made.iter().all(|id| id.get_version_num() == 7));
    }

    #[test]
    fn dlq_57_two_sources_of_ids_do_not_meet() {
        let first = IdSource::seeded(1);
        let (mut fork, mut first) = (first.fork(), first);
        let mut other = IdSource::seeded(2);
        let ids = [first.next(NOON), fork.next(NOON), other.next(NOON)];
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
        assert_eq!(IdSource::seeded(1).next(NOON), ids[0], "the same seed gives the same ids");
    }
}
