//! A small part of the expression language, evaluated one row at a time.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    /// An array of objects, in an input only.
    Objects(Vec<Vec<(String, Cell)>>),
    /// An object, in an input only.
    Object(Vec<(String, Cell)>),
}

impl Cell {
    /// As a flat file holds it.
    pub fn text(&self) -> String {
        match self {
            Cell::Null => String::new(),
            Cell::Bool(value) => value.to_string(),
            Cell::Int(value) => value.to_string(),
            Cell::Text(value) => value.clone(),
            Cell::Objects(_) | Cell::Object(_) => self.json(),
        }
    }

    /// As JSON.
    pub fn json(&self) -> String {
        match self {
            Cell::Null => "null".to_owned(),
            Cell::Text(value) => json_string(value),
            Cell::Object(fields) => object(fields),
            Cell::Objects(objects) => {
                format!("[{}]", objects.iter().map(|fields| object(fields)).collect::<Vec<_>>().join(","))
            }
            other => other.text(),
        }
    }
}

/// A JSON object.
pub fn object(fields: &[(String, Cell)]) -> String {
    let members: Vec<String> =
        fields.iter().map(|(name, cell)| format!("{}:{}", json_string(name), cell.json())).collect();
    format!("{{{}}}", members.join(","))
}

pub fn json_string(value: &str) -> String {
    let mut json = String::from('"');
    for letter in value.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Int,
    Text,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::Text => "string",
        }
    }
}

/// An expression. The right side of a binary operator is a leaf, so that it never fails.
#[derive(Clone, Debug)]
pub enum Expr {
    Name(String),
    Literal(Cell),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    IsNull(Box<Expr>),
    Coalesce(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Method(&'static str, Box<Expr>),
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Division by zero or overflow: what `??` takes for null.
    pub arithmetic: bool,
    /// The text that could not be converted.
    pub value: String,
}

const ARITHMETIC: Failed = Failed { arithmetic: true, value: String::new() };

/// Names and their values, the last one of a name counts.
pub type Scope = Vec<(String, Cell)>;

pub fn lookup(scope: &Scope, name: &str) -> Cell {
    scope.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone()).expect("a visible name")
}

impl Expr {
    /// As it is written.
    pub fn source(&self) -> String {
        match self {
            Expr::Name(name) => name.clone(),
            Expr::Literal(Cell::Int(value)) if *value < 0 => format!("({value})"),
            Expr::Literal(Cell::Text(value)) => format!("\"{value}\""),
            Expr::Literal(value) => {
                if *value == Cell::Null {
                    "null".to_owned()
                } else {
                    value.text()
                }
            }
            Expr::Binary(operator, left, right) => format!("({} {operator} {})", left.source(), right.source()),
            Expr::IsNull(operand) => format!("{}.is_null()", operand.source()),
            Expr::Coalesce(first, second) => format!("({} ?? {})", first.source(), second.source()),
            Expr::If(condition, yes, no) => {
                format!("(if {} then {} else {})", condition.source(), yes.source(), no.source())
            }
            Expr::Method(name, receiver) => format!("{}.{name}()", receiver.source()),
        }
    }

    pub fn eval(&self, scope: &Scope) -> Result<Cell, Failed> {
        match self {
            Expr::Name(name) => Ok(lookup(scope, name)),
            Expr::Literal(value) => Ok(value.clone()),
            Expr::Binary(operator, left, right) => binary(operator, left.eval(scope)?, right.eval(scope)?),
            Expr::IsNull(operand) => Ok(Cell::Bool(operand.eval(scope)? == Cell::Null)),
            Expr::Coalesce(first, second) => match first.eval(scope) {
                Ok(Cell::Null) | Err(Failed { arithmetic: true, .. }) => second.eval(scope),
                other => other,
            },
            Expr::If(condition, yes, no) => match condition.eval(scope)? {
                Cell::Bool(true) => yes.eval(scope),
                _ => no.eval(scope),
            },
            Expr::Method(name, receiver) => match (*name, receiver.eval(scope)?) {
                (_, Cell::Null) => Ok(Cell::Null),
                ("upper", Cell::Text(text)) => Ok(Cell::Text(text.to_uppercase())),
                ("length", Cell::Text(text)) => Ok(Cell::Int(text.chars().count() as i64)),
                ("to_int", Cell::Text(text)) => {
                    integer(&text).map(Cell::Int).ok_or(Failed { arithmetic: false, value: text })
                }
                (name, receiver) => panic!("{receiver:?}.{name}() is not generated"),
            },
        }
    }
}

fn binary(operator: &str, left: Cell, right: Cell) -> Result<Cell, Failed> {
    let logic = |cell: &Cell| match cell {
        Cell::Bool(value) => Some(*value),
        Cell::Null => None,
        other => panic!("{other:?} is no truth value"),
    };
    if matches!(operator, "and" | "or") {
        // The value that decides alone.
        let deciding = operator == "or";
        let (left, right) = (logic(&left), logic(&right));
        return Ok(if left == Some(deciding) || right == Some(deciding) {
            Cell::Bool(deciding)
        } else if left.is_none() || right.is_none() {
            Cell::Null
        } else {
            Cell::Bool(!deciding)
        });
    }
    let order = match (&left, &right) {
        (Cell::Null, _) | (_, Cell::Null) => return Ok(Cell::Null),
        (Cell::Int(left), Cell::Int(right)) => left.cmp(right),
        (Cell::Text(left), Cell::Text(right)) => left.as_bytes().cmp(right.as_bytes()),
        (Cell::Bool(left), Cell::Bool(right)) => left.cmp(right),
        other => panic!("{other:?} is not generated"),
    };
    let compared = match operator {
        "==" => Some(order.is_eq()),
        "!=" => Some(order.is_ne()),
        "<" => Some(order.is_lt()),
        "<=" => Some(order.is_le()),
        ">" => Some(order.is_gt()),
        ">=" => Some(order.is_ge()),
        _ => None,
    };
    if let Some(compared) = compared {
        return Ok(Cell::Bool(compared));
    }
    match (left, right) {
        (Cell::Text(left), Cell::Text(right)) => Ok(Cell::Text(left + &right)),
        (Cell::Int(left), Cell::Int(right)) => {
            let value = match operator {
                "+" => i128::from(left) + i128::from(right),
                "-" => i128::from(left) - i128::from(right),
                "*" => i128::from(left) * i128::from(right),
                _ if right == 0 => return Err(ARITHMETIC),
                "/" => i128::from(left) / i128::from(right),
                _ => i128::from(left) % i128::from(right),
            };
            i64::try_from(value).map(Cell::Int).map_err(|_| ARITHMETIC)
        }
        other => panic!("{other:?} is not generated"),
    }
}

/// An optional sign and digits within 64 bits.
pub fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits_only = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits_only.then(|| text.parse().ok()).flatten()
}
