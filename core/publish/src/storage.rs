//! The file system as publication uses it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// A file that is being written.
pub trait RawFile: Send + Sync {
    /// Writes some bytes at the end; as [`Write::write`].
    ///
    /// # Errors
    /// Those of the file system, a full disk among them.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
    /// Makes everything written so far durable. May run beside `write` on another thread.
    ///
    /// # Errors
    /// Those of the file system.
    fn sync(&self) -> io::Result<()>;
}

/// The calls that publication makes.
pub trait Storage: Send + Sync {
    /// Creates an owner-only directory; an existing one is fine.
    ///
    /// # Errors
    /// Those of the file system.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates an owner-only file that must not exist.
    ///
    /// # Errors
    /// Those of the file system.
    fn create_new(&self, path: &Path) -> io::Result<Arc<dyn RawFile>>;
    /// Opens a file that was staged, to read it back.
    ///
    /// # Errors
    /// Those of the file system.
    fn open_staged(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(path)?))
    }
    /// Opens or creates a lock file and locks it without waiting; `None` when somebody holds it. The lock lasts as long
    /// as the returned file.
    ///
    /// # Errors
    /// Those of the file system.
    fn lock(&self, path: &Path, content: &str) -> io::Result<Option<File>>;
    /// Renames within one file system. With `replace` false an existing destination is an error.
    ///
    /// # Errors
    /// Those of the file system; [`io::ErrorKind::AlreadyExists`] without `replace`.
    fn rename(&self, from: &Path, to: &Path, replace: bool) -> io::Result<()>;
    /// Makes the entries of a directory durable.
    ///
    /// # Errors
    /// Those of the file system.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a file.
    ///
    /// # Errors
    /// Those of the file system.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    ///
    /// # Errors
    /// Those of the file system.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Whether something stands at a path (a dangling link counts).
    fn exists(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }
}

/// The operating system's files.
#[derive(Debug, Default)]
pub struct OsStorage;

impl RawFile for File {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut handle: &File = self;
        Write::write(&mut handle, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Storage for OsStorage {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        match fs::DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if fs::symlink_metadata(path)?.is_dir() {
                    Ok(())
                } else {
                    Err(error)
                }
            }
            other => other,
        }
    }

    fn create_new(&self, path: &Path) -> io::Result<Arc<dyn RawFile>> {
        // Published files get the ordinary mode under the user's umask: the attempt directory is owner-only.
        Ok(Arc::new(OpenOptions::new().write(true).create_new(true).mode(0o666).open(path)?))
    }

    fn lock(&self, path: &Path, content: &str) -> io::Result<Option<File>> {
        loop {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) => return Ok(None),
                Err(fs::TryLockError::Error(error)) => return Err(error),
            }
            // The holder before us may have removed the path between our open and our lock: then this lock is on a
            // file that nobody else will find.
            let named = fs::symlink_metadata(path);
            let held = file.metadata()?;
            if named.is_ok_and(|named| named.ino() == held.ino() && named.dev() == held.dev()) {
                file.set_len(0)?;
                (&file).write_all(content.as_bytes())?;
                return Ok(Some(file));
            }
        }
    }

    fn rename(&self, from: &Path, to: &Path, replace: bool) -> io::Result<()> {
        if replace {
            return fs::rename(from, to);
        }
        Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}
