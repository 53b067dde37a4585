//! Declaration of Sources, discovery, admission, and patches of Sources.

use super::entry::{Code, Phase};

pub(super) const CODES: &[Code] = &[
    Code::data(
        "E126",
        "Value violates declared type",
        "A cell cannot be read as the type its column declares. The row is dead-lettered under `continue`; \
         under `fail_fast`, or without a place for dead letters, it ends the run.",
        "Fix the data or the type; or use `strategy: continue` with an `error_handling.dlq` block.",
    )
    .exits(&[4, 1]),
    Code::compile(
        "E157",
        "Schema file",
        "An external schema cannot be read or parsed, or points to yet another file.",
        "Fix the schema file.",
    ),
    Code::compile(
        "E158",
        "Type `numeric` declared",
        "A Source column is, or wraps, `numeric`, which is a family of types and not a type.",
        "Declare `int`, `float` or `decimal`.",
    ),
    Code::compile(
        "E159",
        "Generated schema on wrong format",
        "`schema: generated` on a format that has no columns of its own.",
        "List the columns.",
    ),
    Code::compile("E201", "Schema missing", "A Source has no `schema`.", "Add the schema."),
    Code::compile(
        "E210",
        "Several matchers",
        "A Source gives more than one of `path`, `paths`, `glob` and `regex`.",
        "Keep one of them.",
    ),
    Code::compile(
        "E211",
        "No matcher",
        "A file Source gives none of `path`, `paths`, `glob` and `regex`.",
        "Add one of them.",
    ),
    Code::compile("E212", "Bad glob", "The `glob` pattern is invalid.", "Correct the pattern."),
    Code::compile("E213", "Bad regex", "The `regex` pattern is invalid.", "Correct the pattern."),
    Code::compile(
        "E214",
        "Bad duration",
        "`modified_after` or `modified_before` cannot be parsed.",
        "Use a documented form, for example `24h` or `2026-01-31`.",
    ),
    Code::compile(
        "E215",
        "Bad size",
        "`min_size` or `max_size` cannot be parsed.",
        "Write a number with a decimal unit, for example `500KB`.",
    ),
    Code::compile(
        "E216",
        "No file matched",
        "A Source whose `on_no_match` is `error` matched no file, or its search failed with an I/O error.",
        "Fix the location, or choose another `on_no_match`.",
    )
    .phases(&[Phase::Start]),
    Code::data(
        "E217",
        "Files disagree",
        "The files of one Source have different sets of column names; a different order alone is no \
         difference.",
        "Align the files, or split the Source.",
    ),
    Code::compile("E218", "Both takes set", "`take_first` and `take_last` are both given.", "Keep one of them."),
    Code::compile(
        "E219",
        "REST with a matcher",
        "A `rest` Source also gives `path`, `paths`, `glob` or `regex`.",
        "Remove the matcher.",
    ),
    Code::compile(
        "E220",
        "REST format",
        "A `rest` Source uses a format that cannot be paged.",
        "Use one of the formats named in the message.",
    ),
    Code::data(
        "E221",
        "REST read failed",
        "A request, its status, its body or its continuation failed.",
        "Look up the machine code for advice on retrying.",
    )
    .machine(&[
        "rest.protocol.malformed_continuation",
        "rest.protocol.unresolvable_continuation",
        "rest.protocol.unsupported_continuation",
        "rest.protocol.conflicting_continuation",
        "rest.protocol.page_limit_reached",
        "rest.protocol.page_body_limit_reached",
        "rest.http.client_error",
        "rest.security.cross_origin",
        "rest.security.https_downgrade",
    ]),
    Code::compile(
        "E222",
        "Bad JSON pointer",
        "The `json_pointer` of an envelope section is not an RFC 6901 pointer.",
        "Correct the pointer.",
    ),
    Code::compile(
        "E223",
        "REST not built in",
        "A `rest` Source is declared in a build without that capability.",
        "Use a build that has it.",
    ),
    Code::compile(
        "E230",
        "Unknown patch target",
        "The key of a Source patch is malformed or not addressable, or no Source has that name.",
        "Use a listed Source.",
    ),
    Code::compile(
        "E231",
        "Patch of unknown column",
        "A patch changes a column that is not declared.",
        "Use a listed column.",
    ),
    Code::compile(
        "E232",
        "Added column exists",
        "A patch adds a column that is already there.",
        "Modify the column instead.",
    ),
    Code::compile("E233", "Rename collision", "A patch renames to a name that is taken.", "Choose another name."),
    Code::compile(
        "E234",
        "Removal of unknown member",
        "A section field or split entry that a patch removes is not declared.",
        "Use a listed one.",
    ),
    Code::compile(
        "E235",
        "Option rejected",
        "The options of the format refuse a patched value.",
        "Consult the options of the format.",
    ),
    Code::compile("E236", "Added column without type", "A patch adds a column without `type`.", "Add the type."),
    Code::compile(
        "E237",
        "Column operation on other schema",
        "A patch changes columns of a schema that is no flat list of columns.",
        "Patch the records instead.",
    ),
    Code::compile(
        "E238",
        "Operation for another format",
        "A patch carries a section or split operation of a different format.",
        "Remove the operation.",
    ),
    Code::compile(
        "E239",
        "Removal of absent declaration",
        "A patch removes a declaration the Source does not carry.",
        "Remove the operation.",
    ),
    Code::compile(
        "E240",
        "Bad or incomplete target",
        "A patch has a bad name, a zero width or a malformed positional name, or creates something without \
         its required parts.",
        "Complete the patch.",
    ),
    Code::compile(
        "E241",
        "Record operation on flat schema",
        "A patch changes `records` or `discriminator` of a schema with one kind of record.",
        "Patch the columns instead.",
    ),
    Code::compile("E242", "Unknown record type", "A patch names a record id that is not declared.", "Use a listed id."),
    Code::compile(
        "E243",
        "Record type exists",
        "A patch adds a record id that is already declared.",
        "Modify the record instead.",
    ),
    Code::compile(
        "E244",
        "Discriminator shape",
        "The discriminator is not exactly one of a byte range and a field.",
        "Give one of them.",
    ),
    Code::compile("E245", "Duplicate tag", "Two record types share a tag.", "Change one tag."),
    Code::data(
        "E345",
        "Unknown record type",
        "The discriminator of a row matches no entry of `records:`.",
        "Declare the record type, or fix the file.",
    ),
    Code::compile(
        "E358",
        "Bad split declaration",
        "`split_to_rows` or `split_values` repeats a column, nests ambiguously, names an undeclared column, \
         or stands on a format that does not read it.",
        "Correct the declaration.",
    ),
    Code::compile(
        "E360",
        "`array_paths` removed",
        "A Source has `array_paths:`, which is no longer read.",
        "Use `split_to_rows`, `split_values` or `multiple: true`.",
    ),
    Code::compile(
        "E361",
        "Multi-value column unsupported",
        "A column has `multiple: true` where the format of its Source cannot carry several values.",
        "Add `split_values`, or drop `multiple`.",
    ),
    Code::compile(
        "E363",
        "Bad `record_path`",
        "`record_path` has `//`, `$.`, a leading `/`, an empty segment, or a segment that is no legal name.",
        "Write the plain path of the format.",
    ),
    Code::compile(
        "E366",
        "Source order unusable or violated",
        "A declared `sort_order` cannot be used; or, while running, two neighbouring rows break it under \
         `on_unsorted: error`.",
        "Correct the declaration or the file, or use `on_unsorted: warn`.",
    )
    .phases(&[Phase::Compile, Phase::Run])
    .machine(&[super::machine::CONFIGURATION_INVALID, super::machine::SOURCE_DATA_INVALID]),
    Code::compile(
        "E368",
        "Type-error threshold",
        "`type_error_threshold` is not a number from 0 to 1; or, while running, the share of rows that \
         violate their declared types is greater than it.",
        "Check the schema; raise the threshold if that share is acceptable.",
    )
    .phases(&[Phase::Compile, Phase::Run])
    .exits(&[1, 3])
    .machine(&[super::machine::CONFIGURATION_INVALID, super::machine::SOURCE_DATA_INVALID]),
    Code::data(
        "E397",
        "Alias hides a field",
        "The input has a field of its own with the name under which a column with another `source_name` is \
         exposed.",
        "Rename the column.",
    ),
];
