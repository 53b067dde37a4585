//! One run's attempt to publish: stage, make ready, promote.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::reservation::Reservation;
use crate::{PublishError, StagedFile, Storage, names};

/// The directory beside a destination that holds the attempts of all runs.
const ATTEMPTS: &str = ".clinker-attempts";
/// How often in a row another run can win the race described in [`Attempt::root`] before we give up.
const REMOVED_BETWEEN: usize = 16;

/// What an artifact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactKind {
    /// A Sink's output.
    Output,
    /// A dead-letter file.
    DeadLetters,
    /// A sidecar of an output.
    Sidecar,
}

/// What happens when the final exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollisionPolicy {
    /// It is replaced.
    Replace,
    /// The artifact is refused.
    Refuse,
    /// The caller tries the next name.
    NextName,
}

/// The artifacts of one run. Dropping it without [`Attempt::promote`] removes what was staged.
pub struct Attempt {
    storage: Arc<dyn Storage>,
    execution_id: String,
    roots: Vec<Root>,
    artifacts: Vec<Artifact>,
}

struct Root {
    parent: PathBuf,
    dir: PathBuf,
    _live: Option<File>,
}

struct Artifact {
    kind: ArtifactKind,
    producer: String,
    destination: PathBuf,
    staged: PathBuf,
    replace: bool,
    published: bool,
    _reservation: Reservation,
}

/// What became visible.
#[derive(Debug)]
pub struct Published {
    /// Finals of Sinks, in the order they were staged.
    pub outputs: Vec<PathBuf>,
    /// Finals of dead letters.
    pub dead_letters: Vec<PathBuf>,
    /// Leftovers that could not be removed: the finals are complete all the same.
    pub debt: Vec<String>,
}

impl Attempt {
    /// An attempt without artifacts; nothing is created before the first one.
    pub fn new(storage: Arc<dyn Storage>, execution_id: &str) -> Self {
        Self { storage, execution_id: execution_id.to_owned(), roots: Vec::new(), artifacts: Vec::new() }
    }

    /// Reserves a final and creates the file that will become it.
    ///
    /// # Errors
    /// The final exists under [`CollisionPolicy::Refuse`] or [`CollisionPolicy::NextName`], a live run writes it,
    /// another artifact of this run has it, or the file system refuses.
    pub fn stage(
        &mut self,
        kind: ArtifactKind,
        producer: &str,
        destination: &Path,
        policy: CollisionPolicy,
    ) -> Result<StagedFile, PublishError> {
        let failed = |doing| move |error| PublishError::Io { destination: destination.to_owned(), doing, error };
        if let Some(first) = self.artifacts.iter().find(|artifact| artifact.destination == destination) {
            return Err(PublishError::Collision {
                destination: destination.to_owned(),
                first: first.producer.clone(),
                second: producer.to_owned(),
            });
        }
        let parent = destination.parent().unwrap_or(Path::new("."));
        if self.storage.exists(destination) {
            if policy != CollisionPolicy::Replace {
                return Err(PublishError::Exists { destination: destination.to_owned() });
            }
            replaceable(destination).map_err(failed("replace it"))?;
        }
        let reservation = Reservation::take(&self.storage, destination, &self.execution_id)
            .map_err(failed("reserve it"))?
            .ok_or_else(|| PublishError::Reserved { destination: destination.to_owned() })?;
        let dir = self.root(parent).map_err(failed("create the attempt directory beside it"))?;
        let staged = dir.join(names::staged(self.artifacts.len(), destination.file_name().unwrap_or_default()));
        let file = self.storage.create_new(&staged).map_err(failed("create the staged file for it"))?;
        self.artifacts.push(Artifact {
            kind,
            producer: producer.to_owned(),
            destination: destination.to_owned(),
            staged,
            replace: policy == CollisionPolicy::Replace,
            published: false,
            _reservation: reservation,
        });
        Ok(StagedFile::new(file))
    }

