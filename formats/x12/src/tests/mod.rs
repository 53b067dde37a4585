mod columns;
mod description;
mod faults;
mod properties;
mod reading;
mod support;
mod writing;
