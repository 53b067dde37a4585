//! Column names that nest (formats.md 1.11): which containers a record has, and in which order.

use std::collections::HashMap;
use std::sync::Arc;

use clinker_format::WriteFault;
use clinker_record::json::push_string;

/// Segments of a name.
const MAX_SEGMENTS: usize = 64;
const CODE: &str = "E448";

/// What is written of a record, in order.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// A container begins: its key, `:` and `{`.
    Open(Vec<u8>),
    /// A column: its position, its key and `:`.
    Leaf(usize, Vec<u8>),
    /// The innermost container ends.
    Close,
}

/// A container or a column.
struct Node {
    segment: String,
    children: Vec<usize>,
    /// The column that made it.
    by: usize,
    is_leaf: bool,
}

/// The steps that write records of these columns. Columns that share a prefix stand where the prefix first appears.
///
/// # Errors
/// E448: names that are no paths, or paths that exclude one another.
pub fn steps(names: &[Arc<str>]) -> Result<Vec<Step>, WriteFault> {
    let root = Node { segment: String::new(), children: Vec::new(), by: 0, is_leaf: false };
    let mut nodes = vec![root];
    let mut known: HashMap<(usize, String), usize> = HashMap::new();
    for (column, name) in names.iter().enumerate() {
        let segments = segments(name)?;
        let last = segments.len() - 1;
        let mut at = 0;
        for (level, segment) in segments.into_iter().enumerate() {
            let is_leaf = level == last;
            let found = known.get(&(at, segment.clone())).copied();
            at = match found {
                Some(node) => match (nodes[node].is_leaf, is_leaf) {
                    (false, false) => node,
                    (true, true) => return Err(same_path(&names[nodes[node].by], name)),
                    (true, false) => return Err(shadowed(&names[nodes[node].by], name, name)),
                    (false, true) => return Err(shadowed(name, &names[nodes[node].by], name)),
                },
                None => {
                    let node = nodes.len();
                    known.insert((at, segment.clone()), node);
                    nodes.push(Node { segment, children: Vec::new(), by: column, is_leaf });
                    nodes[at].children.push(node);
                    node
                }
            };
        }
    }
    let mut steps = Vec::with_capacity(names.len());
    append(&nodes, 0, &mut steps);
    Ok(steps)
}

/// Appends the steps inside a container; containers nest no deeper than names have segments.
fn append(nodes: &[Node], at: usize, steps: &mut Vec<Step>) {
    for child in &nodes[at].children {
        let node = &nodes[*child];
        let mut key = Vec::with_capacity(node.segment.len() + 4);
        push_string(&node.segment, &mut key);
        key.push(b':');
        if node.is_leaf {
            steps.push(Step::Leaf(node.by, key));
        } else {
            key.push(b'{');
            steps.push(Step::Open(key));
            append(nodes, *child, steps);
            steps.push(Step::Close);
        }
    }
}

/// The segments of a name.
fn segments(name: &Arc<str>) -> Result<Vec<String>, WriteFault> {
    let fault = |reason: String| WriteFault { code: CODE, column: Arc::clone(name), reason };
    let mut segments = vec![String::new()];
    let mut chars = name.chars();
    while let Some(char) = chars.next() {
        let literal = match char {
            '.' => {
                segments.push(String::new());
                continue;
            }
            '\\' => match chars.next() {
                Some(escaped @ ('.' | '[' | '\\')) => escaped,
                _ => {
                    return Err(fault(format!(
                        "the name has a backslash that escapes none of `.`, `[` and `\\`; a literal one is written \
                         twice: `{}`",
                        literal(name)
                    )));
                }
            },
            char => char,
        };
        segments.last_mut().expect("there is always a segment").push(literal);
    }
    if segments.len() > MAX_SEGMENTS {
        return Err(fault(format!(
            "the name has {} segments, and {MAX_SEGMENTS} are the most; as one key it is `{}`",
            segments.len(),
            literal(name)
        )));
    }
    Ok(segments)
}

/// The spelling under which a name is one key of exactly these characters.
fn literal(name: &str) -> String {
    let mut spelling = String::with_capacity(name.len() + 8);
    for char in name.chars() {
        if matches!(char, '.' | '[' | '\\') {
            spelling.push('\\');
        }
        spelling.push(char);
    }
    spelling
}

fn same_path(first: &Arc<str>, second: &Arc<str>) -> WriteFault {
    let reason = format!("columns `{first}` and `{second}` are written under the same path");
    WriteFault { code: CODE, column: Arc::clone(second), reason }
}

/// `value` stands where `container` needs a container; `column` is the later one of the two.
fn shadowed(value: &Arc<str>, container: &Arc<str>, column: &Arc<str>) -> WriteFault {
    let reason = format!(
        "column `{value}` holds a value where column `{container}` needs a container; written as `{}`, that name is one \
         key",
        literal(container)
    );
    WriteFault { code: CODE, column: Arc::clone(column), reason }
}
