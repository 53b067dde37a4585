//! Document context and envelopes.

use super::entry::Code;

pub(super) const CODES: &[Code] = &[
    Code::compile(
        "E341",
        "Unknown `$doc` member",
        "A `$doc` section or field is declared by no Source that feeds the expression.",
        "Declare it, or fix the name.",
    ),
    Code::compile(
        "E346",
        "Envelope references",
        "A Sink names a section that no feeding Source has, or asks for a record count where none can be \
         written.",
        "Correct the reference.",
    ),
    Code::compile(
        "E347",
        "Reconstruction conflict",
        "`reconstruct_envelope` meets a feature that breaks documents apart or merges them, and no Envelope \
         node follows it.",
        "Drop one of the two, or add an Envelope node.",
    ),
    Code::compile(
        "E348",
        "Unknown positional `$doc`",
        "A `$doc` path of a segment format names a section that is not made, or an element outside its \
         pattern or maximum.",
        "Correct the path.",
    ),
    Code::compile(
        "E349",
        "`$doc` on REST",
        "`$doc` is read below a `rest` Source, or such a Source has `envelope:`.",
        "Remove it.",
    ),
    Code::data(
        "E350",
        "Conflicting headers",
        "A `concat` would merge documents with two different headers.",
        "Separate the documents, or replace the headers.",
    )
    .exits(&[1]),
    Code::data(
        "E351",
        "Header without document",
        "A wired header matches no document of the body.",
        "Carry the grain of the documents through.",
    )
    .exits(&[1]),
    Code::data("E352", "Several headers", "Two wired headers match one document.", "Reduce them to one.").exits(&[1]),
    Code::compile(
        "E353",
        "Header reads body",
        "A synthesized header reads a column of the body.",
        "Use an aggregate in the footer.",
    ),
    Code::compile(
        "E354",
        "Footer not foldable",
        "A footer uses something other than `count`, `sum`, `avg`, `min` or `max` over a bare field or `*`.",
        "Simplify the footer.",
    ),
    Code::compile(
        "E355",
        "Documents would merge",
        "A Sink that writes one envelope is fed several documents, and no node consolidates them.",
        "Add an Envelope node, or split the output.",
    ),
    Code::compile(
        "E356",
        "Envelope on flat file",
        "A flat Source with one kind of record has `envelope:`.",
        "Use `discriminator` and `records`, or remove it.",
    ),
    Code::compile(
        "E357",
        "Section is not the file header",
        "A section of a message format extracts something other than its file-level header.",
        "Read nested levels by `$doc`.",
    ),
];
