//! Formats of plugins: the writing half.

use std::ffi::c_void;
use std::io;
use std::sync::Arc;

use clinker_format::{
    ColumnRun, ColumnSet, Encoded, Encoder, OptionFault, OutputRows, RefusedRow, WriteFactory, WriteFault,
    WriteRequest, Writer,
};
use clinker_plugin_abi::types::{self, Call, Rows};
use clinker_plugin_abi::{Exported, Item, Reply, Str, Strs, Value};
use clinker_record::Category;

use crate::calls::{Answer, Asked, Handle, Plugin, Session, one_line};
use crate::codes::{Codes, Use};
use crate::export::{self, LevelNames};
use crate::reading::PluginFormat;

/// Binds writer options; the output and the warnings.
pub(crate) fn bind(
    format: &PluginFormat,
    request: &WriteRequest<'_>,
) -> Result<(Arc<PluginOutput>, Vec<OptionFault>), Vec<OptionFault>> {
    let plugin = format.plugin;
    let asked = Exported::new(export::write_request(request));
    let (mut raw, mut reply) = (std::ptr::null_mut::<c_void>(), Reply::EMPTY);
    let status = plugin.run("bind_writer", plugin.table.bind_writer, |bind, _| {
        // SAFETY: request and places are valid for the call.
        unsafe { bind(format.at, asked.value(), &raw mut raw, &raw mut reply) }
    });
    let handle = Handle::new(plugin, raw, "output_free", plugin.table.output_free);
    let item = format.bound("bind_writer", status, &mut reply)?;
    let facts = facts(plugin, &item).map_err(|what| vec![format.broken("bind_writer", &what)])?;
    let warning = |item: &Item| format.option_fault("bind_writer", item, Use::Warning);
    let warnings = item.get("warnings").items().iter().map(warning).collect();
    let shared = Arc::new(Shared { handle, codes: Arc::clone(&format.codes), facts });
    Ok((Arc::new(PluginOutput(shared)), warnings))
}

/// What a bound writer says of itself.
struct Facts {
    encoder: bool,
    typed: bool,
    may_lack_characters: bool,
    union: bool,
}

fn facts(plugin: &Plugin, item: &Item) -> Result<Facts, String> {
    let word = |key: &str, words: [&str; 2]| match item.get(key) {
        Item::Null => Ok(0),
        Item::Text(word) => {
            words.iter().position(|known| known == word).ok_or_else(|| format!("`{key}` is the unknown {word:?}"))
        }
        _ => Err(format!("`{key}` is not a word")),
    };
    let facts = Facts {
        encoder: item.get("encoder").bool().unwrap_or(false),
        typed: word("cells", ["text", "native"])? == 1,
        may_lack_characters: item.get("may_lack_characters").bool().unwrap_or(false),
        union: word("column_set", ["each_record", "union"])? == 1,
    };
    let needed = [
        ("encode", facts.encoder, plugin.table.encode.is_some()),
        ("writer_rows", !facts.encoder, plugin.table.writer_rows.is_some()),
        ("complete", facts.union, plugin.table.complete.is_some()),
    ];
    match needed.into_iter().find(|(_, needed, there)| *needed && !there) {
        Some((name, ..)) => Err(format!("the table lacks `{name}`")),
        None => Ok(facts),
    }
}

/// What encoders and writers of one output share.
struct Shared {
    handle: Handle,
    codes: Arc<Codes>,
    facts: Facts,
}

/// A format with its writer options bound.
pub(crate) struct PluginOutput(Arc<Shared>);

