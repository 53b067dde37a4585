mod reading;
mod support;
