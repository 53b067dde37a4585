//! Templates of Sink paths.

use clinker_record::datetime;

use crate::paths;

/// A parsed Sink path: literal text and tokens in braces.
#[derive(Clone, Debug, PartialEq)]
pub struct PathTemplate {
    text: String,
    parts: Vec<Part>,
    allow_absolute: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Literal(String),
    Token { token: Token, prefix: String, suffix: String },
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    SourceName(Option<String>),
    /// A source name whose value is known.
    Fixed(String),
    Channel,
    PipelineHash(usize),
    Timestamp,
    ExecutionId,
    BatchId,
    Counter,
    SourceFile(Option<String>),
    SourcePath(Option<String>),
}

/// What tokens stand for in one run (and, for an output per source file, in one file).
#[derive(Clone, Copy, Debug)]
pub struct RenderContext<'a> {
    /// The tenant, if one is selected.
    pub channel: Option<&'a str>,
    /// The pipeline hash.
    pub pipeline_hash: &'a [u8; 32],
    /// Start of the run, in nanoseconds since 1970-01-01T00:00:00 UTC.
    pub start_time: i128,
    /// Identity of the execution.
    pub execution_id: &'a str,
    /// Identity of the logical batch.
    pub batch_id: &'a str,
    /// The collision counter; none for the first candidate.
    pub n: Option<u64>,
    /// Zero padding of the collision counter.
    pub width: usize,
    /// Path of the input file, for an output per source file; none for records without a single file.
    pub source_path: Option<&'a str>,
}

/// A Source above a Sink: its name, and the stem of its input path if it reads one.
pub(crate) type SourceAbove = (String, Option<String>);

/// What `{source_file}` and `{source_path}` give for records without a single file.
const MERGED: &str = "<merged>";

impl PathTemplate {
    /// Parses a template. `allow_absolute` is whether a rendered path may be absolute.
    ///
    /// # Errors
    /// What is wrong with it, in one sentence.
    pub fn parse(text: &str, allow_absolute: bool) -> Result<PathTemplate, String> {
        let mut parts = Vec::new();
        let (mut literal, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                literal.push_str(&rest[..1]);
                rest = &rest[2..];
            } else if rest.starts_with('}') {
                return Err("a stray `}`: write `}}` for a literal brace".to_string());
            } else {
                let close = rest.find('}').ok_or("an unterminated `{`: write `{{` for a literal brace")?;
                if !literal.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                }
                parts.push(token(&rest[1..close])?);
                rest = &rest[close + 1..];
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(PathTemplate { text: text.to_string(), parts, allow_absolute })
    }

    /// The template as authored.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether each source file has an output of its own.
    pub fn per_source_file(&self) -> bool {
        self.tokens().any(|token| matches!(token, Token::SourceFile(_) | Token::SourcePath(_)))
    }

    /// Whether `{n}` places the collision counter.
    pub fn has_counter(&self) -> bool {
        self.tokens().any(|token| matches!(token, Token::Counter))
    }

    fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.parts.iter().filter_map(|part| match part {
            Part::Token { token, .. } => Some(token),
            Part::Literal(_) => None,
        })
    }

    /// Gives `{source_name}` its value: `sources` are the Sources above the Sink.
    pub(crate) fn bind_sources(&mut self, sources: &[SourceAbove]) -> Result<(), String> {
        for part in &mut self.parts {
            let Part::Token { token, .. } = part else { continue };
            let (Token::SourceName(node) | Token::SourceFile(node) | Token::SourcePath(node)) = token else { continue };
            let found = match node {
                Some(node) => Some(
                    sources
                        .iter()
                        .find(|(name, _)| name == node)
                        .ok_or_else(|| format!("`{node}` is no Source above this Sink"))?,
                ),
                None => sources.first(),
            };
            if let Token::SourceName(node) = token {
                if node.is_none() && sources.len() != 1 {
                    return Err("`{source_name}` needs exactly one Source above the Sink; write `{source_name:NODE}`"
                        .to_string());
                }
                let (source, stem) = found.ok_or("`{source_name}` has no Source above it")?;
                let stem = stem.clone().ok_or_else(|| {
                    format!("`{{source_name}}` needs one input path, and `{source}` may read several; write a name")
                })?;
                *token = Token::Fixed(stem);
            }
        }
        Ok(())
    }

    /// The path as far as it is known before a run: tokens that a run gives stand as themselves.
    pub(crate) fn planned(&self, pipeline_hash: &[u8; 32]) -> String {
        let context = RenderContext {
            channel: None,
            pipeline_hash,
            start_time: 0,
            execution_id: "{execution_id}",
            batch_id: "{batch_id}",
            n: None,
            width: 0,
            source_path: None,
        };
        let mut path = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => path.push_str(text),
                Part::Token { token, prefix, suffix } => {
                    let value = match token {
                        Token::Timestamp => "{timestamp}".to_string(),
                        Token::SourceFile(_) => "{source_file}".to_string(),
                        Token::SourcePath(_) => "{source_path}".to_string(),
                        token => value(token, &context),
                    };
                    if !value.is_empty() {
                        path.extend([prefix.as_str(), value.as_str(), suffix.as_str()]);
                    }
                }
            }
        }
        path
    }

    /// The path in one run.
    ///
    /// # Errors
    /// The rendered path is not allowed.
    pub fn render(&self, context: &RenderContext<'_>) -> Result<String, String> {
        let mut path = String::with_capacity(self.text.len() + 32);
        for part in &self.parts {
            match part {
                Part::Literal(text) => path.push_str(text),
                Part::Token { token, prefix, suffix } => {
                    let value = value(token, context);
                    if !value.is_empty() {
                        path.push_str(prefix);
                        path.push_str(&value);
                        path.push_str(suffix);
                    }
                }
            }
        }
        paths::check_text(&path, self.allow_absolute)?;
        Ok(path)
    }
}