impl WriteFactory for PluginOutput {
    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        self.0.facts.encoder.then(|| Arc::new(PluginEncoder(Arc::clone(&self.0))) as Arc<dyn Encoder>)
    }

    fn writer(&self) -> Box<dyn Writer> {
        Box::new(PluginWriter::open(&self.0, true))
    }

    fn writer_without_header(&self) -> Box<dyn Writer> {
        Box::new(PluginWriter::open(&self.0, false))
    }

    fn may_lack_characters(&self) -> bool {
        self.0.facts.may_lack_characters
    }

    fn column_set(&self) -> ColumnSet {
        if self.0.facts.union { ColumnSet::Union } else { ColumnSet::EachRecord }
    }

    fn complete(
        &self,
        written: &mut dyn io::Read,
        runs: &[ColumnRun],
        names: &[Arc<str>],
        header: bool,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let run =
            |run: &ColumnRun| Item::map([("records", run.records.into()), ("columns", (run.columns as u64).into())]);
        let asked = Exported::new(Item::map([
            ("names", Item::texts(names)),
            ("runs", Item::List(runs.iter().map(run).collect())),
            ("header", header.into()),
        ]));
        let plugin = self.0.handle.plugin;
        let (mut reply, mut asked_for) = (Reply::EMPTY, Asked::default());
        let status = plugin.run("complete", plugin.table.complete, |complete, guard| {
            // Of lifetimes of their own, which the session shortens to its own.
            let (mut written, mut out) = (written, out);
            let mut session = Session::new(guard);
            session.read = Some(&mut written);
            session.write = Some(&mut out);
            let call = session.call();
            // SAFETY: everything is valid for the call.
            let status = unsafe { complete(self.0.handle.raw, &call, asked.value(), &raw mut reply) };
            asked_for = session.asked();
            status
        });
        self.0.finished("complete", status, &mut reply, asked_for)
    }
}

impl Shared {
    /// What is told when the contract is broken where bytes are written.
    fn broken(reason: String) -> io::Error {
        WriteFault { code: "E468", column: Arc::from(""), reason }.into()
    }

    /// The end of a call that writes.
    fn finished(&self, name: &str, status: Result<u32, String>, reply: &mut Reply, asked: Asked) -> io::Result<()> {
        let plugin = self.handle.plugin;
        let said = status.and_then(|status| plugin.answer(name, status, reply));
        let (answer, item) = said.map_err(Self::broken)?;
        if let Some(misused) = asked.misused {
            return Err(Self::broken(plugin.breach(name, &misused)));
        }
        match (answer, asked.failed) {
            // Bytes that were not written are missing, whatever the plugin says; and it is not the data that is bad.
            (_, Some(error)) => Err(error),
            (Answer::Host, None) if (crate::watch::surroundings().cancelled)() => {
                Err(io::ErrorKind::Interrupted.into())
            }
            (Answer::Done, None) => Ok(()),
            (Answer::Fault, None) => {
                let text = item.get("code").text().unwrap_or_default();
                let Some(code) = self.codes.find(text, Use::Write) else {
                    return Err(Self::broken(plugin.breach(name, &format!("code {text:?} may not be used there"))));
                };
                let column = Arc::from(item.get("column").text().unwrap_or_default());
                Err(WriteFault { code, column, reason: one_line(item.get("reason").text().unwrap_or_default()) }.into())
            }
            (answer, None) => Err(Self::broken(plugin.breach(name, &format!("it answered {answer:?}")))),
        }
    }

    /// Makes the bytes of rows with a function of the plugin, and checks what came.
    fn encode(
        &self,
        name: &str,
        rows: &OutputRows<'_>,
        levels: &mut LevelNames,
        out: &mut Encoded,
        call: impl FnOnce(&Call, &Rows, &mut types::Encoded) -> Result<u32, String>,
    ) {
        if let Err(reason) = self.encoded(name, rows, levels, out, call) {
            let broken = RefusedRow {
                row: 0,
                code: "E468",
                category: None,
                column: Arc::from(""),
                value: String::new(),
                reason,
            };
            out.refused.push(broken);
        }
    }

    fn encoded(
        &self,
        name: &str,
        rows: &OutputRows<'_>,
        levels: &mut LevelNames,
        out: &mut Encoded,
        call: impl FnOnce(&Call, &Rows, &mut types::Encoded) -> Result<u32, String>,
    ) -> Result<(), String> {
        let plugin = self.handle.plugin;
        let (mut schema, mut array) = export::rows(rows, self.facts.typed)?;
        let levels = levels.of(rows).map(Exported::new);
        let given = Rows {
            schema: &raw mut schema,
            array: &raw mut array,
            rows: rows.rows as u64,
            levels: levels.as_ref().map_or(std::ptr::null(), |levels| std::ptr::from_ref::<Value>(levels.value())),
        };
        let mut given_back = types::Encoded::EMPTY;
        // Encoding asks for nothing but whether it was cancelled.
        let guard = crate::watch::Guard::new(format!("plugin {}: its call `{name}`", plugin.path));
        let mut session = Session::new(&guard);
        let asked = session.call();
        let mut status = call(&asked, &given, &mut given_back);
        if let (Ok(_), Some(misused)) = (&status, session.asked().misused) {
            status = Err(plugin.breach(name, &misused));
        }
        drop(guard);
        // SAFETY: what the plugin moved out is released already; the rest is ours.
        unsafe {
            drop(array.take());
            drop(schema.take());
        }
        let result = status.and_then(|status| self.accept(name, status, rows, &mut given_back, out));
        if let Some(release) = given_back.release.take() {
            // SAFETY: called once, behind the last look at the bytes.
            unsafe { release(given_back.owner) };
        }
        result
    }

