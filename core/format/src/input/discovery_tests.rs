use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use super::discovery::{FileOrder, FileSelection, NoMatch, SortBy};

const NOW: i128 = 1_000_000 * 1_000_000_000;

/// A tree of files; the content of each is as long as its name, its time a second after the one before.
fn tree(names: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (place, name) in names.iter().enumerate() {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, name).unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000 - 100 * (place as u64 + 1));
        fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    dir
}

fn glob(pattern: &str) -> FileSelection {
    FileSelection { glob: Some(pattern.into()), ..FileSelection::default() }
}

fn regex(pattern: &str) -> FileSelection {
    FileSelection { regex: Some(pattern.into()), ..FileSelection::default() }
}

fn shown(selection: &FileSelection, base: &Path) -> Vec<String> {
    let found = selection.discover(base, NOW).unwrap_or_else(|fault| panic!("{}", fault.message));
    found.into_iter().map(|file| file.shown).collect()
}

fn none(selection: &FileSelection, base: &Path) -> String {
    selection.discover(base, NOW).expect_err("no file matches").message
}

fn codes(selection: &FileSelection) -> Vec<&'static str> {
    selection.check().into_iter().map(|fault| fault.code).collect()
}

#[test]
fn pipeline_8_2_exactly_one_matcher() {
    assert_eq!(codes(&FileSelection::default()), ["E211"]);
    let both = FileSelection { path: Some("a".into()), ..glob("b") };
    assert_eq!(codes(&both), ["E210"]);
    assert_eq!(codes(&glob("b")), [""; 0]);
}

