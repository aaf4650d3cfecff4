mod codec;
pub mod prelude;

pub use codec::json::{decode, Encoder as JsonEncoder};
pub use codec::*;