    /// Checks and copies records.
    fn accept(
        &self,
        name: &str,
        status: u32,
        rows: &OutputRows<'_>,
        given: &mut types::Encoded,
        out: &mut Encoded,
    ) -> Result<(), String> {
        let plugin = self.handle.plugin;
        let breach = |what: &str| plugin.breach(name, what);
        let (answer, item) = plugin.answer(name, status, &mut given.reply)?;
        if answer != Answer::Done {
            return Err(breach(&format!("it answered {answer:?}")));
        }
        // SAFETY: the plugin wrote it; its pointers are as good as the plugin.
        let (bytes, ends) = unsafe { given.parts() }.map_err(|malformed| breach(&malformed.0))?;
        if !ends.is_sorted() || ends.last().map_or(0, |end| *end as usize) != bytes.len() {
            return Err(breach("the ends of its records do not match its bytes"));
        }
        let refused = self.refusals(&item, rows).map_err(|what| breach(&what))?;
        let fatal = refused.last().is_some_and(|row| row.category.is_none());
        let expected = if fatal { refused.last().map_or(0, |row| row.row as usize + 1) } else { rows.rows };
        if ends.len() + refused.len() != expected {
            return Err(breach(&format!(
                "{} records and {} refused rows do not make the {expected} that it was given",
                ends.len(),
                refused.len()
            )));
        }
        let base = out.bytes.len();
        if u32::try_from(base + bytes.len()).is_err() {
            return Err(breach("more than 4 GiB of records for one batch"));
        }
        out.bytes.extend_from_slice(bytes);
        out.ends.extend(ends.iter().map(|end| end + base as u32));
        out.refused.extend(refused);
        Ok(())
    }

    fn refusals(&self, item: &Item, rows: &OutputRows<'_>) -> Result<Vec<RefusedRow>, String> {
        let mut refused: Vec<RefusedRow> = Vec::new();
        for item in crate::reading::list(item, "refused")? {
            if refused.last().is_some_and(|last| last.category.is_none()) {
                return Err("a row is refused behind one that ends the run".into());
            }
            let row = item.get("row").number().and_then(|row| u32::try_from(row).ok());
            let after = |row: &u32| (*row as usize) < rows.rows && refused.last().is_none_or(|last| last.row < *row);
            let row = row.filter(after).ok_or("a refused row that is out of place")?;
            let text = item.get("code").text().unwrap_or_default();
            let code = self.codes.find(text, Use::Write);
            let code = code.ok_or_else(|| format!("code {text:?} may not refuse a row"))?;
            let category = match item.get("category") {
                Item::Null => None,
                word => Some(category(word.text().unwrap_or_default()).ok_or("a refusal of an unknown category")?),
            };
            let column = item.get("column").text().unwrap_or_default();
            let column = rows.names.iter().find(|name| &***name == column).cloned();
            refused.push(RefusedRow {
                row,
                code,
                category,
                column: column.ok_or("a refusal that names no column of the output")?,
                value: item.get("value").text().unwrap_or_default().to_owned(),
                reason: one_line(item.get("reason").text().unwrap_or_default()),
            });
        }
        Ok(refused)
    }
}

fn category(word: &str) -> Option<Category> {
    [
        Category::TypeCoercionFailure,
        Category::NanInOutputField,
        Category::StructuralValidation,
        Category::MultiValueJoinCollision,
    ]
    .into_iter()
    .find(|category| category.word() == word)
}

struct PluginEncoder(Arc<Shared>);

