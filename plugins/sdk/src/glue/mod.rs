//! The traits of authors, as the boundary wants them: named values on one side, types on the other.

mod reading;
mod writing;

use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use clinker_plugin_abi::Item;
use clinker_plugin_abi::guest::{
    Asker, Columns, Given, Guest, HostFailed, Input, Next, Opening, Records, Sink, Stop, Written,
};

use crate::{Format, Formats, OptionFault, WriteFault};
use reading::{Context, FileDecoder};

/// The formats of a plugin behind the boundary.
pub struct Kit<F>(PhantomData<F>);

fn format_at<F: Formats>(at: usize) -> Result<&'static dyn Format, Stop> {
    F::formats().get(at).copied().ok_or_else(|| Stop::Error(format!("there is no format {at}")))
}

fn faults(faults: Vec<OptionFault>) -> Stop {
    if faults.is_empty() {
        return Stop::Error("options were refused without a reason".into());
    }
    Stop::Fault(Item::List(faults.into_iter().map(OptionFault::into_item).collect()))
}

/// What an error of a stream means.
fn io_stop(error: &io::Error) -> Stop {
    let Some(inner) = error.get_ref() else { return Stop::Error(error.to_string()) };
    if inner.is::<HostFailed>() {
        return Stop::Host;
    }
    match inner.downcast_ref::<WriteFault>() {
        Some(fault) => Stop::Fault(Item::map([
            ("code", fault.code.as_str().into()),
            ("column", (&*fault.column).into()),
            ("reason", fault.reason.as_str().into()),
        ])),
        None => Stop::Error(error.to_string()),
    }
}

impl<F: Formats> Guest for Kit<F> {
    type Reader = Arc<dyn crate::ReadFactory>;
    type Cutter = Box<dyn crate::Cutter>;
    type Decoder = FileDecoder;
    type Context = Context;
    type Output = writing::Output;
    type Writer = Box<dyn crate::Writer>;

    fn load() -> Result<Item, String> {
        Ok(Item::List(F::formats().iter().map(|format| format.registration().to_item()).collect()))
    }

    fn bind_reader(format: usize, request: &Item) -> Result<(Self::Reader, Item), Stop> {
        let request = reading::request(request);
        let reader = format_at::<F>(format)?.bind_reader(&request).map_err(faults)?;
        let reply = reading::bound(&*reader);
        Ok((reader, reply))
    }

    fn open(reader: &Self::Reader, file: &Item, input: &mut Input) -> Result<Opening<Self>, Stop> {
        let opened = reader.open(&reading::identity(file), input).map_err(reading::stop)?;
        let reply = reading::opened(&opened);
        Ok(Opening { cutter: opened.cutter, decoder: FileDecoder(opened.decoder), reply })
    }

    fn cut(cutter: &mut Self::Cutter, input: &mut Input, rows: u64, bytes: u64) -> Result<Next<Context>, Stop> {
        reading::cut(&mut **cutter, input, rows, bytes)
    }

    fn decode(decoder: &FileDecoder, block: &Given<'_, Context>, wanted: &[usize]) -> Result<Columns, Stop> {
        reading::decode(decoder, block, wanted)
    }

    fn row_text(decoder: &FileDecoder, block: &Given<'_, Context>, row: u64) -> Result<Item, Stop> {
        reading::row_text(decoder, block, row)
    }

    fn bind_writer(format: usize, request: &Item) -> Result<(writing::Output, Item), Stop> {
        let factory = format_at::<F>(format)?.bind_writer(&writing::request(request)).map_err(faults)?;
        Ok(writing::bound(factory))
    }

    fn encode(output: &writing::Output, rows: &Written) -> Result<Records, Stop> {
        output.encode(rows)
    }

    fn complete(output: &writing::Output, request: &Item, host: &Asker) -> Result<(), Stop> {
        output.complete(request, host).map_err(|error| io_stop(&error))
    }

    fn writer_open(output: &writing::Output, request: &Item) -> Result<Self::Writer, Stop> {
        Ok(output.writer(request.get("header").bool().unwrap_or(true)))
    }

    fn writer_columns(writer: &mut Self::Writer, names: &[Arc<str>], sink: &mut Sink) -> Result<(), Stop> {
        writer.columns(names, sink).map_err(|error| io_stop(&error))
    }

    fn writer_rows(writer: &mut Self::Writer, rows: &Written) -> Result<Records, Stop> {
        let mut out = crate::Encoded::default();
        writer.rows(&writing::rows(rows)?, &mut out);
        Ok(writing::records(out))
    }

    fn writer_records(writer: &mut Self::Writer, bytes: &[u8], ends: &[u32], sink: &mut Sink) -> Result<(), Stop> {
        writer.records(bytes, ends, sink).map_err(|error| io_stop(&error))
    }

    fn writer_finish(writer: &mut Self::Writer, sink: &mut Sink) -> Result<(), Stop> {
        writer.finish(sink).map_err(|error| io_stop(&error))
    }
}
