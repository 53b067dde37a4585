//! Formats of plugins: the reading half.

use std::ffi::c_void;
use std::sync::Arc;

use clinker_format::input::BlockInput;
use clinker_format::{
    Block, BlockBound, Cutter, Descriptor, Fault, FileIdentity, Format, LevelEvent, LevelOpen, LevelSpec, Mark, Note,
    OpenFile, OptionFault, PluginFacts, ReadFactory, ReadRequest, Vocabulary, WriteFactory, WriteRequest,
};
use clinker_plugin_abi::types::{self, Bound, Cut, Opened};
use clinker_plugin_abi::{Exported, Item, Reply};
use clinker_record::{Frame, Kind, Type};

use crate::calls::{Answer, Asked, Handle, Plugin, Session, one_line};
use crate::codes::{Codes, Use};
use crate::decoding::PluginDecoder;
use crate::{export, writing};

/// A format of a plugin.
pub(crate) struct PluginFormat {
    pub plugin: &'static Plugin,
    /// Its position among those of the plugin.
    pub at: u32,
    pub descriptor: &'static Descriptor,
    pub codes: Arc<Codes>,
    pub facts: PluginFacts,
}

impl Format for PluginFormat {
    fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }

    fn bind_reader(&self, request: &ReadRequest<'_>) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        let table = &self.plugin.table;
        let asked = Exported::new(export::read_request(request));
        let (mut raw, mut reply) = (std::ptr::null_mut::<c_void>(), Reply::EMPTY);
        let status = self.plugin.run("bind_reader", table.bind_reader, |bind, _| {
            // SAFETY: request and places are valid for the call.
            unsafe { bind(self.at, asked.value(), &raw mut raw, &raw mut reply) }
        });
        let handle = Handle::new(self.plugin, raw, "reader_free", table.reader_free);
        let bound = self.bound("bind_reader", status, &mut reply)?;
        let facts = facts(&bound).map_err(|what| vec![self.broken("bind_reader", &what)])?;
        Ok(Arc::new(PluginReader { handle: Arc::new(handle), codes: Arc::clone(&self.codes), facts }))
    }

    fn plugin(&self) -> Option<&PluginFacts> {
        Some(&self.facts)
    }

    fn bind_writer(&self, request: &WriteRequest<'_>) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        writing::bind(self, request).map(|(output, _)| output as Arc<dyn WriteFactory>)
    }

    fn writer_warnings(&self, request: &WriteRequest<'_>) -> Vec<OptionFault> {
        writing::bind(self, request).map(|(_, warnings)| warnings).unwrap_or_default()
    }
}

impl PluginFormat {
    /// A breach while options are bound.
    pub(crate) fn broken(&self, call: &str, what: &str) -> OptionFault {
        OptionFault { key: "", code: "E468", message: self.plugin.breach(call, what), help: None }
    }

    /// What binding said.
    pub(crate) fn bound(
        &self,
        call: &str,
        status: Result<u32, String>,
        reply: &mut Reply,
    ) -> Result<Item, Vec<OptionFault>> {
        let said = status.and_then(|status| self.plugin.answer(call, status, reply));
        match said {
            Ok((Answer::Done, item)) => Ok(item),
            Ok((Answer::Fault, item)) if !item.items().is_empty() => {
                Err(item.items().iter().map(|item| self.option_fault(call, item, Use::Options)).collect())
            }
            Ok((answer, _)) => Err(vec![self.broken(call, &format!("it answered {answer:?}"))]),
            Err(message) => Err(vec![OptionFault { key: "", code: "E468", message, help: None }]),
        }
    }

    pub(crate) fn option_fault(&self, call: &str, item: &Item, used: Use) -> OptionFault {
        let code = item.get("code").text().unwrap_or_default();
        let Some(code) = self.codes.find(code, used) else {
            return self.broken(call, &format!("code {code:?} may not be used there"));
        };
        let read = self.descriptor.read.iter().flat_map(|read| read.options);
        let options = read.chain(self.descriptor.write.iter().flat_map(|write| write.options));
        let key = item.get("key").text().unwrap_or_default();
        OptionFault {
            key: options.map(|option| option.key).find(|known| *known == key).unwrap_or_default(),
            code,
            message: one_line(item.get("message").text().unwrap_or_default()),
            help: item.get("help").text().map(one_line),
        }
    }
}

