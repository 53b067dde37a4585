use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::*;

fn parent() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn frames() -> Vec<Vec<u8>> {
    vec![b"first".to_vec(), Vec::new(), vec![7; 100_000], (0..=255).cycle().take(3000).collect()]
}

fn written(directory: &Arc<SpillDirectory>) -> SpillFile {
    written_as(directory, false)
}

fn written_as(directory: &Arc<SpillDirectory>, compress: bool) -> SpillFile {
    let mut writer = directory.create(&stage(), compress).expect("a file");
    frames().iter().for_each(|frame| writer.frame(frame).expect("it is written"));
    writer.finish().expect("it is complete")
}

fn read(file: &SpillFile) -> Result<Vec<Vec<u8>>, SpillError> {
    let (mut reader, mut frames, mut frame) = (file.open()?, Vec::new(), Vec::new());
    while reader.frame(&mut frame)? {
        frames.push(frame.clone());
    }
    Ok(frames)
}

fn only_file(directory: &SpillDirectory) -> PathBuf {
    let entries = fs::read_dir(directory.path()).expect("the directory").flatten();
    entries.map(|entry| entry.path()).find(|path| path.extension().is_some()).expect("a spill file")
}

fn stage() -> Arc<str> {
    Arc::from("by_key")
}

#[test]
fn eng_9_2_frames_come_back_as_often_as_they_are_read_and_the_bytes_are_counted() {
    for compress in [false, true] {
        let parent = parent();
        let directory = SpillDirectory::new(parent.path(), "a", None);
        let file = written_as(&directory, compress);
        assert_eq!(read(&file).expect("it reads"), frames());
        assert_eq!(read(&file).expect("it reads again"), frames());
        let size = fs::metadata(only_file(&directory)).expect("the file").len();
        assert_eq!((file.bytes(), directory.live()), (size, size));
        drop(file);
        assert_eq!(directory.live(), 0);
        assert_eq!(directory.written(), size);
        let path = directory.path().to_owned();
        drop(directory);
        assert!(!path.exists());
    }
}

#[test]
fn eng_9_2_damage_is_an_error_and_never_a_shorter_result() {
    for compress in [false, true] {
        let parent = parent();
        let directory = SpillDirectory::new(parent.path(), "a", None);
        let file = written_as(&directory, compress);
        let path = only_file(&directory);
        let whole = fs::read(&path).expect("the bytes");
        for end in (0..whole.len()).step_by(if compress { 1 } else { 97 }) {
            fs::write(&path, &whole[..end]).expect("cut");
            assert!(matches!(read(&file), Err(SpillError::Corrupt { .. })), "cut at {end}");
        }
        for at in (0..whole.len()).step_by(if compress { 1 } else { 97 }) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            fs::write(&path, &damaged).expect("damaged");
            assert!(matches!(read(&file), Err(SpillError::Corrupt { .. })), "damaged at {at}");
        }
    }
}

#[test]
fn e320_the_cap_counts_what_is_on_disk_at_one_moment() {
    let parent = parent();
    let directory = SpillDirectory::new(parent.path(), "a", Some(1000));
    let mut writer = directory.create(&stage(), false).expect("a file");
    writer.frame(&[1; 600]).expect("it fits");
    let refused = writer.frame(&[1; 600]).expect_err("it does not");
    assert!(matches!(refused, SpillError::Quota { cap: 1000, live: 614, refused: 608 }), "{refused:?}");
    assert_eq!(refused.code(), Some("E320"));
    drop(writer);
    assert_eq!(directory.live(), 0, "an unfinished file is gone");
    let mut writer = directory.create(&stage(), false).expect("a file");
    writer.frame(&[1; 900]).expect("there is room again");
}

#[test]
fn eng_101_a_directory_that_disappeared_is_reported() {
    let parent = parent();
    let directory = SpillDirectory::new(parent.path(), "a", None);
    let file = written(&directory);
    fs::remove_dir_all(directory.path()).expect("removed");
    assert!(matches!(read(&file), Err(SpillError::Gone { .. })));
    assert!(matches!(directory.create(&stage(), false), Err(SpillError::Gone { .. })));
}

#[test]
fn eng_104_only_directories_of_dead_runs_are_removed() {
    let parent = parent();
    let live = SpillDirectory::new(parent.path(), "live", None);
    let kept = written(&live);
    let dead = parent.path().join("clinker-spill-dead");
    fs::create_dir(&dead).expect("a directory");
    fs::write(dead.join(".lock"), "").expect("a free lock");
    fs::write(dead.join("00000000.spill"), "x").expect("a file");
    fs::create_dir(parent.path().join("other")).expect("not ours");
    assert_eq!(purge_orphans(parent.path(), SystemTime::now()), 0, "both may be just starting");
    let later = SystemTime::now() + Duration::from_secs(60);
    assert_eq!(purge_orphans(parent.path(), later), 1);
    assert!(!dead.exists() && live.path().exists() && parent.path().join("other").exists());
    assert_eq!(read(&kept).expect("it reads"), frames());
}

#[cfg(unix)]
#[test]
fn eng_103_the_directory_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let parent = parent();
    let directory = SpillDirectory::new(parent.path(), "a", None);
    assert!(!directory.path().exists(), "nothing is made before it is needed");
    let _file = written(&directory);
    let mode = fs::metadata(directory.path()).expect("the directory").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn e321_a_full_volume_is_told_from_other_failures() {
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let error = SpillError::of(std::path::Path::new("x"), "write", full);
    assert_eq!(error.code(), Some("E321"));
    let other = SpillError::of(std::path::Path::new("x"), "write", std::io::Error::other("broken"));
    assert_eq!(other.code(), None);
}

#[test]
fn eng_9_2_a_frame_of_one_large_record_is_stored_in_pieces() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = SpillDirectory::new(parent.path(), "run", None);
    let large: Vec<u8> = (0..2 * MAX_FRAME + 17).map(|at| (at % 251) as u8).collect();
    for compress in [false, true] {
        let mut writer = directory.create(&stage(), compress).expect("it is created");
        for frame in [&b"before"[..], &large, b"", b"behind"] {
            writer.frame(frame).expect("it is written");
        }
        let file = writer.finish().expect("it is complete");
        let (mut reader, mut frame) = (file.open().expect("it opens"), Vec::new());
        for expected in [&b"before"[..], &large, b"", b"behind"] {
            assert!(reader.frame(&mut frame).expect("it is read") && frame == expected);
        }
        assert!(!reader.frame(&mut frame).expect("the end"));
    }
    assert_eq!(directory.stages().len(), 1, "both files are of one stage");
}