#[test]
fn pipeline_8_2_bad_patterns_bounds_and_takes_have_their_codes() {
    assert_eq!(codes(&glob("a[")), ["E212"]);
    assert_eq!(codes(&FileSelection { exclude: vec!["{a".into()], ..glob("b") }), ["E212"]);
    assert_eq!(codes(&regex("a(")), ["E213"]);
    for bad in
        ["", "5", "h", "-1h", "1.5h", "5ms", "yesterday", "2024-01-01", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z"]
    {
        assert_eq!(codes(&FileSelection { modified_after: Some(bad.into()), ..glob("b") }), ["E214"], "{bad}");
        assert_eq!(codes(&FileSelection { modified_before: Some(bad.into()), ..glob("b") }), ["E214"], "{bad}");
    }
    for bad in ["", "-1", "1.5MB", "1mb", "1 KB", "1TB", "99999999999999999999", "18446744073709551GB"] {
        assert_eq!(codes(&FileSelection { min_size: Some(bad.into()), ..glob("b") }), ["E215"], "{bad}");
        assert_eq!(codes(&FileSelection { max_size: Some(bad.into()), ..glob("b") }), ["E215"], "{bad}");
    }
    let files = FileOrder { take_first: Some(1), take_last: Some(1), ..FileOrder::default() };
    assert_eq!(codes(&FileSelection { files, ..glob("b") }), ["E218"]);
}

#[test]
fn pipeline_8_2_all_faults_are_reported_at_once() {
    let files = FileOrder { take_first: Some(1), take_last: Some(1), ..FileOrder::default() };
    let selection = FileSelection {
        modified_after: Some("x".into()),
        max_size: Some("x".into()),
        exclude: vec!["[".into()],
        files,
        ..FileSelection::default()
    };
    assert_eq!(codes(&selection), ["E211", "E212", "E214", "E215", "E218"]);
}

#[test]
fn pipeline_8_2_stars_stay_in_a_segment_and_two_cross() {
    let dir = tree(&["in/a.csv", "in/b.CSV", "in/.hidden.csv", "in/sub/c.csv", "in/sub/deep/d.csv", "in/a.txt"]);
    let base = dir.path();
    assert_eq!(shown(&glob("in/*.csv"), base), ["in/.hidden.csv", "in/a.csv"]);
    assert_eq!(shown(&glob("./in/?.csv"), base), ["in/a.csv"]);
    assert_eq!(shown(&glob("in/*/*.csv"), base), ["in/sub/c.csv"]);
    assert_eq!(shown(&glob("in/**/*.csv"), base), ["in/.hidden.csv", "in/a.csv", "in/sub/c.csv", "in/sub/deep/d.csv"]);
    assert_eq!(shown(&glob("in/[ab].*"), base), ["in/a.csv", "in/a.txt", "in/b.CSV"]);
    assert_eq!(shown(&glob("in/{a,sub/c}.csv"), base), ["in/a.csv", "in/sub/c.csv"]);
    assert_eq!(shown(&glob("in/a.csv"), base), ["in/a.csv"]);
    let absolute = format!("{}/in/*.csv", base.display());
    assert_eq!(shown(&glob(&absolute), base), ["in/.hidden.csv", "in/a.csv"]);
}

#[test]
fn pipeline_8_2_recursive_false_stays_in_the_first_directory() {
    let dir = tree(&["in/a.csv", "in/sub/c.csv"]);
    let files = FileOrder { recursive: Some(false), ..FileOrder::default() };
    assert_eq!(shown(&FileSelection { files: files.clone(), ..glob("in/**/*.csv") }, dir.path()), ["in/a.csv"]);
    assert_eq!(shown(&FileSelection { files, ..regex(r"\.csv$") }, &dir.path().join("in")), ["a.csv"]);
}

#[test]
fn pipeline_8_2_a_regex_is_searched_in_the_relative_path() {
    let dir = tree(&["in/a.csv", "in/sub/a.csv", "out/a.txt"]);
    assert_eq!(shown(&regex("b/a"), dir.path()), ["in/sub/a.csv"]);
    assert_eq!(shown(&regex("^in/a"), dir.path()), ["in/a.csv"]);
    assert_eq!(shown(&regex("a"), dir.path()), ["in/a.csv", "in/sub/a.csv", "out/a.txt"]);
}

#[test]
fn pipeline_8_2_exclude_takes_the_path_or_the_base_name() {
    let dir = tree(&["in/a.csv", "in/b.csv", "in/sub/b.csv"]);
    let without = |pattern: &str| {
        let selection = FileSelection { exclude: vec![pattern.into()], ..glob("in/**/*.csv") };
        shown(&selection, dir.path())
    };
    assert_eq!(without("b.csv"), ["in/a.csv"]);
    assert_eq!(without("in/b.csv"), ["in/a.csv", "in/sub/b.csv"]);
    assert_eq!(without("*/sub/*"), ["in/a.csv", "in/b.csv"]);
    assert_eq!(without(&format!("{}/in/a.csv", dir.path().display())), ["in/b.csv", "in/sub/b.csv"]);
}

#[test]
fn pipeline_8_2_time_and_size_bounds_are_inclusive() {
    // Ages are 100, 200 and 300 seconds; sizes 1, 3 and 5 bytes.
    let dir = tree(&["a", "bbb", "ccccc"]);
    let with = |change: &dyn Fn(&mut FileSelection)| {
        let mut selection = glob("*");
        change(&mut selection);
        shown(&selection, dir.path())
    };
    assert_eq!(with(&|selection| selection.modified_after = Some("200s".into())), ["a", "bbb"]);
    assert_eq!(with(&|selection| selection.modified_before = Some("200 s".into())), ["bbb", "ccccc"]);
    assert_eq!(with(&|selection| selection.modified_before = Some("5m".into())), ["ccccc"]);
    for time in ["1970-01-12T13:43:20Z", "1970-01-12T15:43:20+02:00", "1970-01-12t13:13:20-00:30"] {
        assert_eq!(with(&|selection| selection.modified_after = Some(time.into())), ["a", "bbb"], "{time}");
    }
    assert_eq!(with(&|selection| selection.min_size = Some("3".into())), ["bbb", "ccccc"]);
    assert_eq!(with(&|selection| selection.max_size = Some("3B".into())), ["a", "bbb"]);
    assert_eq!(with(&|selection| selection.max_size = Some("1KB".into())), ["a", "bbb", "ccccc"]);
}

#[test]
fn pipeline_8_2_files_are_sorted_and_taken() {
    let dir = tree(&["b", "c", "a"]);
    let with = |files: FileOrder| shown(&FileSelection { files, ..glob("*") }, dir.path());
    let order = FileOrder::default();
    assert_eq!(with(order.clone()), ["a", "b", "c"]);
    assert_eq!(with(FileOrder { descending: true, ..order.clone() }), ["c", "b", "a"]);
    let by_time = FileOrder { sort_by: Some(SortBy::Modified), ..order.clone() };
    assert_eq!(with(by_time.clone()), ["a", "c", "b"]);
    assert_eq!(with(FileOrder { descending: true, ..by_time.clone() }), ["b", "c", "a"]);
    assert_eq!(with(FileOrder { take_first: Some(2), ..by_time.clone() }), ["a", "c"]);
    assert_eq!(with(FileOrder { take_last: Some(2), ..by_time }), ["c", "b"]);
    assert_eq!(with(FileOrder { take_last: Some(9), ..order }), ["a", "b", "c"]);
}

#[test]
fn pipeline_8_2_ties_are_broken_by_name_ascending() {
    let dir = tree(&["b", "c", "a"]);
    for name in ["a", "b", "c"] {
        fs::File::options().append(true).open(dir.path().join(name)).unwrap().set_modified(UNIX_EPOCH).unwrap();
    }
    let files = FileOrder { sort_by: Some(SortBy::Modified), descending: true, ..FileOrder::default() };
    assert_eq!(shown(&FileSelection { files, ..glob("*") }, dir.path()), ["a", "b", "c"]);
}

#[test]
fn formats_1_2_listed_paths_keep_their_order() {
    let dir = tree(&["b", "c", "a"]);
    let paths = Some(vec!["c".into(), "./a".into(), "b".into()]);
    let selection = FileSelection { paths, ..FileSelection::default() };
    assert_eq!(shown(&selection, dir.path()), ["c", "a", "b"]);
    let files = FileOrder { sort_by: Some(SortBy::Name), ..FileOrder::default() };
    assert_eq!(shown(&FileSelection { files, ..selection }, dir.path()), ["a", "b", "c"]);
}

#[test]
fn pipeline_8_2_no_match_is_e216_unless_told_otherwise() {
    let dir = tree(&["in/a"]);
    assert!(none(&glob("in/*.csv"), dir.path()).contains("in/*.csv"));
    assert!(none(&glob("missing/*.csv"), dir.path()).contains("missing/*.csv"));
    let missing = FileSelection { path: Some("in/b".into()), ..FileSelection::default() };
    assert!(none(&missing, dir.path()).contains("in/b"));
    let directory = FileSelection { path: Some("in".into()), ..FileSelection::default() };
    assert!(none(&directory, dir.path()).contains("in"));
    for on_no_match in [NoMatch::Warn, NoMatch::Skip] {
        let files = FileOrder { on_no_match, ..FileOrder::default() };
        let selection = FileSelection { files, ..missing.clone() };
        assert_eq!(shown(&selection, dir.path()), [""; 0]);
        assert_eq!(selection.warns_on_no_match(), on_no_match == NoMatch::Warn);
    }
}

#[cfg(unix)]
#[test]
fn pipeline_8_1_links_are_followed_and_files_named_by_the_path_they_matched() {
    use std::os::unix::fs::symlink;
    let outside = tree(&["far/x.csv"]);
    let dir = tree(&["in/a.csv"]);
    let base = dir.path();
    symlink(outside.path().join("far"), base.join("in/linked")).unwrap();
    symlink(base.join("in/a.csv"), base.join("in/again.csv")).unwrap();
    symlink(base.join("nowhere"), base.join("in/dangling.csv")).unwrap();
    symlink(base.join("in"), base.join("in/loop")).unwrap();
    symlink("circle.csv", base.join("in/circle.csv")).unwrap();
    let found = glob("in/**/*.csv").discover(base, NOW).unwrap();
    let names: Vec<&str> = found.iter().map(|file| file.shown.as_str()).collect();
    assert_eq!(names, ["in/a.csv", "in/again.csv", "in/linked/x.csv"]);
    assert_eq!(found[2].absolute, base.join("in/linked/x.csv"));
    assert_eq!(found[1].size, 8);
}

#[test]
fn pipeline_8_1_a_file_outside_the_base_is_shown_absolute() {
    let dir = tree(&["in/a.csv"]);
    let other = tree(&["b.csv"]);
    let path = other.path().join("b.csv");
    let selection = FileSelection { path: Some(path.to_string_lossy().into_owned()), ..FileSelection::default() };
    assert_eq!(shown(&selection, dir.path()), [path.to_string_lossy()]);
}

#[test]
fn pipeline_8_2_what_is_no_regular_file_is_named() {
    let dir = tree(&["folder/a.csv"]);
    let path = FileSelection { path: Some("folder".into()), ..FileSelection::default() };
    assert_eq!(none(&path, dir.path()), "no file matches path `folder`: `folder` is a folder, not a regular file");
    let _listener = std::os::unix::net::UnixListener::bind(dir.path().join("pipe.csv")).unwrap();
    let (listed, matched) =
        (FileSelection { path: Some("pipe.csv".into()), ..FileSelection::default() }, glob("*.csv"));
    for selection in [listed, matched] {
        assert!(
            none(&selection, dir.path()).ends_with("`pipe.csv` is a device, a pipe or a socket, not a regular file")
        );
    }
    // It is dropped silently where other files are left.
    let both = FileSelection { paths: Some(vec!["folder".into(), "folder/a.csv".into()]), ..FileSelection::default() };
    assert_eq!(shown(&both, dir.path()), ["folder/a.csv"]);
}