/// What a bound reader says of itself.
struct Facts {
    levels: Vec<LevelSpec>,
    vocabulary: Vocabulary,
    generated: Option<Arc<[Arc<str>]>>,
}

fn facts(item: &Item) -> Result<Facts, String> {
    let levels = list(item, "levels")?.iter().map(level_spec).collect::<Result<_, _>>()?;
    let vocabulary = match item.get("vocabulary") {
        Item::Null => Vocabulary::Closed,
        Item::Text(word) if word == "closed" => Vocabulary::Closed,
        Item::Text(word) if word == "open" => Vocabulary::Open,
        map => {
            let max = map.get("max").number().and_then(|max| u32::try_from(max).ok());
            let (Some(prefix), Some(max)) = (map.get("prefix").text(), max) else {
                return Err("a vocabulary that is neither a word nor a prefix with a maximum".into());
            };
            Vocabulary::Positional { prefix: prefix.into(), max }
        }
    };
    let generated = match item.get("generated_columns") {
        Item::Null => None,
        columns => Some(names(columns)?.into()),
    };
    Ok(Facts { levels, vocabulary, generated })
}

fn names(item: &Item) -> Result<Vec<Arc<str>>, String> {
    let name = |item: &Item| item.text().map(Arc::from).ok_or_else(|| "a name that is not a text".to_owned());
    match item {
        Item::Null => Ok(Vec::new()),
        Item::List(items) => items.iter().map(name).collect(),
        _ => Err("names that are not a list".into()),
    }
}

/// A list that a map may have.
pub(crate) fn list<'a>(map: &'a Item, key: &str) -> Result<&'a [Item], String> {
    match map.get(key) {
        Item::Null => Ok(&[]),
        Item::List(items) => Ok(items),
        _ => Err(format!("`{key}` is not a list")),
    }
}

fn level_spec(item: &Item) -> Result<LevelSpec, String> {
    let name = item.get("name").text().filter(|name| !name.is_empty()).ok_or("a level without a name")?;
    let field = |item: &Item| {
        let ty = item.get("type").text().unwrap_or("string");
        let parsed = parse_type(ty).ok_or_else(|| format!("a field of level `{name}` has the unknown type {ty:?}"))?;
        Ok::<_, String>((Arc::from(item.get("name").text().unwrap_or_default()), parsed))
    };
    let fields = match item.get("fields") {
        Item::Null => None,
        fields => Some(fields.items().iter().map(field).collect::<Result<Vec<_>, _>>()?),
    };
    let frame = match item.get("frame") {
        Item::Null => Frame::Inherit,
        Item::Text(word) if word == "inherit" => Frame::Inherit,
        Item::Text(word) if word == "new" => Frame::New,
        _ => return Err(format!("the frame of level `{name}` is neither `inherit` nor `new`")),
    };
    Ok(LevelSpec {
        name: name.into(),
        section: item.get("section").text().unwrap_or(name).into(),
        fields,
        frame,
        file: item.get("file").bool().unwrap_or(false),
    })
}

pub(crate) fn parse_type(text: &str) -> Option<Type> {
    match text.strip_prefix("nullable(").and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => Kind::from_word(inner).map(Type::nullable),
        None => Kind::from_word(text).map(Type::plain),
    }
}

/// A format with its options bound.
struct PluginReader {
    handle: Arc<Handle>,
    codes: Arc<Codes>,
    facts: Facts,
}

