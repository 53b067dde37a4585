//! How the bytes that separate are found at the front of an interchange (formats.md 7.3, 8.2, 9.2, 10.2, 15.6).

use std::sync::Arc;

use clinker_record::text::preview_bytes;

use crate::dialect::{Condition, Dialect, Framing, Role, Source, SourcePlace, Test, Unless};

/// The separators of one interchange. All of them are ASCII and different; only the terminator can be a line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delimiters {
    /// Between elements.
    pub element: u8,
    /// Between tag and first element; mostly the same.
    pub tag: u8,
    /// Behind a segment.
    pub terminator: u8,
    /// Between components.
    pub component: Option<u8>,
    /// Between the parts of a component.
    pub subcomponent: Option<u8>,
    /// Between repetitions.
    pub repetition: Option<u8>,
    /// Makes what follows literal, or encloses escape sequences.
    pub release: Option<u8>,
    /// One byte for each role of the dialect in the order of its discovery, 0 where there is none: the engine key
    /// `$delims`.
    pub key: Arc<[u8]>,
}

impl Delimiters {
    /// The byte of a role.
    pub fn of(&self, role: Role) -> Option<u8> {
        match role {
            Role::Element => Some(self.element),
            Role::Terminator => Some(self.terminator),
            Role::Component => self.component,
            Role::Subcomponent => self.subcomponent,
            Role::Repetition => self.repetition,
            Role::Release => self.release,
            Role::Tag => Some(self.tag),
        }
    }
}

/// The front of an interchange.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub delimiters: Delimiters,
    /// Bytes in front of the header: the service segment and what follows it.
    pub header: usize,
    /// Blanks and tabs among these.
    pub blanks: u64,
    /// For each role that stands at a byte of the header: that byte's place and value. Segments that redeclare agree.
    pub declared: Vec<(usize, u8)>,
}

/// As much of a wrong beginning is shown.
const SHOWN_BYTES: usize = 16;

/// Why there is no start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StartFault {
    pub code: &'static str,
    /// Position in the window.
    pub at: usize,
    pub reason: String,
}

/// Looks at the front of an interchange; `None` when more bytes are needed to tell. `complete` says that no more bytes
/// come, or that there are as many as the largest segment may have.
pub(crate) fn discover(dialect: &Dialect, window: &[u8], complete: bool) -> Result<Option<Start>, StartFault> {
    let framing = &dialect.framing;
    let Some((service, header, blanks)) = find_header(framing, window, complete)? else { return Ok(None) };
    let data = &window[header..];
    let data = match framing.header_bytes {
        Some(bytes) if data.len() >= bytes => &data[..bytes],
        Some(_) if !complete => return Ok(None),
        Some(bytes) => {
            let reason = format!("the header is {bytes} bytes long, and the input ends after {} of them", data.len());
            return Err(StartFault { code: "E421", at: header, reason });
        }
        None => data,
    };
    let service = &window[..service];
    let mut resolver = Resolver { framing, service, header: data, complete, found: Vec::new(), odd: None };
    if !resolver.resolve(header)? {
        return Ok(None);
    }
    let Resolver { found, odd, .. } = resolver;
    let delimiters = assemble(&found, header)?;
    if let Some(bytes) = framing.header_bytes {
        check_fixed_header(dialect, &delimiters, &data[..bytes], header)?;
    }
    if let Some(fault) = odd {
        return Err(fault);
    }
    let declared = found.iter().filter_map(|found| Some((found.at?.checked_sub(header)?, found.byte?))).collect();
    Ok(Some(Start { delimiters, header, blanks, declared }))
}

/// Whether the bytes can be the front of an interchange.
pub(crate) fn may_start(framing: &Framing, window: &[u8]) -> bool {
    let service = framing.service.iter().map(|(tag, _)| tag);
    framing.start.iter().chain(service).any(|tag| {
        let len = tag.len().min(window.len());
        window[..len] == tag.as_bytes()[..len]
    })
}