    /// Stages an artifact a second time: gives what was staged so far to read, and a new file that takes its place. What
    /// was staged is gone when the returned value is dropped.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn restage(&mut self, destination: &Path) -> Result<(Restaged, StagedFile), PublishError> {
        let failed = |doing| move |error| PublishError::Io { destination: destination.to_owned(), doing, error };
        let unknown = || failed("complete it")(io::ErrorKind::NotFound.into());
        let artifact =
            self.artifacts.iter_mut().find(|artifact| artifact.destination == destination).ok_or_else(unknown)?;
        let former = artifact.staged.clone();
        let mut leaf = former.file_name().unwrap_or_default().to_owned();
        leaf.push(names::COMPLETE);
        let staged = former.with_file_name(leaf);
        let file = self.storage.create_new(&staged).map_err(failed("create the staged file for it"))?;
        // From here on the new file is the artifact's; the former one is removed by its reader.
        artifact.staged = staged;
        let former = Restaged { storage: Arc::clone(&self.storage), path: former };
        Ok((former, StagedFile::new(file)))
    }

    fn root(&mut self, parent: &Path) -> io::Result<PathBuf> {
        if let Some(root) = self.roots.iter().find(|root| root.parent == parent) {
            return Ok(root.dir.clone());
        }
        let attempts = parent.join(ATTEMPTS);
        let dir = attempts.join(&self.execution_id);
        // Another run may remove the shared directory when its own was the last in it: then it is made again.
        for _ in 0..REMOVED_BETWEEN {
            self.storage.create_dir(&attempts)?;
            match self.storage.create_dir(&dir) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => {
                    other?;
                    break;
                }
            }
        }
        let live = self.storage.lock(&dir.join("live.lock"), &self.execution_id)?;
        self.roots.push(Root { parent: parent.to_owned(), dir: dir.clone(), _live: live });
        Ok(dir)
    }

    /// Renames every artifact onto its final. All of them must have been synchronised. The whole set is checked before
    /// the first rename.
    ///
    /// # Errors
    /// A final appeared meanwhile under a policy that does not replace, or a rename failed: then some finals may be
    /// visible, each of them complete.
    pub fn promote(mut self) -> Result<Published, PublishError> {
        for artifact in &self.artifacts {
            if !artifact.replace && self.storage.exists(&artifact.destination) {
                return Err(PublishError::Exists { destination: artifact.destination.clone() });
            }
            replaceable(&artifact.destination).map_err(|error| PublishError::Io {
                destination: artifact.destination.clone(),
                doing: "replace it",
                error,
            })?;
        }
        for at in 0..self.artifacts.len() {
            let artifact = &self.artifacts[at];
            if let Err(error) = self.storage.rename(&artifact.staged, &artifact.destination, artifact.replace) {
                return Err(self.incomplete(error));
            }
            self.artifacts[at].published = true;
        }
        for root in &self.roots {
            if let Err(error) = self.storage.sync_dir(&root.parent) {
                return Err(self.incomplete(error));
            }
        }
        let finals = |kind| {
            let of_kind = self.artifacts.iter().filter(move |artifact| artifact.kind == kind);
            of_kind.map(|artifact| artifact.destination.clone()).collect()
        };
        let (outputs, dead_letters) = (finals(ArtifactKind::Output), finals(ArtifactKind::DeadLetters));
        let debt = self.clean_up();
        Ok(Published { outputs, dead_letters, debt })
    }

    fn incomplete(&self, error: io::Error) -> PublishError {
        let with = |published| {
            let of_state = self.artifacts.iter().filter(move |artifact| artifact.published == published);
            of_state.map(|artifact| artifact.destination.clone()).collect()
        };
        PublishError::Incomplete { published: with(true), unpublished: with(false), error }
    }

    /// Removes staged files, reservations and attempt directories of this run; says what could not be removed.
    fn clean_up(&mut self) -> Vec<String> {
        let mut debt = Vec::new();
        for artifact in self.artifacts.drain(..) {
            if !artifact.published
                && let Err(error) = self.storage.remove_file(&artifact.staged)
            {
                debt.push(format!("{}: {error}", artifact.staged.display()));
            }
        }
        for root in self.roots.drain(..) {
            let removed =
                self.storage.remove_file(&root.dir.join("live.lock")).and_then(|()| self.storage.remove_dir(&root.dir));
            if let Err(error) = removed {
                debt.push(format!("{}: {error}", root.dir.display()));
            }
            // Shared with other runs: it stays while it is not empty.
            let _ = self.storage.remove_dir(&root.parent.join(ATTEMPTS));
        }
        debt
    }
}

