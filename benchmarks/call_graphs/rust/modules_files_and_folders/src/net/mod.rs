pub mod http;

use crate::util;

pub fn connect(host: &str) -> String {
    util::trim(host)
}
