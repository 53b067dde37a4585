//! Shipping notices: the smallest format with an envelope.

mod read;
mod write;

use std::sync::Arc;

use clinker_plugin_sdk::{
    Code, CorpusFile, Extract, Format, OptionFault, OptionKind, OptionSpec, ReadCapabilities, ReadFactory, ReadRequest,
    Registration, WriteCapabilities, WriteFactory, WriteRequest, export_formats,
};

/// The code of a trailer that counts wrongly: codes of a plugin begin with its name.
const WRONG_COUNT: &str = "E-SHIPMENT-001";

struct Shipment;

/// A file that `clinker plugin check` tries the format with.
fn file(name: &str, text: &str, rows: u64, code: Option<&str>) -> CorpusFile {
    CorpusFile {
        name: name.into(),
        bytes: text.into(),
        options: Vec::new(),
        rows,
        code: code.map(str::to_owned),
        bounded: false,
        round_trip: code.is_none(),
    }
}

impl Format for Shipment {
    fn registration(&self) -> Registration {
        Registration {
            name: "shipment".into(),
            summary: "Shipping notices, one a line, between a header and a trailer that counts them.".into(),
            read: Some(ReadCapabilities {
                extract: Some(Extract::Segment(vec!["HDR".into()])),
                ..ReadCapabilities::default()
            }),
            write: Some(WriteCapabilities {
                options: vec![OptionSpec::new(
                    "batch",
                    OptionKind::Text,
                    "",
                    "The batch, where the records have none.",
                )],
                // What a record becomes depends on those before it: an output cannot be divided.
                no_split: Some("E338".into()),
                one_envelope: true,
                ..WriteCapabilities::default()
            }),
            codes: vec![Code {
                code: WRONG_COUNT.into(),
                title: "Wrong count".into(),
                meaning: "The trailer declares another number of shipments than the file has.".into(),
                remedy: "Have the file sent again.".into(),
                class: "document".into(),
                machine: "source.data.invalid".into(),
            }],
            corpus: vec![
                file("two shipments", "HDR|B9\nSHP|S1|12.5\nSHP|S2|7.25\nTRL|2|B9\n", 2, None),
                CorpusFile { bounded: true, ..file("a bad line", "HDR|B9\nSHP|S1\nTRL|1|B9\n", 0, Some("E423")) },
                file("a wrong count", "HDR|B9\nSHP|S1|1\nTRL|2|B9\n", 1, Some(WRONG_COUNT)),
                file("no trailer", "HDR|B9\nSHP|S1|1\n", 1, Some("E421")),
            ],
        }
    }

    fn bind_reader(&self, _request: &ReadRequest) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        Ok(Arc::new(read::Reader))
    }

    fn bind_writer(&self, request: &WriteRequest) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        Ok(Arc::new(write::Output { batch: request.options.text("batch").map(str::to_owned) }))
    }
}

export_formats!(Shipment);
