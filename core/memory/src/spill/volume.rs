//! What kind of file system a directory is on.

use std::io;
use std::path::Path;

/// A kind of file system, as far as it matters to spilled state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volume {
    /// On a disk, or of a kind that is not known.
    Disk,
    /// In memory.
    Memory,
    /// On another machine.
    Network,
}

/// The kind of file system a directory is on.
///
/// # Errors
/// It is none, or cannot be looked at.
pub fn volume(directory: &Path) -> io::Result<Volume> {
    if !std::fs::metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    kind(directory)
}

#[cfg(target_os = "linux")]
fn kind(directory: &Path) -> io::Result<Volume> {
    /// tmpfs and ramfs, by the numbers of `statfs(2)`.
    const MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58F6];
    /// NFS, SMB, CIFS, SMB2, Coda, AFS, 9P, Ceph.
    const NETWORK: [u32; 8] =
        [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x7375_7245, 0x5346_414F, 0x0102_1997, 0x00C3_6400];
    let number = rustix::fs::statfs(directory)?.f_type as u32;
    Ok(match number {
        _ if MEMORY.contains(&number) => Volume::Memory,
        _ if NETWORK.contains(&number) => Volume::Network,
        _ => Volume::Disk,
    })
}

#[cfg(not(target_os = "linux"))]
fn kind(_directory: &Path) -> io::Result<Volume> {
    Ok(Volume::Disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e330_a_file_system_in_memory_is_known() {
        let shared = Path::new("/dev/shm");
        if cfg!(target_os = "linux") && shared.is_dir() {
            assert_eq!(volume(shared).expect("it is there"), Volume::Memory);
        }
        assert!(volume(Path::new("/no/such/directory")).is_err());
    }

    #[test]
    fn e331_a_disk_is_no_network() {
        assert_eq!(volume(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("it is there"), Volume::Disk);
    }
}