fn value(token: &Token, context: &RenderContext<'_>) -> String {
    match token {
        Token::Fixed(value) => value.clone(),
        Token::SourceName(_) => String::new(),
        Token::Channel => context.channel.unwrap_or_default().to_string(),
        Token::PipelineHash(digits) => {
            let mut hex: String = context.pipeline_hash.iter().map(|byte| format!("{byte:02x}")).collect();
            hex.truncate(*digits);
            hex
        }
        Token::Timestamp => timestamp(context.start_time),
        Token::ExecutionId => context.execution_id.to_string(),
        Token::BatchId => context.batch_id.to_string(),
        Token::Counter => context.n.map(|n| format!("{n:0width$}", width = context.width)).unwrap_or_default(),
        Token::SourceFile(_) => context.source_path.map_or(MERGED.to_string(), |path| paths::stem(path).to_string()),
        Token::SourcePath(_) => context.source_path.unwrap_or(MERGED).to_string(),
    }
}

/// ISO 8601 in basic form, which no file system refuses: `20310203T040506Z`.
fn timestamp(nanos: i128) -> String {
    let mut text = String::new();
    if let Ok(format) = datetime::DateFormat::compile("%Y%m%dT%H%M%SZ") {
        format.format(nanos, &mut text);
    }
    text
}

/// The token between two braces.
fn token(inner: &str) -> Result<Part, String> {
    let mut fields = inner.split(':');
    let name = fields.next().unwrap_or_default();
    let fields: Vec<&str> = fields.collect();
    let (argument, prefix, suffix) = match fields[..] {
        [] => (None, "", ""),
        [argument] => (Some(argument), "", ""),
        [prefix, suffix] => (None, prefix, suffix),
        [argument, prefix, suffix] => (Some(argument), prefix, suffix),
        _ => return Err(format!("`{{{inner}}}` has more than three colons")),
    };
    let node = || match argument {
        Some("") => Err(format!("`{{{inner}}}` has an empty argument")),
        argument => Ok(argument.map(str::to_string)),
    };
    let token = match name {
        "source_name" => Token::SourceName(node()?),
        "source_file" => Token::SourceFile(node()?),
        "source_path" => Token::SourcePath(node()?),
        "pipeline_hash" => Token::PipelineHash(digits(argument)?),
        "channel" | "timestamp" | "execution_id" | "batch_id" | "n" if argument.is_some() => {
            return Err(format!("`{{{name}}}` takes no argument; write `{{{name}:prefix:suffix}}`"));
        }
        "channel" => Token::Channel,
        "timestamp" => Token::Timestamp,
        "execution_id" => Token::ExecutionId,
        "batch_id" => Token::BatchId,
        "n" => Token::Counter,
        _ => return Err(unknown(name)),
    };
    Ok(Part::Token { token, prefix: prefix.to_string(), suffix: suffix.to_string() })
}

fn digits(argument: Option<&str>) -> Result<usize, String> {
    match argument {
        None => Ok(8),
        Some("full") => Ok(64),
        Some(text) => text
            .parse()
            .ok()
            .filter(|digits| (1..=64).contains(digits))
            .ok_or_else(|| format!("`{{pipeline_hash:{text}}}` needs 1 to 64 digits, or `full`")),
    }
}