/// Length of the service segment, place of the header, and blanks between the two.
fn find_header(framing: &Framing, window: &[u8], complete: bool) -> Result<Option<(usize, usize, u64)>, StartFault> {
    let (mut service, mut at, mut blanks) = (0, 0, 0);
    if let Some((tag, bytes)) = &framing.service {
        if window.len() < tag.len() && !complete && tag.as_bytes().starts_with(window) {
            return Ok(None);
        }
        if window.starts_with(tag.as_bytes()) {
            if window.len() < *bytes {
                let reason = format!("{tag} is {bytes} bytes long, and the input ends after {} of them", window.len());
                return if complete { Err(StartFault { code: "E421", at: 0, reason }) } else { Ok(None) };
            }
            service = *bytes;
            at = *bytes;
            while let Some(byte @ (b'\r' | b'\n' | b' ' | b'\t')) = window.get(at) {
                blanks += u64::from(matches!(byte, b' ' | b'\t'));
                at += 1;
            }
        }
    }
    let rest = &window[at..];
    if framing.start.iter().any(|tag| rest.starts_with(tag.as_bytes())) {
        return Ok(Some((service, at, blanks)));
    }
    let cut_off = framing.start.iter().any(|tag| tag.as_bytes().starts_with(rest));
    // What is found is shown, so as much as is shown is waited for.
    if !complete && (cut_off || rest.len() < SHOWN_BYTES) {
        return Ok(None);
    }
    let wanted = framing.start.iter().map(|tag| format!("`{tag}`")).collect::<Vec<_>>().join(" or ");
    if cut_off {
        let reason = format!("{wanted} was expected, and the input ends: the header is missing");
        return Err(StartFault { code: "E421", at, reason });
    }
    let found = preview_bytes(&rest[..rest.len().min(SHOWN_BYTES)]);
    Err(StartFault { code: "E422", at, reason: format!("{wanted} was expected, and `{found}` found") })
}

/// A role with its byte.
#[derive(Clone, Copy, Debug)]
struct Found {
    role: Role,
    byte: Option<u8>,
    /// Where it stands in the window.
    at: Option<usize>,
}

struct Resolver<'a> {
    framing: &'a Framing,
    service: &'a [u8],
    header: &'a [u8],
    complete: bool,
    found: Vec<Found>,
    /// An element that should be a separator and is longer; a header of wrong width is said first.
    odd: Option<StartFault>,
}

