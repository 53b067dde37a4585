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

pages![];