fn unknown(name: &str) -> String {
    const TOKENS: [&str; 9] = [
        "source_name",
        "channel",
        "pipeline_hash",
        "timestamp",
        "execution_id",
        "batch_id",
        "n",
        "source_file",
        "source_path",
    ];
    match clinker_diagnostics::suggestion(name, TOKENS) {
        Some(suggestion) => format!("unknown token `{{{name}}}`; {suggestion}"),
        None => format!("unknown token `{{{name}}}`; the tokens are {}", TOKENS.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: RenderContext<'static> = RenderContext {
        channel: None,
        pipeline_hash: &[0xab; 32],
        start_time: 1_927_857_906_000_000_000,
        execution_id: "exec",
        batch_id: "batch",
        n: None,
        width: 0,
        source_path: None,
    };

    fn render(template: &str, context: RenderContext<'_>) -> Result<String, String> {
        let mut template = PathTemplate::parse(template, false)?;
        template.bind_sources(&[("orders".to_string(), Some("may".to_string()))])?;
        template.render(&context)
    }

    #[test]
    fn pipeline_8_4_tokens_render() {
        let acme = RenderContext { channel: Some("acme"), ..CONTEXT };
        assert_eq!(render("out/{channel::-}sales.csv", CONTEXT).as_deref(), Ok("out/sales.csv"));
        assert_eq!(render("out/{channel::-}sales.csv", acme).as_deref(), Ok("out/acme-sales.csv"));
        assert_eq!(render("{source_name}.csv", CONTEXT).as_deref(), Ok("may.csv"));
        assert_eq!(render("{source_name:orders:<:>}", CONTEXT).as_deref(), Ok("<may>"));
        assert_eq!(render("{pipeline_hash}", CONTEXT).as_deref(), Ok("abababab"));
        assert_eq!(render("{pipeline_hash:3}", CONTEXT).as_deref(), Ok("aba"));
        assert_eq!(render("{pipeline_hash:full}", CONTEXT).map(|path| path.len()), Ok(64));
        assert_eq!(
            render("{timestamp}_{execution_id}_{batch_id}", CONTEXT).as_deref(),
            Ok("20310203T040506Z_exec_batch")
        );
        assert_eq!(render("{{a}}", CONTEXT).as_deref(), Ok("{a}"));
        let counted = RenderContext { n: Some(7), width: 3, ..CONTEXT };
        assert_eq!(render("out{n:-:}.csv", counted).as_deref(), Ok("out-007.csv"));
        assert_eq!(render("out{n:-:}.csv", CONTEXT).as_deref(), Ok("out.csv"));
        let file = RenderContext { source_path: Some("in/a.b.csv"), ..CONTEXT };
        assert_eq!(render("o/{source_file}.csv", file).as_deref(), Ok("o/a.b.csv"));
        assert_eq!(render("o/{source_path}", file).as_deref(), Ok("o/in/a.b.csv"));
        assert_eq!(render("o/{source_file}.csv", CONTEXT).as_deref(), Ok("o/<merged>.csv"));
    }

    #[test]
    fn pipeline_8_4_inserted_values_are_opaque_but_checked() {
        let odd = RenderContext { channel: Some("{n}"), ..CONTEXT };
        assert_eq!(render("{channel}", odd).as_deref(), Ok("{n}"));
        let escaping = RenderContext { channel: Some(".."), ..CONTEXT };
        assert!(render("{channel}/x", escaping).is_err());
        let absolute = RenderContext { source_path: Some("/data/x.csv"), ..CONTEXT };
        assert!(render("{source_path}", absolute).is_err());
    }

    #[test]
    fn pipeline_8_4_malformed_templates_are_refused() {
        for (template, message) in [
            ("{a:b:c:d:e}", "more than three colons"),
            ("{chanel}", "did you mean `channel`?"),
            ("{nothing_like_it}", "the tokens are"),
            ("{channel:x}", "takes no argument"),
            ("{n:4}", "takes no argument"),
            ("out{", "unterminated"),
            ("out}", "stray"),
            ("{pipeline_hash:65}", "1 to 64"),
            ("{pipeline_hash:0}", "1 to 64"),
            ("{source_name:}", "empty argument"),
            ("{source_name:nope}", "no Source above"),
        ] {
            let error = render(template, CONTEXT).expect_err(template);
            assert!(error.contains(message), "{template}: {error}");
        }
        let mut template = PathTemplate::parse("{source_name}", false).expect("it parses");
        assert!(template.bind_sources(&[]).is_err());
    }
}