impl Resolver<'_> {
    /// Finds all roles; `false` when more bytes are needed.
    fn resolve(&mut self, header_at: usize) -> Result<bool, StartFault> {
        let framing = self.framing;
        for (role, sources) in &framing.delimiters {
            let mut result = Found { role: *role, byte: None, at: None };
            for source in sources {
                match self.applies(source) {
                    Some(true) => {}
                    Some(false) => continue,
                    None => return Ok(false),
                }
                let Some((byte, at)) = self.byte(source, header_at)? else {
                    match source.from {
                        SourcePlace::ServiceByte(_) => continue,
                        _ if !self.complete => return Ok(false),
                        SourcePlace::Byte(_) => {
                            let reason =
                                format!("the input ends in front of the {} that its header declares", name(*role));
                            return Err(StartFault { code: "E421", at: header_at, reason });
                        }
                        _ => continue,
                    }
                };
                result.at = at;
                // A byte of the named kind says that there is no such separator.
                result.byte = byte.filter(|byte| !source.unless.is_some_and(|unless| is_of(*byte, unless)));
                break;
            }
            self.found.push(result);
        }
        Ok(true)
    }

    /// Whether all conditions of a source hold; `None` when more bytes are needed.
    fn applies(&self, source: &Source) -> Option<bool> {
        for condition in &source.when {
            let element = self.condition_element(condition)?;
            if !holds(condition, element.as_deref(), self.role(Role::Component)) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The element that a condition looks at.
    #[expect(clippy::option_option, reason = "more bytes are needed, there is none, there is one")]
    fn condition_element(&self, condition: &Condition) -> Option<Option<String>> {
        if !self.header.starts_with(condition.header.as_bytes()) {
            return Some(None);
        }
        self.element(condition.element, condition.header.len())
    }

    fn role(&self, role: Role) -> Option<u8> {
        self.found.iter().find(|found| found.role == role).and_then(|found| found.byte)
    }

    /// An element of the header, split by what is known so far: the byte behind the tag separates elements.
    #[expect(clippy::option_option, reason = "more bytes are needed, there is none, there is one")]
    fn element(&self, number: u32, tag: usize) -> Option<Option<String>> {
        let Some(separator) = self.role(Role::Element).or_else(|| self.header.get(tag).copied()) else {
            return if self.complete { Some(None) } else { None };
        };
        let fixed = self.framing.header_bytes.map(|bytes| &self.header[..bytes - 1]);
        let terminator = self.role(Role::Terminator).filter(|_| fixed.is_none());
        let body = fixed.unwrap_or(self.header);
        let whole = terminator.and_then(|byte| memchr::memchr(byte, body)).map(|end| &body[..end]);
        let closed = fixed.is_some() || whole.is_some() || self.complete;
        let mut pieces = whole.unwrap_or(body).split(|byte| *byte == separator).peekable();
        let piece = pieces.nth(number as usize);
        match piece {
            // The last piece goes on behind the window.
            Some(_) if pieces.peek().is_none() && !closed => None,
            Some(piece) => Some(Some(String::from_utf8_lossy(piece).into_owned())),
            None if closed => Some(None),
            None => None,
        }
    }

    /// The byte that a source names with its place in the window; `None` when it is not there.
    #[expect(clippy::type_complexity, reason = "a byte that may be none, with a place that it may have")]
    fn byte(&mut self, source: &Source, header_at: usize) -> Result<Option<(Option<u8>, Option<usize>)>, StartFault> {
        Ok(match source.from {
            SourcePlace::Literal(byte) => Some((Some(byte), None)),
            SourcePlace::None => Some((None, None)),
            SourcePlace::Byte(at) => self.header.get(at).map(|byte| (Some(*byte), Some(header_at + at))),
            SourcePlace::ServiceByte(at) => self.service.get(at).map(|byte| (Some(*byte), Some(at))),
            SourcePlace::Element(number) => {
                let tag = self.framing.start.iter().find(|tag| self.header.starts_with(tag.as_bytes()));
                match self.element(number, tag.map_or(0, |tag| tag.len())) {
                    None => None,
                    Some(element) => match element.as_deref().unwrap_or_default().as_bytes() {
                        [byte] => Some((Some(*byte), None)),
                        _ => {
                            let reason = format!("element {number} of the header is a separator and not one byte long");
                            self.odd = Some(StartFault { code: "E422", at: header_at, reason });
                            Some((None, None))
                        }
                    },
                }
            }
        })
    }
}

fn is_of(byte: u8, kind: Unless) -> bool {
    match kind {
        Unless::Alnum => byte.is_ascii_alphanumeric(),
        Unless::Space => byte == b' ',
    }
}

/// Whether a condition holds of an element's text.
pub(crate) fn holds(condition: &Condition, element: Option<&str>, component_separator: Option<u8>) -> bool {
    let text = match (condition.component, component_separator) {
        (None, _) => element,
        (Some(1), None) => element,
        (Some(_), None) => None,
        (Some(number), Some(separator)) => {
            element.and_then(|element| element.split(char::from(separator)).nth((number as usize).saturating_sub(1)))
        }
    };
    let text = text.filter(|text| !text.is_empty());
    match &condition.test {
        Test::Empty => text.is_none(),
        Test::Equals(wanted) => text == Some(wanted),
        Test::AtLeast(wanted) => text.is_some_and(|text| text >= &**wanted),
        Test::Matches(pattern) => text.is_some_and(|text| pattern.is_match(text)),
    }
}

/// Checks the separators and puts them together.
fn assemble(found: &[Found], header_at: usize) -> Result<Delimiters, StartFault> {
    for Found { role, byte, at } in found {
        let Some(byte) = byte else { continue };
        if byte.is_ascii_alphanumeric() || *byte == b' ' || !byte.is_ascii() {
            let reason = format!("the {} would be {}; it may be no letter, digit or blank", name(*role), shown(*byte));
            return Err(StartFault { code: "E422", at: at.unwrap_or(header_at), reason });
        }
    }
    for (index, one) in found.iter().enumerate() {
        for other in &found[..index] {
            if one.byte.is_some() && one.byte == other.byte {
                let reason = format!(
                    "the {} and the {} are both {}; separators must be different",
                    name(other.role),
                    name(one.role),
                    shown(one.byte.unwrap_or_default())
                );
                let at = one.at.max(other.at).unwrap_or(header_at);
                return Err(StartFault { code: "E422", at, reason });
            }
        }
    }
    let of = |role| found.iter().find(|found| found.role == role).and_then(|found| found.byte);
    let needed = |role| {
        of(role).ok_or_else(|| StartFault {
            code: "E422",
            at: header_at,
            reason: format!("the header declares no {}", name(role)),
        })
    };
    let element = needed(Role::Element)?;
    Ok(Delimiters {
        element,
        tag: of(Role::Tag).unwrap_or(element),
        terminator: needed(Role::Terminator)?,
        component: of(Role::Component),
        subcomponent: of(Role::Subcomponent),
        repetition: of(Role::Repetition),
        release: of(Role::Release),
        key: found.iter().map(|found| found.byte.unwrap_or(0)).collect(),
    })
}

/// A header of fixed length has the number of elements that its widths say (X12.5: ISA01 to ISA16).
fn check_fixed_header(
    dialect: &Dialect,
    delimiters: &Delimiters,
    header: &[u8],
    header_at: usize,
) -> Result<(), StartFault> {
    let body = &header[..header.len() - 1];
    if let Some(at) = body.iter().position(|byte| !byte.is_ascii()) {
        let reason = format!("the header is ASCII, and its byte {at} is {:02X}", body[at]);
        return Err(StartFault { code: "E422", at: header_at + at, reason });
    }
    if let Some(at) = memchr::memchr(delimiters.terminator, body) {
        let reason = format!(
            "the segment terminator {} stands at byte {at} of the header already: it has not its fixed width",
            shown(delimiters.terminator)
        );
        return Err(StartFault { code: "E422", at: header_at + at, reason });
    }
    let Some(wanted) = dialect.header_elements() else { return Ok(()) };
    let found = body.iter().filter(|byte| **byte == delimiters.element).count();
    // A separator that is an element of its own stands alone there: else the header is shorter or longer than it says.
    let last = body.rsplit(|byte| *byte == delimiters.element).next().unwrap_or_default();
    let alone = SourcePlace::Byte(body.len() - 1);
    let names_last = dialect.framing.delimiters.iter().any(|(_, from)| from.iter().any(|source| source.from == alone));
    if found == wanted && names_last && last.len() != 1 {
        let reason = format!(
            "element {wanted} of the header is a separator, and {} bytes long here: the header has not its fixed width",
            last.len()
        );
        return Err(StartFault { code: "E422", at: header_at + body.len() - last.len(), reason });
    }
    if found == wanted {
        return Ok(());
    }
    let reason = format!(
        "the first {} bytes hold {found} elements and the header has {wanted}: it has not its fixed width",
        body.len()
    );
    Err(StartFault { code: "E422", at: header_at, reason })
}

impl Dialect {
    /// How many elements a header of fixed length has, where that is known.
    pub(crate) fn header_elements(&self) -> Option<usize> {
        self.framing.header_bytes?;
        let rules = self.writer.as_ref()?;
        let file = self.levels.iter().position(|level| level.file)?;
        let header = rules.headers.iter().find(|header| usize::from(header.level) == file)?;
        header.count.or(Some(header.widths.len())).filter(|count| *count > 0)
    }
}

/// What users call a role.
pub(crate) fn name(role: Role) -> &'static str {
    match role {
        Role::Element => "element separator",
        Role::Terminator => "segment terminator",
        Role::Component => "component separator",
        Role::Subcomponent => "subcomponent separator",
        Role::Repetition => "repetition separator",
        Role::Release => "release character",
        Role::Tag => "tag separator",
    }
}

/// A byte for messages.
pub(crate) fn shown(byte: u8) -> String {
    match byte {
        b' ' => "a blank".to_owned(),
        0x21..=0x7E => format!("`{}`", char::from(byte)),
        _ => format!("byte {byte:02X}"),
    }
}