impl Encoder for PluginEncoder {
    fn encode(&self, rows: &OutputRows<'_>, out: &mut Encoded) {
        let plugin = self.0.handle.plugin;
        self.0.encode("encode", rows, &mut LevelNames::default(), out, |call, rows, out| {
            plugin.run("encode", plugin.table.encode, |encode, _| {
                // SAFETY: everything is valid for the call.
                unsafe { encode(self.0.handle.raw, call, rows, out) }
            })
        });
    }
}

/// Writes one file.
struct PluginWriter {
    /// Released before the output that it belongs to.
    handle: Handle,
    shared: Arc<Shared>,
    levels: LevelNames,
    /// Why it could not be opened; told by the first call.
    broken: Option<String>,
}

impl PluginWriter {
    fn open(shared: &Arc<Shared>, header: bool) -> Self {
        let plugin = shared.handle.plugin;
        let asked = Exported::new(Item::map([("header", header.into())]));
        let (mut raw, mut reply) = (std::ptr::null_mut::<c_void>(), Reply::EMPTY);
        let status = plugin.run("writer_open", plugin.table.writer_open, |open, _| {
            // SAFETY: everything is valid for the call.
            unsafe { open(shared.handle.raw, asked.value(), &raw mut raw, &raw mut reply) }
        });
        let broken = match status.and_then(|status| plugin.answer("writer_open", status, &mut reply)) {
            Ok((Answer::Done, _)) if !raw.is_null() => None,
            Ok(_) => Some(plugin.breach("writer_open", "it gave no writer")),
            Err(reason) => Some(reason),
        };
        Self {
            handle: Handle::new(plugin, raw, "writer_free", plugin.table.writer_free),
            shared: Arc::clone(shared),
            levels: LevelNames::default(),
            broken,
        }
    }

    /// Runs a call that writes to `out`.
    fn write<F: Copy>(
        &mut self,
        name: &str,
        function: Option<F>,
        out: &mut dyn io::Write,
        call: impl FnOnce(F, *mut c_void, &Call, &mut Reply) -> u32,
    ) -> io::Result<()> {
        if let Some(reason) = &self.broken {
            return Err(Shared::broken(reason.clone()));
        }
        let (mut reply, mut asked_for) = (Reply::EMPTY, Asked::default());
        let raw = self.handle.raw;
        let status = self.handle.plugin.run(name, function, |function, guard| {
            let mut session = Session::new(guard);
            session.write = Some(out);
            let asked = session.call();
            let status = call(function, raw, &asked, &mut reply);
            asked_for = session.asked();
            status
        });
        self.shared.finished(name, status, &mut reply, asked_for)
    }
}

impl Writer for PluginWriter {
    fn columns(&mut self, names: &[Arc<str>], out: &mut dyn io::Write) -> io::Result<()> {
        let texts: Vec<Str> = names.iter().map(|name| Str { data: name.as_ptr(), len: name.len() }).collect();
        let names = Strs { items: texts.as_ptr(), count: texts.len() };
        let function = self.handle.plugin.table.writer_columns;
        self.write("writer_columns", function, out, |columns, raw, call, reply| {
            // SAFETY: everything is valid for the call.
            unsafe { columns(raw, call, names, reply) }
        })
    }

    fn rows(&mut self, rows: &OutputRows<'_>, out: &mut Encoded) {
        let (plugin, raw) = (self.handle.plugin, self.handle.raw);
        let broken = self.broken.clone();
        self.shared.encode("writer_rows", rows, &mut self.levels, out, |call, rows, out| match broken {
            Some(reason) => Err(reason),
            None => plugin.run("writer_rows", plugin.table.writer_rows, |make, _| {
                // SAFETY: everything is valid for the call.
                unsafe { make(raw, call, rows, out) }
            }),
        });
    }

    fn records(&mut self, encoded: &Encoded, out: &mut dyn io::Write) -> io::Result<()> {
        let lent = types::Encoded::lend(&encoded.bytes, &encoded.ends);
        let function = self.handle.plugin.table.writer_records;
        self.write("writer_records", function, out, |records, raw, call, reply| {
            // SAFETY: everything is valid for the call.
            unsafe { records(raw, call, &lent, reply) }
        })
    }

    fn finish(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        let function = self.handle.plugin.table.writer_finish;
        self.write("writer_finish", function, out, |finish, raw, call, reply| {
            // SAFETY: everything is valid for the call.
            unsafe { finish(raw, call, reply) }
        })
    }
}
