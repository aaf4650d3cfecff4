pub use crate::codec::quote as wrap;
pub use crate::JsonEncoder;
