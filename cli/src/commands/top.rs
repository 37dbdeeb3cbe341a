//! `satrap top`.

use crate::{context::Context, failure::Result};

pub fn execute(_: &Context) -> Result {
    Ok(())
}
