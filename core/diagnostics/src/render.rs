//! Drawing of reports.
