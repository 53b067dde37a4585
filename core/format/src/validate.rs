//! Envelope validation, a component of its own: it is told what passes and says what is wrong with it.
//!
//! A value belongs to one input file or one output file. A reader tells it every header, body row and trailer in the order
//! of the input and acts on its answers; a writer tells it what it writes and asks it for the contents of trailers. So
//! reading and writing cannot disagree, and a dialect can change the rules without touching the reader.

/// A header or a trailer.
#[derive(Clone, Copy, Debug)]
pub struct Construct<'a> {
    /// Its tag.
    pub tag: &'a str,
    /// Its elements, decoded; element 1 comes first.
    pub elements: &'a [&'a str],
    /// 1-based number of the segment.
    pub line: u64,
    /// Byte offset in the file where it starts.
    pub offset: u64,
}

impl<'a> Construct<'a> {
    /// Element `number`, counted from 1; none when the construct is shorter or the element empty.
    pub fn element(&self, number: u32) -> Option<&'a str> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.elements.get(at).copied().filter(|element| !element.is_empty())
    }
}

/// What a validator objects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvelopeFault {
    /// The code.
    pub code: &'static str,
    /// Whether it condemns the document and reading may go on behind it (a count), or ends the reading (corruption).
    pub document: bool,
    /// Level, reference, the rule, declared and found values: one line.
    pub reason: String,
}

/// The rules of an envelope, applied. Its state is proportional to the nesting, and no answer depends on how the input was
/// divided.
pub trait EnvelopeValidator: Send {
    /// A segment that opens a level. The answer is the level, by its position among those of the format.
    ///
    /// # Errors
    /// A sequence fault (E425), or a syntax fault (E422).
    fn header(&mut self, header: &Construct<'_>) -> Result<u16, EnvelopeFault>;
    /// Any other row. `element` gives the text of one of its elements, counted from 1.
    ///
    /// # Errors
    /// A sequence fault, or a rule of the format.
    fn body(
        &mut self,
        tag: &str,
        place: (u64, u64),
        bytes: u64,
        element: &dyn Fn(u32) -> Option<String>,
    ) -> Result<(), EnvelopeFault>;
    /// A segment that closes a level. The answer is the level. After a count mismatch the level is closed all the same.
    ///
    /// # Errors
    /// In this order: a sequence fault (E425), an unusable count (E422), a count mismatch (E428), a reference mismatch
    /// (E424).
    fn trailer(&mut self, trailer: &Construct<'_>) -> Result<u16, EnvelopeFault>;
    /// The end of the input.
    ///
    /// # Errors
    /// A missing closing (E421), naming the innermost open level, its reference and where it opened.
    fn end(&mut self) -> Result<(), EnvelopeFault>;
    /// For a writer that closes a level: the elements of its trailer, each with its number. The level is closed.
    fn close(&mut self, level: u16) -> Vec<(u32, String)>;
}