impl ReadFactory for PluginReader {
    fn open(&self, file: &FileIdentity, input: &mut BlockInput) -> Result<OpenFile, Fault> {
        let plugin = self.handle.plugin;
        let identity = Item::map([("source", (&*file.source).into()), ("shown", (&*file.shown).into())]);
        let identity = Exported::new(identity);
        let null = std::ptr::null_mut();
        let mut out = Opened { cutter: null, decoder: null, consumed: 0, reply: Reply::EMPTY };
        let mut asked = Asked::default();
        let status = plugin.run("open", plugin.table.open, |open, guard| {
            let mut session = Session::new(guard);
            session.input = Some(input);
            let window = session.window();
            let call = session.call();
            // SAFETY: everything is valid for the call.
            let status = unsafe { open(self.handle.raw, &call, identity.value(), &window, &raw mut out) };
            asked = session.asked();
            status
        });
        let cutter = Handle::new(plugin, out.cutter, "cutter_free", plugin.table.cutter_free);
        let decoder = Handle::new(plugin, out.decoder, "decoder_free", plugin.table.decoder_free);
        let (calls, codes) = (Calls { plugin, name: "open" }, &self.codes);
        let status = status.map_err(|reason| Fault::Contract { reason })?;
        calls.consume(input, out.consumed)?;
        let (answer, item) = calls.done(status, &mut out.reply, codes, input, asked)?;
        if answer != Answer::Done {
            return Err(calls.breach(&format!("it answered {answer:?}")));
        }
        if cutter.raw.is_null() || decoder.raw.is_null() {
            return Err(calls.breach("it gave no cutter or no decoder"));
        }
        let columns = names(item.get("columns")).map_err(|what| calls.breach(&what))?;
        let header = item.get("header_line").number().zip(item.get("header_offset").number());
        let reader = Arc::clone(&self.handle);
        let shared = Arc::new(Shared { codes: Arc::clone(codes), columns: columns.len(), _reader: reader });
        Ok(OpenFile {
            columns,
            named_by_file: item.get("named_by_file").bool().unwrap_or(false),
            cutter: Box::new(PluginCutter {
                handle: cutter,
                shared: Arc::clone(&shared),
                levels: self.facts.levels.len(),
                header,
                next_row: 1,
                open: 0,
                idle: 0,
                notes: Vec::new(),
            }),
            decoder: Arc::new(PluginDecoder { handle: decoder, shared }),
        })
    }

    fn levels(&self) -> &[LevelSpec] {
        &self.facts.levels
    }

    fn vocabulary(&self) -> Vocabulary {
        self.facts.vocabulary.clone()
    }

    fn generated_columns(&self) -> Option<Arc<[Arc<str>]>> {
        self.facts.generated.clone()
    }
}

/// What the cutter and the decoder of a file share.
pub(crate) struct Shared {
    pub codes: Arc<Codes>,
    pub columns: usize,
    /// Released behind both: they may look at it.
    _reader: Arc<Handle>,
}

/// What a call of a name means.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    pub plugin: &'static Plugin,
    pub name: &'static str,
}

impl Calls {
    pub(crate) fn breach(self, what: &str) -> Fault {
        Fault::Contract { reason: self.plugin.breach(self.name, what) }
    }

    /// Takes off the input what the plugin is done with.
    fn consume(self, input: &mut BlockInput, consumed: u64) -> Result<(), Fault> {
        let held = input.window().len();
        match usize::try_from(consumed) {
            Ok(0) => Ok(()),
            Ok(consumed) if consumed <= held => {
                input.take(consumed);
                Ok(())
            }
            _ => Err(self.breach(&format!("it claims {consumed} bytes of the {held} that it was given"))),
        }
    }

    /// The answer of a call that went well. A failure of the input that the plugin passed over comes back later.
    fn done(
        self,
        status: u32,
        reply: &mut Reply,
        codes: &Codes,
        input: &mut BlockInput,
        asked: Asked,
    ) -> Result<(Answer, Item), Fault> {
        let answer = self.plugin.answer(self.name, status, reply).map_err(|reason| Fault::Contract { reason })?;
        if let Some(misused) = asked.misused {
            return Err(self.breach(&misused));
        }
        match (answer, asked.failed) {
            // A plugin that could not read on has not seen what it judges: fault and end may be made of the failure.
            ((Answer::Host | Answer::Fault | Answer::End, _), Some(error)) => Err(error.into()),
            ((Answer::Host, _), None) => {
                // A run that was cancelled is ended by the engine itself.
                let cancelled = (crate::watch::surroundings().cancelled)();
                Err(if cancelled {
                    Fault::Io(std::io::ErrorKind::Interrupted.into())
                } else {
                    self.breach("it says that the engine failed, which it did not")
                })
            }
            ((Answer::Fault, item), _) => Err(self.fault(&item, codes)),
            ((answer, item), failed) => {
                if let Some(error) = failed {
                    input.defer(error);
                }
                Ok((answer, item))
            }
        }
    }

