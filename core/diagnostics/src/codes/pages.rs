//! Detail pages, compiled into the program.

/// Builds the lookup from the codes that have a page under `docs/codes`.
macro_rules! pages {
    ($($code:literal),* $(,)?) => {
        /// The detail page of a code, when it has one.
        pub fn page(code: &str) -> Option<&'static str> {
            match code {
                $($code => Some(include_str!(concat!("../../../../docs/codes/", $code, ".md"))),)*
                _ => None,
            }
        }

        #[cfg(test)]
        pub(super) const PAGES: &[&str] = &[$($code),*];
    };
}

pages![
    "E-SEC-001",
    "E000",
    "E001",
    "E002",
    "E003",
    "E004",
    "E010",
    "E011",
    "E116",
    "E119",
    "E124",
    "E125",
    "E126",
    "E157",
    "E158",
    "E159",
    "E200",
    "E201",
    "E202",
    "E203",
    "E210",
    "E211",
    "E212",
    "E213",
    "E214",
    "E215",
    "E216",
    "E217",
    "E218",
    "E219",
    "E223",
    "E310",
    "E312",
    "E315",
    "E316",
    "E317",
    "E318",
    "E322",
    "E324",
    "E344",
    "E358",
    "E359",
    "E360",
    "E361",
    "E362",
    "E364",
    "E365",
    "E366",
    "E367",
    "E368",
    "E373",
    "E374",
    "E375",
    "E376",
    "E391",
    "E393",
    "E394",
    "E395",
    "E397",
    "E400",
    "E401",
    "E402",
    "E403",
    "E409",
    "E410",
    "E420",
    "E421",
    "E422",
    "E423",
    "E426",
    "E430",
    "E432",
    "E440",
    "E441",
    "E442",
    "E443",
    "W002",
    "W365",
    "W366",
];