/// Whether a rename may put a file in this place. It would silently take the place of a device, a pipe or a socket,
/// which belongs to the whole machine.
fn replaceable(destination: &Path) -> io::Result<()> {
    match std::fs::metadata(destination) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device, a pipe or a socket, not a regular file"))
        }
        _ => Ok(()),
    }
}

/// A staged file that was replaced by another one; removed when dropped.
pub struct Restaged {
    storage: Arc<dyn Storage>,
    path: PathBuf,
}

impl Restaged {
    /// Its content.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        self.storage.open_staged(&self.path)
    }
}

impl Drop for Restaged {
    fn drop(&mut self) {
        // Left behind it would keep the attempt directory from being removed, which is reported as debt.
        let _ = self.storage.remove_file(&self.path);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.clean_up();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::OsStorage;

    fn attempt(id: &str) -> Attempt {
        Attempt::new(Arc::new(OsStorage), id)
    }

    fn write(attempt: &mut Attempt, path: &Path, policy: CollisionPolicy, text: &str) -> Result<(), PublishError> {
        let mut file = attempt.stage(ArtifactKind::Output, "a sink", path, policy)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync()).expect("the disk takes it");
        Ok(())
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).expect("a folder").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn pb_1_finals_appear_whole_and_nothing_else_stays() {
        let dir = tempfile::tempdir().expect("a folder");
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        std::fs::write(&first, "old").expect("the disk takes it");
        let mut attempt = attempt("a1");
        write(&mut attempt, &first, CollisionPolicy::Replace, "new").expect("staged");
        write(&mut attempt, &second, CollisionPolicy::Refuse, "other").expect("staged");
        assert_eq!(std::fs::read_to_string(&first).expect("there"), "old", "staging touches no final");
        let published = attempt.promote().expect("published");
        assert_eq!(published.outputs, [first.clone(), second]);
        assert!(published.debt.is_empty());
        assert_eq!(std::fs::read_to_string(&first).expect("there"), "new");
        assert_eq!(names(dir.path()), ["first", "second"]);
    }

    #[test]
    fn pb_5_an_attempt_that_is_given_up_leaves_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut attempt = attempt("a1");
        write(&mut attempt, &dir.path().join("out"), CollisionPolicy::Replace, "new").expect("staged");
        drop(attempt);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn pb_6_two_artifacts_of_a_run_cannot_have_one_destination() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("out");
        let mut attempt = attempt("a1");
        write(&mut attempt, &path, CollisionPolicy::Replace, "new").expect("staged");
        let refused = write(&mut attempt, &path, CollisionPolicy::Replace, "again");
        assert!(matches!(refused, Err(PublishError::Collision { .. })));
    }

    #[test]
    fn pb_3_a_final_that_appeared_meanwhile_is_found_before_the_first_rename() {
        let dir = tempfile::tempdir().expect("a folder");
        let (replaced, refused) = (dir.path().join("replaced"), dir.path().join("refused"));
        std::fs::write(&replaced, "old").expect("the disk takes it");
        let mut attempt = attempt("a1");
        write(&mut attempt, &replaced, CollisionPolicy::Replace, "new").expect("staged");
        write(&mut attempt, &refused, CollisionPolicy::Refuse, "new").expect("staged");
        std::fs::write(&refused, "somebody else's").expect("the disk takes it");
        assert!(matches!(attempt.promote(), Err(PublishError::Exists { .. })));
        assert_eq!(std::fs::read_to_string(&replaced).expect("there"), "old");
        assert_eq!(std::fs::read_to_string(&refused).expect("there"), "somebody else's");
        assert_eq!(names(dir.path()), ["refused", "replaced"]);
    }

    #[test]
    fn formats_1_12_what_was_staged_can_be_staged_again_with_more_columns() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("out");
        let mut attempt = attempt("a1");
        write(&mut attempt, &path, CollisionPolicy::Replace, "narrow").expect("staged");
        let (former, mut file) = attempt.restage(&path).expect("staged again");
        let mut text = String::new();
        former.open().and_then(|mut former| former.read_to_string(&mut text)).expect("it is still there");
        file.write_all(text.replace("narrow", "wide").as_bytes()).and_then(|()| file.sync()).expect("written");
        drop(former);
        attempt.promote().expect("published");
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "wide");
        assert_eq!(names(dir.path()), ["out"]);
    }
}