    /// The end that the plugin says a file has is the end of its bytes.
    fn ended(self, input: &mut BlockInput) -> Result<(), Fault> {
        while input.window().is_empty() && !input.ended() {
            input.grow()?;
        }
        match input.window().len() {
            0 => Ok(()),
            left => Err(self
                .breach(&format!("it ends the file at byte {}, {left} bytes or more before its end", input.offset()))),
        }
    }

    /// A fault that the plugin found in the data.
    pub(crate) fn fault(self, item: &Item, codes: &Codes) -> Fault {
        let text = item.get("code").text().unwrap_or_default();
        let document = item.get("kind").text() == Some("violation");
        let used = if document { Use::Document } else { Use::Corruption };
        let Some(code) = codes.find(text, used) else {
            return self.breach(&format!("code {text:?} may not be used there"));
        };
        let (line, offset) = (item.get("line").number().unwrap_or(0), item.get("offset").number().unwrap_or(0));
        let reason = one_line(item.get("reason").text().unwrap_or_default());
        if document {
            Fault::Violation { code, line, offset, reason }
        } else {
            Fault::Corruption { code, line, offset, reason, help: item.get("help").text().map(one_line) }
        }
    }
}

/// Blocks without bytes and rows that may follow each other: more of them are a plugin that runs in circles.
const IDLE: u32 = 10_000;

/// Cuts one file.
struct PluginCutter {
    handle: Handle,
    shared: Arc<Shared>,
    levels: usize,
    header: Option<(u64, u64)>,
    next_row: u64,
    /// Levels that are open.
    open: usize,
    /// Blocks without bytes, one behind the other.
    idle: u32,
    notes: Vec<Note>,
}

/// What goes with a block from the cutter to the decoder.
pub(crate) struct Context {
    pub handle: Handle,
    /// Released behind the context.
    _shared: Arc<Shared>,
}

impl Cutter for PluginCutter {
    fn cut(&mut self, input: &mut BlockInput, bound: BlockBound) -> Result<Option<Block>, Fault> {
        let plugin = self.handle.plugin;
        let calls = Calls { plugin, name: "cut" };
        let rows = bound.rows.clamp(1, u32::MAX as usize);
        let asked = Bound { rows: rows as u64, bytes: bound.bytes as u64 };
        let mut out = empty_cut();
        let mut asked_for = Asked::default();
        let status = plugin.run("cut", plugin.table.cut, |cut, guard| {
            let mut session = Session::new(guard);
            session.input = Some(input);
            let window = session.window();
            let call = session.call();
            // SAFETY: everything is valid for the call; this thread alone cuts.
            let status = unsafe { cut(self.handle.raw, &call, &window, asked, &raw mut out) };
            asked_for = session.asked();
            status
        });
        let context = (!out.context.is_null()).then(|| Context {
            handle: Handle::new(plugin, out.context, "context_free", plugin.table.context_free),
            _shared: Arc::clone(&self.shared),
        });
        let status = status.map_err(|reason| Fault::Contract { reason })?;
        if status != types::STATUS_OK {
            calls.consume(input, out.consumed)?;
        }
        let (answer, item) = calls.done(status, &mut out.reply, &self.shared.codes, input, asked_for)?;
        if answer == Answer::End {
            calls.ended(input)?;
            if self.open > 0 {
                return Err(calls.breach("levels are open at the end of the file"));
            }
            self.notes = self.read_notes(&item).map_err(|what| calls.breach(&what))?;
            return Ok(None);
        }
        self.block(input, &out, rows, &item, context).map(Some).map_err(|what| calls.breach(&what))
    }

    fn header_place(&self) -> Option<(u64, u64)> {
        self.header
    }

    fn notes(&self) -> Vec<Note> {
        self.notes.clone()
    }
}

fn empty_cut() -> Cut {
    Cut { start: 0, len: 0, consumed: 0, rows: 0, first_line: 0, context: std::ptr::null_mut(), reply: Reply::EMPTY }
}

