//! Failures of single rows.

use std::sync::Arc;

/// Why a row was dead-lettered. The set is closed; the words are what users see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// A required field is absent.
    MissingRequiredField,
    /// A value could not be converted, evaluated or encoded as required.
    TypeCoercionFailure,
    /// Present, required, not convertible.
    RequiredFieldConversionFailure,
    /// An emitted value is NaN.
    NanInOutputField,
    /// A declared validation check failed.
    ValidationFailure,
    /// One input exceeded its fan-out ceiling.
    ExpansionLimitExceeded,
    /// A structural source rule failed.
    StructuralValidation,
    /// A cell could not hold a joined multi-value without ambiguity.
    MultiValueJoinCollision,
}

impl Category {
    /// All categories. Their positions serve where a category is stored.
    pub const ALL: [Category; 8] = [
        Category::MissingRequiredField,
        Category::TypeCoercionFailure,
        Category::RequiredFieldConversionFailure,
        Category::NanInOutputField,
        Category::ValidationFailure,
        Category::ExpansionLimitExceeded,
        Category::StructuralValidation,
        Category::MultiValueJoinCollision,
    ];

    /// The word in the dead-letter file.
    pub fn word(self) -> &'static str {
        match self {
            Category::MissingRequiredField => "missing_required_field",
            Category::TypeCoercionFailure => "type_coercion_failure",
            Category::RequiredFieldConversionFailure => "required_field_conversion_failure",
            Category::NanInOutputField => "nan_in_output_field",
            Category::ValidationFailure => "validation_failure",
            Category::ExpansionLimitExceeded => "expansion_limit_exceeded",
            Category::StructuralValidation => "structural_validation",
            Category::MultiValueJoinCollision => "multi_value_join_collision",
        }
    }
}

/// One row's failure at one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Row of the batch the failing node received.
    pub row: u32,
    /// Its category.
    pub category: Category,
    /// The field it names, if any.
    pub field: Option<Arc<str>>,
    /// The value it reports, if it carries one.
    pub value: Option<String>,
    /// Human-readable text.
    pub detail: String,
}
