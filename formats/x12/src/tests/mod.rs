mod reading;
mod support;
mod writing;