impl PluginCutter {
    /// Takes the block that the plugin describes.
    fn block(
        &mut self,
        input: &mut BlockInput,
        cut: &Cut,
        most: usize,
        item: &Item,
        context: Option<Context>,
    ) -> Result<Block, String> {
        let held = input.window().len();
        let size = |value: u64| usize::try_from(value).ok().filter(|value| *value <= held);
        let places = size(cut.start).zip(size(cut.len)).zip(size(cut.consumed));
        let Some(((start, len), consumed)) = places.filter(|((start, len), consumed)| start + len <= *consumed) else {
            return Err(format!(
                "its block of {} bytes at {} of {} consumed ones does not lie in the {held} that it was given",
                cut.len, cut.start, cut.consumed
            ));
        };
        let rows = u32::try_from(cut.rows).ok().filter(|rows| *rows as usize <= most);
        let rows = rows.ok_or_else(|| format!("its block has {} rows, {most} are allowed", cut.rows))?;
        if rows > 0 && len == 0 {
            return Err(format!("its block of no bytes has {rows} rows"));
        }
        let marks = self.marks(item, rows)?;
        if consumed == 0 && rows == 0 {
            self.idle += 1;
            if marks.is_empty() || self.idle > IDLE {
                return Err("its block has no bytes and no rows, and the file does not end".into());
            }
        } else {
            self.idle = 0;
        }
        if start > 0 {
            input.take(start);
        }
        let offset = input.offset();
        let data = input.take(len);
        if consumed > start + len {
            input.take(consumed - start - len);
        }
        let first_row = self.next_row;
        self.next_row += u64::from(rows);
        let context = context.map(|context| Arc::new(context) as Arc<_>);
        Ok(Block { data, rows, first_row, first_line: cut.first_line, offset, marks, context })
    }

    fn marks(&mut self, item: &Item, rows: u32) -> Result<Vec<Mark>, String> {
        let mut marks: Vec<Mark> = Vec::new();
        for mark in list(item, "marks")? {
            let row = mark.get("row").number().and_then(|row| u32::try_from(row).ok());
            let row = row.filter(|row| *row <= rows && marks.last().is_none_or(|last| last.row <= *row));
            let row = row.ok_or("a mark that is out of place")?;
            let event = match mark.get("open") {
                Item::Null => {
                    self.open = self.open.checked_sub(1).ok_or("a level closes although none is open")?;
                    LevelEvent::Close
                }
                open => {
                    self.open += 1;
                    LevelEvent::Open(self.level_open(open)?)
                }
            };
            marks.push(Mark { row, event });
        }
        Ok(marks)
    }

    fn level_open(&self, item: &Item) -> Result<LevelOpen, String> {
        let level = item.get("level").number().and_then(|level| u16::try_from(level).ok());
        let level = level.filter(|level| usize::from(*level) < self.levels).ok_or("a level that is not registered")?;
        let field = |item: &Item| {
            let name = item.get("name").text().ok_or("a field without a name")?;
            let value = item.get("value").text().ok_or("a field of a level that is not text")?;
            Ok::<_, String>((Arc::from(name), Arc::from(value)))
        };
        let key = |item: &Item| {
            let name = item.get("name").text().unwrap_or_default();
            let known = ["$raw", "$delims", "$newline"].into_iter().find(|known| *known == name);
            let known = known.ok_or_else(|| format!("the unknown engine key {name:?}"))?;
            let value = item.get("value").bytes().ok_or("an engine key that is not bytes")?;
            Ok::<_, String>((known, Arc::from(value)))
        };
        Ok(LevelOpen {
            level,
            fields: item.get("fields").items().iter().map(field).collect::<Result<_, _>>()?,
            keys: item.get("keys").items().iter().map(key).collect::<Result<_, _>>()?,
            line: item.get("line").number().unwrap_or(0),
            offset: item.get("offset").number().unwrap_or(0),
        })
    }

    fn read_notes(&self, item: &Item) -> Result<Vec<Note>, String> {
        let mut notes: Vec<Note> = Vec::new();
        for note in list(item, "notes")? {
            let text = note.get("code").text().unwrap_or_default();
            let code = self.shared.codes.find(text, Use::Warning);
            let code = code.ok_or_else(|| format!("code {text:?} may not be noted"))?;
            if notes.iter().any(|known| known.code == code) {
                return Err(format!("{code} is noted twice"));
            }
            let text = one_line(note.get("text").text().unwrap_or_default());
            notes.push(Note { code, count: note.get("count").number().unwrap_or(1), text });
        }
        Ok(notes)
    }
}
