//! The C header is made from the boundary types: with `UPDATE=1` it is written, otherwise compared.

use std::fmt::Write as _;
use std::path::Path;

/// A struct of the boundary.
struct Struct {
    name: String,
    doc: Vec<String>,
    /// Documentation and declaration of each field.
    fields: Vec<(Vec<String>, String)>,
}

/// Names in C: `ArrowArray` has the name of the Arrow C data interface.
fn c_struct(name: &str) -> String {
    if name.starts_with("Arrow") {
        return format!("struct {name}");
    }
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    format!("struct clinker_{snake}")
}

fn base(name: &str) -> String {
    match name {
        "u8" => "uint8_t".to_owned(),
        "u32" => "uint32_t".to_owned(),
        "u64" => "uint64_t".to_owned(),
        "i64" => "int64_t".to_owned(),
        "usize" => "size_t".to_owned(),
        "c_void" => "void".to_owned(),
        "std::ffi::c_char" => "char".to_owned(),
        name => c_struct(name),
    }
}

/// A declaration of that type.
fn declaration(ty: &str, name: &str) -> String {
    let ty = ty.trim();
    if let Some(function) = ty.strip_prefix("Option<").and_then(|inner| inner.strip_suffix('>')) {
        let open = function.find('(').expect("a function");
        let close = function.rfind(')').expect("its arguments");
        let returned = function[close + 1..]
            .trim()
            .strip_prefix("->")
            .map_or("void".to_owned(), |ty| base(ty.trim().trim_end_matches(',')));
        let arguments = function[open + 1..close].split(',').map(str::trim).filter(|argument| !argument.is_empty());
        let argument = |argument: &str| {
            let (name, ty) = argument.split_once(':').expect("a named argument");
            declaration(ty, name.trim())
        };
        let arguments: Vec<String> = arguments.map(argument).collect();
        let arguments = if arguments.is_empty() { "void".to_owned() } else { arguments.join(", ") };
        return format!("{returned} (*{name})({arguments})");
    }
    match ty.split_once(' ') {
        Some(("*const", inner)) if !inner.starts_with('*') => format!("const {} *{name}", base(inner)),
        Some(("*mut", inner)) if inner.starts_with('*') => declaration(inner, &format!("*{name}")),
        Some(("*mut", inner)) => format!("{} *{name}", base(inner)),
        _ => format!("{} {name}", base(ty)),
    }
}

/// Documentation, name and value of a constant.
type Constant = (Vec<String>, String, String);

/// The constants and structs of the source.
fn read(source: &str) -> (Vec<Constant>, Vec<Struct>) {
    let (mut constants, mut structs): (Vec<_>, Vec<Struct>) = (Vec::new(), Vec::new());
    let (mut doc, mut field, mut inside, mut skip) = (Vec::new(), String::new(), false, false);
    for line in source.lines() {
        let text = line.trim();
        if let Some(said) = text.strip_prefix("///") {
            doc.push(said.trim().to_owned());
        } else if let Some(rest) = text.strip_prefix("pub const ") {
            let (name, rest) = rest.split_once(':').expect("a type");
            let value = rest.split_once('=').expect("a value").1.trim_end_matches(';').trim();
            constants.push((std::mem::take(&mut doc), name.to_owned(), value.to_owned()));
        } else if let Some(name) = text.strip_prefix("pub struct ").and_then(|rest| rest.strip_suffix(" {")) {
            structs.push(Struct { name: name.to_owned(), doc: std::mem::take(&mut doc), fields: Vec::new() });
            inside = true;
        } else if inside && line == "}" {
            inside = false;
        } else if inside && text.starts_with("#[cfg") {
            skip = true;
        } else if inside {
            field.push_str(text);
            field.push(' ');
            let depth = field.matches(['(', '<']).count() as isize
                - (field.matches([')', '>']).count() - field.matches("->").count()) as isize;
            if depth == 0 && text.ends_with(',') {
                let whole = std::mem::take(&mut field);
                let (name, ty) = whole.trim().trim_start_matches("pub ").split_once(':').expect("a field");
                let ty = ty.trim().trim_end_matches(',').replace("( ", "(").replace(", )", ")");
                let last = structs.last_mut().expect("a struct");
                let said = std::mem::take(&mut doc);
                if !std::mem::take(&mut skip) {
                    last.fields.push((said, declaration(&ty, name)));
                }
            }
        } else {
            doc.clear();
        }
    }
    (constants, structs)
}

fn comment(out: &mut String, indent: &str, doc: &[String]) {
    match doc {
        [] => {}
        [one] => writeln!(out, "{indent}/* {one} */").expect("text"),
        [first, rest @ ..] => {
            writeln!(out, "{indent}/* {first}").expect("text");
            for line in &rest[..rest.len() - 1] {
                writeln!(out, "{indent} * {line}").expect("text");
            }
            writeln!(out, "{indent} * {} */", rest[rest.len() - 1]).expect("text");
        }
    }
}

fn header() -> String {
    let (constants, structs) = read(include_str!("../src/types.rs"));
    let mut out = String::from(
        "/* The boundary between clinker and format plugins. Made from the boundary types: do not edit.\n *\n \
         * A plugin exports one constant, `const struct clinker_table clinker_plugin`. */\n\
         #ifndef CLINKER_PLUGIN_H\n#define CLINKER_PLUGIN_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
    );
    let (magic, major, minor) = (clinker_plugin_abi::MAGIC, clinker_plugin_abi::MAJOR, clinker_plugin_abi::MINOR);
    write!(
        out,
        "/* The first eight bytes of a table, and the interface that it is made for. */\n\
         #define CLINKER_MAGIC UINT64_C(0x{magic:016X})\n#define CLINKER_MAJOR {major}u\n#define CLINKER_MINOR {minor}u\n\n"
    )
    .expect("text");
    for (doc, name, value) in constants {
        comment(&mut out, "", &doc);
        writeln!(out, "#define CLINKER_{name} {value}u").expect("text");
    }
    out.push('\n');
    structs.iter().for_each(|own| writeln!(out, "{};", c_struct(&own.name)).expect("text"));
    let (arrow, own): (Vec<&Struct>, Vec<&Struct>) = structs.iter().partition(|own| own.name.starts_with("Arrow"));
    out.push_str("\n#ifndef ARROW_C_DATA_INTERFACE\n#define ARROW_C_DATA_INTERFACE\n");
    arrow.iter().for_each(|own| declare(&mut out, own));
    out.push_str("\n#endif\n");
    own.iter().for_each(|own| declare(&mut out, own));
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    out
}

fn declare(out: &mut String, own: &Struct) {
    out.push('\n');
    comment(out, "", &own.doc);
    writeln!(out, "{} {{", c_struct(&own.name)).expect("text");
    for (doc, field) in &own.fields {
        comment(out, "    ", doc);
        writeln!(out, "    {field};").expect("text");
    }
    out.push_str("};\n");
}

#[test]
fn formats_15_2_the_header_is_that_of_the_boundary_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/clinker_plugin.h");
    let made = header();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &made).expect("the header is written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "the header is out of date: run this test with UPDATE=1");
}
