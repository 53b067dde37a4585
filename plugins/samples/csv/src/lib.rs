//! The csv format behind the boundary, under the name `csv_plugin`.

mod read;
mod write;

use std::sync::Arc;

use clinker_csv::Csv;
use clinker_format::{self as host, Format as _};
use clinker_plugin_sdk::{
    Format, OptionFault, OptionKind, OptionSpec, Options, ReadCapabilities, ReadFactory, ReadRequest, Registration,
    WriteCapabilities, WriteFactory, WriteRequest, export_formats,
};

struct CsvPlugin;

fn spec(spec: &host::OptionSpec) -> OptionSpec {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let kind = match spec.kind {
        host::OptionKind::Bool => OptionKind::Bool,
        host::OptionKind::Word(listed) => OptionKind::Word(words(listed)),
        host::OptionKind::Size => OptionKind::Size,
        host::OptionKind::Integer { min, max } => OptionKind::Integer { min, max },
        _ => OptionKind::Text,
    };
    OptionSpec { required: spec.required, ..OptionSpec::new(spec.key, kind, spec.default, spec.doc) }
}

/// The given options as the format knows them.
fn options(given: &Options, specs: &'static [host::OptionSpec]) -> host::Options {
    let mut options = host::Options::default();
    for spec in specs {
        let value = match spec.kind {
            host::OptionKind::Bool => given.bool(spec.key).map(host::OptionValue::Bool),
            host::OptionKind::Size | host::OptionKind::Integer { .. } => {
                given.number(spec.key).map(host::OptionValue::Number)
            }
            _ => given.text(spec.key).map(|text| host::OptionValue::Text(text.to_owned())),
        };
        if let Some(value) = value {
            options.set(spec.key, value);
        }
    }
    options
}

fn faults(faults: Vec<host::OptionFault>) -> Vec<OptionFault> {
    let fault = |fault: host::OptionFault| OptionFault {
        key: fault.key.to_owned(),
        code: fault.code.to_owned(),
        message: fault.message,
        help: fault.help,
    };
    faults.into_iter().map(fault).collect()
}

impl Format for CsvPlugin {
    fn registration(&self) -> Registration {
        let own = Csv.descriptor();
        let read = own.read.as_ref().map(|read| ReadCapabilities {
            options: read.options.iter().map(spec).collect(),
            split_values: read.split_values,
            split_escapes: read.split_escapes,
            undeclared_fields: read.undeclared_fields,
            ..ReadCapabilities::default()
        });
        let write = own.write.as_ref().map(|write| WriteCapabilities {
            options: write.options.iter().map(spec).collect(),
            header: write.header,
            join_values: write.join_values,
            lossy_charsets: write.lossy_charsets,
            ..WriteCapabilities::default()
        });
        Registration {
            name: "csv_plugin".into(),
            summary: "The csv format as a plugin.".into(),
            read,
            write,
            ..Registration::default()
        }
    }

    fn bind_reader(&self, request: &ReadRequest) -> Result<Arc<dyn ReadFactory>, Vec<OptionFault>> {
        let specs = Csv.descriptor().read.as_ref().map_or(&[][..], |read| read.options);
        let fields: Vec<host::InputField> = request.fields.iter().map(read::field).collect();
        let given = options(&request.options, specs);
        let bound = Csv.bind_reader(&host::ReadRequest {
            options: &given,
            fields: &fields,
            undeclared: request.undeclared,
            refuse_undeclared: request.refuse_undeclared,
            expand: &[],
            max_rows: None,
        });
        Ok(Arc::new(read::Reader(bound.map_err(faults)?)))
    }

    fn bind_writer(&self, request: &WriteRequest) -> Result<Arc<dyn WriteFactory>, Vec<OptionFault>> {
        let specs = Csv.descriptor().write.as_ref().map_or(&[][..], |write| write.options);
        let joins: Vec<host::JoinRule> = request.joins.iter().map(write::join).collect();
        let given = options(&request.options, specs);
        let bound = Csv.bind_writer(&host::WriteRequest {
            options: &given,
            header: request.header,
            preserve_nulls: request.preserve_nulls,
            joins: &joins,
        });
        Ok(Arc::new(write::Output(bound.map_err(faults)?)))
    }
}

export_formats!(CsvPlugin);
