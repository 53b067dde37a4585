//! Formats: options, plugins, reading and writing.

use super::entry::{Code, Phase};
use super::machine::{CONFIGURATION_INVALID, SOURCE_DATA_INVALID, TRANSIENT};

/// Also found when a file is opened.
const fn at_open(code: Code) -> Code {
    code.phases(&[Phase::Compile, Phase::Run]).exits(&[1, 4]).machine(&[CONFIGURATION_INVALID, SOURCE_DATA_INVALID])
}

pub(super) const CODES: &[Code] = &[
    Code::compile(
        "E400",
        "Unknown format",
        "`type` names no registered format, or one that cannot be read or written as the node needs.",
        "Use a listed format, or load its plugin.",
    ),
    Code::compile(
        "E401",
        "Bad delimiter",
        "`delimiter` or `quote_char` is not one usable ASCII byte, or both are the same.",
        "Choose another character.",
    ),
    at_open(Code::compile(
        "E402",
        "Unsupported character set",
        "`encoding` is not accepted by the format; or the data, when opened, name or show an encoding that is \
         not.",
        "Use an encoding that the page of the code names, or convert the file.",
    )),
    Code::compile(
        "E403",
        "Option value out of range",
        "A number, list length or literal of a format option is outside its bounds, or a `default`, `enum`, \
         `precision` or `scale` does not fit its column.",
        "Correct the value.",
    ),
    Code::compile(
        "E404",
        "Bad positional layout",
        "A `start`, `width`, `end` or `pad` of a positional layout is missing, contradictory, overlapping, or \
         does not apply to its type.",
        "Correct the layout.",
    ),
    Code::compile(
        "E405",
        "Bad record columns",
        "A column of a file with several record types is named `record_type`, or one name has types that do \
         not unify.",
        "Rename or align the columns.",
    ),
    Code::compile(
        "E406",
        "Bad record or section declaration",
        "A record id is repeated or unknown, a tag is empty, a header tag is unknown, or a section name is \
         used twice.",
        "Correct the declaration.",
    ),
    Code::compile(
        "E407",
        "Column the format cannot produce",
        "A Source of a message format declares a name outside of the generated shape.",
        "Use the generated names.",
    ),
    Code::compile(
        "E408",
        "Bad XML name option",
        "An element name or prefix is no legal or distinguishable name.",
        "Correct the name.",
    ),
    Code::compile(
        "E409",
        "Missing companion option",
        "An option needs another one that is absent.",
        "Add the option named in the message.",
    ),
    at_open(Code::compile(
        "E410",
        "Compression mismatch",
        "`compression` is unknown, not built in or not usable here; or an opened file does not begin with the \
         signature of the named codec, or shows a codec that is not built in.",
        "Set `compression` to what the file is.",
    )),
    Code::compile(
        "E411",
        "Bad dialect description",
        "The description of a format dialect is invalid; the key is named.",
        "Correct the description.",
    ),
    Code::compile(
        "E413",
        "Section locator of another format",
        "The locator of an envelope section belongs to another format than the Source's.",
        "Use a locator of the format.",
    ),
    Code::compile(
        "E414",
        "Bad component split",
        "`split_fields` or `split_elements` names no generated element, has width 0, repeats one, or yields \
         too many columns.",
        "Correct the entry.",
    ),
    Code::data(
        "E420",
        "Undecodable bytes",
        "Bytes are invalid in the declared character set; the byte offset is given. Such a row is rejected \
         alone under `continue`.",
        "Fix the file, or the `encoding`.",
    ),
    Code::data(
        "E421",
        "Truncated input",
        "The input ends inside a record, a quoted cell, an envelope, a character or a compressed member.",
        "Obtain the complete file.",
    ),
    Code::data(
        "E422",
        "Malformed syntax",
        "The text breaks the grammar of its format, or a compressed file has a bad member or bytes after its \
         last one.",
        "Fix the producer of the file.",
    ),
    Code::data(
        "E423",
        "Wrong count of cells or elements",
        "A row, segment or field has more or fewer parts than its declaration allows. Such a CSV row is \
         rejected alone under `continue`.",
        "Fix the file, or raise the limit.",
    ),
    Code::data(
        "E424",
        "Control reference mismatch",
        "The reference in a trailer differs from the one in its opener.",
        "Fix the producer of the file.",
    ),
    Code::data(
        "E425",
        "Envelope out of order",
        "A header, trailer or block occurs where none may, twice, or after the end.",
        "Fix the file; set `envelopes: many` if several are meant.",
    ),
    Code::data(
        "E426",
        "Size or depth limit",
        "A record, segment, section or nesting passes its limit; the option is named.",
        "Raise the named option.",
    ),
    Code::data(
        "E427",
        "Duplicate name in a record",
        "Two values of one record claim one name.",
        "Declare `multiple`, split the record, or fix the producer.",
    ),
    Code::data(
        "E428",
        "Trailer count mismatch",
        "A count that a trailer declares differs from what was read.",
        "Fix the producer of the file.",
    ),
    Code::data(
        "E429",
        "Record out of place",
        "In a flat file a row follows the closing trailer, a header or trailer occurs twice, or a header \
         follows the body.",
        "Fix the producer of the file, or declare padding.",
    ),
    Code::data(
        "E430",
        "Undeclared field",
        "`on_unmapped: reject` met a field the schema does not declare.",
        "Declare the field, or change the mode.",
    ),
    Code::data(
        "E432",
        "File changed while read",
        "Size or content of a file differ between two passes over it.",
        "Read a stable file; retry.",
    )
    .machine(&[TRANSIENT]),
    Code::data(
        "E433",
        "Section value not convertible",
        "A section or field of an envelope has not its declared type or shape.",
        "Fix the declared type, or the file.",
    ),
    Code::data(
        "E440",
        "Structure in a flat format",
        "A map, or an array where none is allowed, reaches a flat cell.",
        "Flatten the value first.",
    ),
    Code::data(
        "E441",
        "Columns drift",
        "A record carries a column that the layout of a framed or positional output lacks.",
        "Declare the column, or set `include_unmapped: false`.",
    ),
    Code::data(
        "E442",
        "Joined values collide",
        "A value to be joined contains the delimiter under `on_conflict: error`.",
        "Use `escape` or `encode_json`.",
    ),
    Code::data(
        "E443",
        "Value not representable",
        "A value is a non-finite number, holds a character that the format or character set forbids, or is \
         unbalanced literal text.",
        "Clean the value, or choose another `encoding`.",
    ),
    Code::data(
        "E444",
        "Fixed width exceeded",
        "A value is longer than its column under `truncation: error`.",
        "Widen the column, or truncate.",
    ),
    Code::data(
        "E445",
        "Second document",
        "An output with one envelope receives a second document, or two different header echoes.",
        "Consolidate the documents, or split the output.",
    ),
    Code::data(
        "E446",
        "Header section missing",
        "A section, header or block that a header refers to does not exist.",
        "Supply it, or a literal.",
    )
    .phases(&[Phase::Compile, Phase::Run])
    .exits(&[4, 1])
    .machine(&[SOURCE_DATA_INVALID, CONFIGURATION_INVALID]),
    Code::data(
        "E447",
        "Columns contradict",
        "A column has no place in the message format, or an element is given together with its components.",
        "Use `exclude` or `mapping`.",
    ),
    Code::data(
        "E448",
        "Bad column path",
        "A column name cannot form a path: a bad escape, too many segments, or an illegal element name.",
        "Rename the column.",
    ),
    Code::data(
        "E449",
        "Structural cell missing",
        "A record lacks the segment id, type, block, tag or document it needs.",
        "Supply it.",
    ),
    Code::compile(
        "E460",
        "Format file not found",
        "An entry of `plugins` or `dialects` names no readable regular file.",
        "Correct the path; it is relative to the workspace.",
    ),
    Code::compile(
        "E461",
        "Not a format plugin",
        "The file is no library of this platform, or lacks the entry point of a plugin.",
        "Build it for this platform with the plugin SDK.",
    ),
    Code::compile(
        "E462",
        "Interface not supported",
        "The plugin is built for another major of the interface, or requires a capability the engine does not \
         know.",
        "Install a matching plugin or engine.",
    ),
    Code::compile(
        "E463",
        "Format name clash",
        "A format name is registered twice; both origins are named.",
        "Drop or rename one of them.",
    ),
    Code::compile(
        "E464",
        "Plugin layout mismatch",
        "The boundary types of a plugin differ in size, alignment or order from the engine's.",
        "Rebuild it with the matching SDK.",
    ),
    Code::compile(
        "E465",
        "Plugin failed while loading",
        "The entry point or registration of a plugin panicked, crashed or returned an error.",
        "Report it to the author of the plugin.",
    ),
    Code::compile(
        "E466",
        "Invalid registration",
        "A name, option, capability or code that a plugin registers breaks the rules or contradicts another; \
         it is named.",
        "Report it to the author of the plugin.",
    ),
    Code::compile(
        "E467",
        "Plugins forbidden",
        "A pipeline loads a plugin while `CLINKER_FORBID_PLUGINS` is set.",
        "Remove the plugin, or run where plugins are allowed.",
    ),
    Code::compile(
        "E468",
        "Plugin broke the contract",
        "While running, a plugin panicked, returned wrong or invalid data or an event out of place, or did \
         not return. Nothing is published.",
        "Check it with `clinker plugin check`; report it to the author of the plugin.",
    )
    .phases(&[Phase::Run])
    .machine(&["runtime.invariant.plugin_contract"]),
];
